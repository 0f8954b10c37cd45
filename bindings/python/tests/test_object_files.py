"""The shared object for a version of torch, and its cache. This needs no torch."""

from __future__ import annotations

import os
import subprocess
import sys
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from shutil import copytree
from types import ModuleType
from typing import Any

import pytest

import libgather

#: Imports a copy of libgather.torch, but not its __init__.py, which needs torch.
LOADER = """
import sys, types
module = types.ModuleType("extension"); module.__path__ = [sys.argv.pop(1)]; sys.modules["extension"] = module
import extension.build
sys.exit(extension.build.main(sys.argv[1:]))
"""
#: A compiler that writes its output slowly: the words of its command line.
COMPILER = '#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\nprintf %s "$$" >"$2"; sleep 0.05; echo "$2" >>"$2"\n'


def package_of(folder: Path) -> Path:
    """Returns a copy of the folder of libgather.torch in a folder."""
    folder.mkdir(exist_ok=True)
    (folder / "libgather.so.0").touch()
    return copytree(Path(libgather.__file__).parent / "torch", folder / "torch", dirs_exist_ok=True)


def load(folder: Path) -> Any:
    """Returns the modules without libgather.torch, which needs torch, for a copy of its sources in a folder."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "extension"]:
        del sys.modules[name]
    package = ModuleType("extension")
    package.__path__ = [str(package_of(folder))]
    sys.modules[package.__name__] = package
    return import_module("extension._object_files")


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Returns the module of a copy of the package. The user's cache is the folder `cache`."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return load(tmp_path / "package")


def sealed(files: Any, version: str = "2.15.0") -> Path:
    """Returns a new file of the cache, as the command writes it."""
    path: Path = files.cache_folder() / files.file_name(version)
    path.parent.mkdir(0o755, parents=True, exist_ok=True)
    path.write_bytes(bytes(range(256)) * 40)
    import_module("extension._checked_files").seal(path)
    return path


def refusal(files: Any, path: Path) -> str:
    with pytest.raises(ImportError) as caught, files.opened(path):
        pass
    return str(caught.value)


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
def test_object_of_the_minor_version_is_found(version: str, expected: list[str], files: Any) -> None:
    for built in ("2.14.1", "2.15.0"):
        sealed(files, built)
    assert [path.name.split("-")[1] for path in files.found(version)] == expected


def test_object_of_other_sources_is_not_found(files: Any) -> None:
    path = sealed(files)
    assert files.found("2.15.0") == [path]
    (files.SOURCES / "module.cpp").write_text("// other", encoding="utf-8")
    assert not files.found("2.15.0")


def test_checked_file_ends_with_its_digest_and_is_loaded_from_its_folder(files: Any) -> None:
    path = sealed(files)
    content = path.read_bytes()
    assert sha256(content[:-32]).digest() == content[-32:] and path.stat().st_mode & 0o777 == 0o755
    with files.opened(path) as name:
        assert name.endswith(path.name) and os.path.samefile(name, path)
        path.parent.rename(path.parent.with_name("moved"))
        path.parent.mkdir()
        path.touch()
        assert Path(name).read_bytes() == content


@pytest.mark.parametrize("size", [0, 1, 31, 32, 33, 4096, 10240, 10271])
def test_truncated_file_is_refused(size: int, files: Any) -> None:
    path = sealed(files)
    os.truncate(path, size)
    assert refusal(files, path) == f"{path} is not complete, or has been changed"


@pytest.mark.parametrize("position", [0, 5000, 10239, 10240, 10271])
def test_changed_file_is_refused(position: int, files: Any) -> None:
    path = sealed(files)
    content = bytearray(path.read_bytes())
    content[position] ^= 4
    path.write_bytes(content)
    assert refusal(files, path) == f"{path} is not complete, or has been changed"


def test_longer_file_is_refused(files: Any) -> None:
    path = sealed(files)
    path.write_bytes(path.read_bytes() + b"\0")
    assert "is not complete" in refusal(files, path)


def test_link_is_refused(files: Any) -> None:
    path = sealed(files)
    path.symlink_to(path.rename(path.with_suffix(".other")))
    assert files.found("2.15.0") == [path]
    assert f"{path} cannot be opened, or is a link" in refusal(files, path)


def test_link_to_nothing_is_refused(files: Any) -> None:
    path = sealed(files)
    path.unlink()
    path.symlink_to(path)
    assert "is a link" in refusal(files, path)


def test_pipe_and_folder_are_refused(files: Any) -> None:
    path = sealed(files)
    path.unlink()
    os.mkfifo(path, 0o600)
    assert "is not complete" in refusal(files, path)
    path.unlink()
    path.mkdir(0o700)
    assert "is not complete" in refusal(files, path)


@pytest.mark.parametrize("mode", [0o775, 0o757, 0o777, 0o1777])
@pytest.mark.parametrize("is_folder", [False, True])
def test_what_others_may_write_is_refused(is_folder: bool, mode: int, files: Any) -> None:
    path = sealed(files)
    opened = path.parent if is_folder else path
    opened.chmod(mode)
    assert refusal(files, path) == f"other users may write {opened} (chmod go-w)"
    opened.chmod(mode & ~0o022)
    with files.opened(path):
        pass


@pytest.mark.parametrize("is_folder", [False, True])
def test_what_belongs_to_another_user_is_refused(is_folder: bool, files: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    path = sealed(files)
    owned = path.parent if is_folder else path
    if os.geteuid() == 0:
        os.chown(owned, 1234, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 1234)
        owned = path.parent
    assert refusal(files, path) == f"{owned} belongs to another user"


def test_folder_of_root_is_safe_for_other_users(files: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1234)
    with import_module("extension._checked_files").opened_folder(Path("/")):
        pass


def test_file_of_the_package_is_as_safe_as_the_package(files: Any) -> None:
    path = files.SOURCES.parent / files.file_name("2.15.0")
    path.write_text("an object whose symbols have been removed", encoding="utf-8")
    with files.opened(path) as name:
        assert name == str(path)


@pytest.mark.parametrize("given", ["", "relative", "./cache", "~/cache", None])
def test_relative_cache_is_that_of_the_home(
    given: str | None, files: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    if given is None:
        monkeypatch.delenv("XDG_CACHE_HOME")
    else:
        monkeypatch.setenv("XDG_CACHE_HOME", given)
    assert files.cache_folder() == tmp_path / "home/.cache/libgather"


def test_user_without_home_has_no_cache(files: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", "also/relative")
    assert files.cache_folder() is None and files.found("2.15.0") == []


class Build:
    """The command with a copy of the package, a torch of one file, and a compiler that is a script."""

    def __init__(self, folder: Path) -> None:
        self.package = package_of(folder / "package")
        torch = folder / "theirs" / "torch"
        torch.mkdir(parents=True)
        (torch / "__init__.py").touch()
        (torch / "version.py").write_text("__version__ = '2.15.0'", encoding="utf-8")
        compiler = folder / "compiler"
        compiler.write_text(COMPILER, encoding="utf-8")
        compiler.chmod(0o755)
        self.variables = {"PYTHONPATH": str(torch.parent), "CXX": str(compiler)}
        self.variables["XDG_CACHE_HOME"] = str(folder / "cache")

    def start(self, umask: int = -1, **variables: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", LOADER, self.package]
        both = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(command, env=self.variables | variables, text=True, umask=umask, **both)

    def failed(self, **variables: str) -> str:
        """Returns the one line that a command prints, which fails."""
        process = self.start(**variables)
        out, lines = process.communicate()
        assert process.returncode == 1 and not out and lines.count("\n") == 1, lines
        return lines.rstrip()


@pytest.fixture
def build(tmp_path: Path) -> Build:
    return Build(tmp_path)


@pytest.mark.parametrize("umask", [0, 0o002, 0o022, 0o077])
def test_built_object_is_accepted_with_any_umask(umask: int, files: Any, build: Build) -> None:
    assert build.start(umask).wait() == 0
    (path,) = files.found("2.15.0")
    with files.opened(path):
        assert not path.stat().st_mode & 0o022


def test_four_builds_at_once_leave_one_complete_object(files: Any, build: Build) -> None:
    running = [build.start() for _ in range(4)]
    while any(process.poll() is None for process in running):
        for path in files.found("2.15.0"):
            with files.opened(path) as name:
                assert sha256(Path(name).read_bytes()[:-32]).digest() == Path(name).read_bytes()[-32:]
    assert [process.wait() for process in running] == [0] * 4
    assert list(files.cache_folder().iterdir()) == files.found("2.15.0")


@pytest.mark.parametrize("given", ["", "no-such-compiler", "/nowhere/c++ -m64"])
def test_build_without_compiler_is_one_sentence(given: str, build: Build, tmp_path: Path) -> None:
    name = given.split()[0] if given else "c++"
    message = build.failed(CXX=given, PATH=str(tmp_path))
    assert message == f"there is no C++ compiler {name}: install one, or set CXX"


def test_build_in_a_folder_that_cannot_be_written_is_one_sentence(build: Build, tmp_path: Path) -> None:
    folder = Path("/proc")
    if os.geteuid() != 0:
        folder = tmp_path / "read-only"
        folder.mkdir(0o500)
    message = build.failed(XDG_CACHE_HOME=str(folder))
    assert message.startswith("the extension cannot be built: ") and str(folder) in message
    (tmp_path / "file").touch()
    message = build.failed(XDG_CACHE_HOME=str(tmp_path / "file"))
    assert message.startswith("the extension cannot be built: ") and str(tmp_path / "file") in message


def test_build_in_a_folder_that_others_may_write_is_refused(files: Any, build: Build) -> None:
    files.cache_folder().mkdir(parents=True)
    files.cache_folder().chmod(0o777)
    message = build.failed()
    assert message == f"the extension cannot be built: other users may write {files.cache_folder()} (chmod go-w)"
    assert not list(files.cache_folder().iterdir())


def test_build_of_a_user_without_home_is_one_sentence(build: Build) -> None:
    assert build.failed(XDG_CACHE_HOME="relative", HOME="relative") == "this user has no home: name a FOLDER"
