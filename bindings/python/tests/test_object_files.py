"""The shared object for a version of torch. This needs no torch."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

import libgather


def load(package: Path) -> Any:
    """Returns the module without libgather.torch, which needs torch, for a copy of its sources in a folder."""
    spec = spec_from_file_location("object_files", Path(libgather.__file__).parent / "torch" / "_object_files.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    module.SOURCES = copytree(module.SOURCES, package / "native")
    return module


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("2.14.0", ["2.14"]),
        ("2.14.1+cu130", ["2.14"]),
        ("2.15.0.dev20260901", ["2.15"]),
        ("2.15rc1", ["2.15"]),
        ("2.15+cpu", ["2.15"]),
        ("2.1.4", []),
        ("2.16.0", []),
        ("3.14.0", []),
    ],
)
def test_object_of_the_minor_version_is_found(
    version: str, expected: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    files = load(tmp_path / "package")
    files.cache_folder().mkdir()
    for built in ("2.14.1", "2.15.0"):
        (files.cache_folder() / files.file_name(built)).touch()
    assert [path.name.split("-")[1] for path in files.found(version)] == expected


def test_object_of_other_sources_is_not_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    files = load(tmp_path / "package")
    files.cache_folder().mkdir()
    (files.cache_folder() / files.file_name("2.15.0")).touch()
    assert len(files.found("2.15.0")) == 1
    (files.SOURCES / "module.cpp").write_text("// other", encoding="utf-8")
    assert not files.found("2.15.0")
