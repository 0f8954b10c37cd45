"""Other projects' own tests, run against this package."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif(importlib.util.find_spec("numpy._core.tests") is None, reason="NumPy came without its tests")
def test_numpys_tests_of_take() -> None:
    script = Path(__file__).with_name("foreign_numpy.py")
    result = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout[-8000:] + result.stderr[-2000:]
    passed = re.search(r"(\d+) passed", result.stdout)
    assert passed is not None and int(passed[1]) >= 20
