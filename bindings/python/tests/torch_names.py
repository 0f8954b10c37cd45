"""Runs each row of the table of names of docs/python/training.md against torch. test_torch.py runs this file."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from test_migration import cases_of, compare, migration

import libgather.torch as operators


@pytest.mark.parametrize(("row", "case"), cases_of(migration.OPERATORS))
def test_names(row: Any, case: str) -> None:
    functions = {name: getattr(operators, name) for name in operators.__all__}
    more = {"torch": torch, "F": torch.nn.functional, **functions}
    compare("training", row, case, lambda value: torch.from_numpy(value.copy()), **more)
