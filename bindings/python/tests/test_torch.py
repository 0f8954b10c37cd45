"""libgather.torch in a new process, because parts of torch cannot be loaded together with TensorFlow."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import BINDING

needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")


@needs_torch
def test_operators() -> None:
    script = Path(__file__).with_name("torch_operators.py")
    command = [sys.executable, "-m", "pytest", "-c", str(BINDING / "pyproject.toml"), "-q", "-p", "no:cacheprovider"]
    result = subprocess.run([*command, str(script)], cwd=script.parent, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout[-8000:]


@needs_torch
@pytest.mark.parametrize("modules", [["libgather", "torch"], ["torch._dynamo", "libgather"]], ids=str)
def test_compiled_as_the_first_call(modules: list[str]) -> None:
    script = Path(__file__).with_name("torch_compiled.py")
    result = subprocess.run([sys.executable, str(script), *modules], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr[-8000:]


@needs_torch
def test_import_and_eager_calls_do_not_load_dynamo() -> None:
    """Dynamo takes seconds and 160 MiB."""
    code = (
        "import sys, torch, libgather.torch as ours; before = 'torch._dynamo' in sys.modules; "
        "ours.gather(torch.ones(2, requires_grad=True), torch.tensor([1])).sum().backward(); "
        "assert not before and 'torch._dynamo' not in sys.modules"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


@needs_torch
def test_docstrings() -> None:
    code = "import doctest, libgather.torch; raise SystemExit(doctest.testmod(libgather.torch).failed)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout
