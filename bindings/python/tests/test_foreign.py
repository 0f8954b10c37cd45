"""Runs tests and samples of other projects with this package. README.md has their numbers."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import BINDING

#: The scripts. Each has the package that it needs, and the name of the library in its rows.
SCRIPTS = {
    "foreign_numpy": ("numpy._core.tests", "NumPy"),
    "foreign_torch": ("expecttest", "torch"),
    "foreign_jax": ("jax", "JAX"),
}


def has(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ImportError:
        return False


@pytest.mark.parametrize("script", SCRIPTS)
def test_counts(script: str) -> None:
    """The script fails if a result differs. README.md has the number of the results."""
    module, library = SCRIPTS[script]
    if not has(module):
        pytest.skip(f"{module} is not installed")
    command = [sys.executable, str(Path(__file__).with_name(f"{script}.py"))]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout[-8000:] + result.stderr[-2000:]
    rows = [line for line in result.stdout.splitlines() if line.startswith(f"| {library} ")]
    text = (BINDING / "README.md").read_text(encoding="utf-8")
    assert rows
    for row in rows:
        answered = re.search(r"\| (\d+) ", row)
        assert answered is not None and int(answered[1]) >= 20
        release = row.partition(":")[0]
        assert release not in text or row in text.splitlines(), f"README.md has not: {row}"
