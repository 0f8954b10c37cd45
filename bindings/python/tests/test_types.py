"""The annotations are correct at run time and for type checkers."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import pkgutil
import re
import subprocess
import sys
import typing
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import libgather
from conftest import BINDING

#: The public modules, with the package that each one needs.
MODULES = {
    info.name: name if (name := info.name.split(".")[1]) in ("dask", "jax", "onnx", "ray", "torch") else "libgather"
    for info in pkgutil.walk_packages(libgather.__path__, "libgather.")
    if not any(part.startswith("_") for part in info.name.split("."))
}


def public(module: ModuleType) -> Iterator[object]:
    """Yields the public functions and classes of a module, and their methods."""
    named = getattr(module, "__all__", ())
    for name, thing in {**vars(module), **{name: getattr(module, name) for name in named}}.items():
        is_ours = (inspect.isroutine(thing) or inspect.isclass(thing)) and not name.startswith("_")
        if is_ours and (name in named or (thing.__module__ == module.__name__ and thing.__doc__)):
            yield thing
            yield from methods(thing)


def methods(thing: object) -> Iterator[object]:
    for attribute in vars(thing).values() if inspect.isclass(thing) else ():
        function = getattr(attribute, "fget", None) or getattr(attribute, "__func__", attribute)
        if inspect.isfunction(function):
            yield function


@pytest.mark.parametrize("name", ["libgather", *MODULES])
def test_type_hints_can_be_evaluated_at_run_time(name: str) -> None:
    needed = MODULES.get(name, "libgather")
    if importlib.util.find_spec(needed) is None:
        pytest.skip(f"{needed} is not installed")
    things = [*public(importlib.import_module(name))]
    assert things
    for thing in things:
        typing.get_type_hints(thing)


SWITCHES = [
    *((f"gather{kind}", "Switches") for kind in ("", "_nd", "_elements")),
    *((f"scatter{kind}", "ScatterSwitches") for kind in ("", "_nd", "_elements")),
    ("gather_bags", "BagSwitches"),
]


@pytest.mark.parametrize(("operation", "switches"), SWITCHES)
def test_overloads_have_all_switches(operation: str, switches: str) -> None:
    """Compares the keywords with a TypedDict, because stubtest does not compare them."""
    function = getattr(libgather, operation)
    keywords = {
        parameter.name
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind is parameter.KEYWORD_ONLY
    }
    assert keywords - {"out", "extents"} == {*getattr(libgather.types, switches).__annotations__}


def test_stubtest_finds_no_difference(tmp_path: Path) -> None:
    """stubtest imports each module and compares it with its annotations."""
    allowed = tmp_path / "allowed.txt"
    absent = [name for name in ("dask", "jax", "onnx", "ray", "torch") if importlib.util.find_spec(name) is None]
    absent += ["_operations.jax_programs"] if "jax" in absent else []
    allowed.write_text("".join(f"{re.escape(f'libgather.{name}')}(\\..*)?\n" for name in absent), encoding="utf-8")
    lists = [f"--allowlist={path}" for path in (BINDING / "tests/stubtest.txt", allowed)]
    command = [sys.executable, "-m", "mypy.stubtest", "libgather", "--concise", "--ignore-unused-allowlist", *lists]
    result = subprocess.run(
        [*command, "--mypy-config-file", str(BINDING / "pyproject.toml")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
