"""libgather.torch in a new process, because parts of torch cannot be loaded together with TensorFlow."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from importlib import import_module, metadata
from pathlib import Path

import pytest
from test_documents import DOCS, run_page
from test_object_files import load
from torch_versions import FILES

from conftest import BINDING

needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the extension, and returns the folder of caches."""
    folder = tmp_path_factory.mktemp("cache")
    build = [sys.executable, "-m", "libgather.torch.build", str(folder / "libgather")]
    result = subprocess.run(build, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr[-8000:]
    return folder


def run_tests(script: str, cache: Path) -> None:
    """Runs a file of tests with the extension of a cache, or without it if there is none."""
    path = Path(__file__).with_name(script)
    command = [sys.executable, "-m", "pytest", "-c", str(BINDING / "pyproject.toml"), "-q", "-p", "no:cacheprovider"]
    environment = os.environ | {"XDG_CACHE_HOME": str(cache)}
    result = subprocess.run(
        [*command, str(path)], cwd=path.parent, env=environment, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout[-8000:]


def run_script(script: str, cache: Path) -> None:
    command = [sys.executable, str(Path(__file__).with_name(script))]
    environment = os.environ | {"XDG_CACHE_HOME": str(cache)}
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


@needs_torch
def test_operators_without_the_extension(tmp_path: Path) -> None:
    run_tests("torch_operators.py", tmp_path)


@needs_torch
@pytest.mark.parametrize("script", FILES)
def test_operators_of_the_extension(script: str, cache: Path) -> None:
    run_tests(script, cache)


def test_each_file_of_tests_runs() -> None:
    """The others are the scripts that tests of this file start, and that of the long run."""
    others = {file.name for file in Path(__file__).parent.glob("torch_*.py")} - set(FILES)
    assert others == {"torch_compiled.py", "torch_leaks.py", "torch_versions.py"}


@needs_torch
def test_import_of_the_extension_loads_few_modules(cache: Path) -> None:
    """The import is short because it loads no module but those of this package, and of these only what calls need."""
    code = (
        "import sys, torch, libgather; before = set(sys.modules); import libgather.torch; "
        "assert libgather.torch.is_compiled(); print(*sorted(set(sys.modules) - before))"
    )
    environment = os.environ | {"XDG_CACHE_HOME": str(cache)}
    loaded = subprocess.check_output([sys.executable, "-c", code], env=environment, text=True).split()
    assert {name.partition(".")[0] for name in loaded} <= {"libgather", "libgather_torch"}, loaded
    assert len(loaded) < 13, loaded


@needs_torch
def test_calls_without_the_extension_name_the_command(tmp_path: Path) -> None:
    code = (
        "import pytest, torch, libgather.torch as ours\n"
        "with pytest.warns(UserWarning, match='python -m libgather.torch.build'):\n"
        "    ours.gather(torch.ones(2), torch.tensor([1]))\n"
        "with pytest.raises(NotImplementedError, match='scatter needs the extension, but .* libgather.torch.build'):\n"
        "    ours.scatter(torch.ones(2), torch.tensor([1]), torch.ones(1))\n"
    )
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path)}
    result = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


@needs_torch
def test_object_that_cannot_be_loaded_leaves_the_pure_form(tmp_path: Path) -> None:
    """The object of a wheel may need a newer C++ library than the system has."""
    files = load(tmp_path / "package")
    object_file = tmp_path / "libgather" / files.file_name(metadata.version("torch"))
    object_file.parent.mkdir(0o755)
    object_file.write_text("no library", encoding="utf-8")
    import_module("extension._checked_files").seal(object_file)
    code = (
        "import pytest, torch, libgather.torch as ours\n"
        f"with pytest.warns(UserWarning, match={object_file.name!r}):\n"
        "    assert ours.gather(torch.ones(2), torch.tensor([1])).tolist() == [1]\n"
    )
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path)}
    result = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


@needs_torch
@pytest.mark.parametrize("size", [0, 64, 4096, 65536, 300_000, -1])
def test_truncated_object_leaves_the_pure_form(size: int, cache: Path, tmp_path: Path) -> None:
    """Access to the memory of a truncated file would end the process by SIGBUS."""
    (built,) = (cache / "libgather").glob("*.so")
    copy = tmp_path / "libgather" / built.name
    copy.parent.mkdir(0o755)
    copy.write_bytes(built.read_bytes()[:size])
    copy.chmod(0o755)
    code = (
        "import libgather.torch as ours; from libgather.torch._extension import REASON; "
        "assert not ours.is_compiled() and 'is not complete' in REASON"
    )
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path)}
    result = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


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
def test_docstrings(cache: Path) -> None:
    code = (
        "import doctest, libgather.torch; from libgather.torch import _functions, _torch_names; "
        "runs = [doctest.testmod(module) for module in (_functions, _torch_names)]; "
        "assert all(run.attempted for run in runs); raise SystemExit(sum(run.failed for run in runs))"
    )
    environment = os.environ | {"XDG_CACHE_HOME": str(cache)}
    result = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout


@needs_torch
def test_page_of_training(cache: Path) -> None:
    run_page(DOCS / "training.md", XDG_CACHE_HOME=str(cache))


@needs_torch
def test_memory_does_not_grow(cache: Path) -> None:
    run_script("torch_leaks.py", cache)
