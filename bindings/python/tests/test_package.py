"""The installed package: without a compiler, without NumPy, and with a library of another ABI."""

from __future__ import annotations

import email
import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

import libgather
from conftest import run_alone

PACKAGE = Path(libgather.__file__).parent


def run(python: Path | str, code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(python), "-c", code], capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the Python of a new environment with the wheel, which was installed without a compiler on PATH."""
    wheel = os.environ.get("LIBGATHER_WHEEL")
    if not wheel:
        pytest.skip("LIBGATHER_WHEEL does not name the wheel")
    folder = tmp_path_factory.mktemp("alone")
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    command = [python, "-m", "pip", "install", "--quiet", "--only-binary", ":all:", wheel]
    subprocess.run(command, check=True, env={**os.environ, "PATH": str(folder / "bin")})
    return python


def test_without_a_compiler_and_without_numpy(alone: Path) -> None:
    code = """
import array, importlib.util, os, sys
assert importlib.util.find_spec("numpy") is None
import libgather
assert libgather.gather([[1, 2], [3, 4]], [1, 0]) == [[3, 4], [1, 2]]
assert libgather.gather([1.5, 2.5], 1) == 2.5
assert libgather.gather(["a", "b"], [[1], [0]]) == [["b"], ["a"]]
assert libgather.gather([b"a"], [0]) == [b"a"]
assert libgather.gather([True, False], [1]) == [False]
assert libgather.gather([2**63], [0]) == [2**63]
assert libgather.gather([1, 2], []) == [] and libgather.gather([[1, 2]], [[]]) == [[]]
assert libgather.gather(array.array("f", [1, 2]), array.array("i", [1])) == array.array("f", [2])
assert libgather.gather_nd(memoryview(b"abcd").cast("B", (2, 2)), [[1, 0]]).tolist() == [99]
assert libgather.gather([1.0], [3], bounds="fill", fill_value=7) == [7.0]
assert libgather.tf.gather(["a", "b"], [1]) == [b"b"] and libgather.tf.gather([1, 2], [1], axis=0) == [2]
assert libgather.onnx.Gather([1, 2], [-1]) == [2]
assert libgather.scatter([1, 2, 3], [2, 0], [9, 8]) == [8, 2, 9]
assert libgather.scatter([[1.0], [2.0]], [1], [[5]], reduction="add") == [[1.0], [7.0]]
assert libgather.scatter(["a", "b"], [0], ["longer"]) == ["longer", "b"] and libgather.scatter([], [], []) == []
assert libgather.onnx.ScatterND([True, False], [[0]], [False]) == [False, False]
counts = array.array("i", [0, 0, 0])
assert libgather.scatter(counts, [1, 1], [1, 2], reduction="add", inplace=True) is counts
libgather.put_along_axis(counts, [-1], 7, 0)
assert counts == array.array("i", [0, 3, 7])
for values in ([1.5], [2**31], ["a"], [[1], [1, 2]]):
    try:
        libgather.scatter(counts, [0] * len(values), values, inplace=True)
    except (libgather.DTypeError, libgather.ShapeError):
        continue
    raise AssertionError(values)
assert counts == array.array("i", [0, 3, 7])
plan = libgather.Plan([1, 2, 3], libgather.Spec("int64", (-1,)))
assert plan([1, 2, 3], [2, 2]) == [3, 3]
for bad in ([[1], [2, 3]], [[1], 2], [1j], [None], [1, "a"], [10**30], None, {}):
    try:
        libgather.gather(bad, [0])
    except (libgather.DTypeError, libgather.ShapeError):
        continue
    raise AssertionError(bad)
try:
    libgather.gather([1], [1])
except IndexError as error:
    assert error.limit == 1
assert "numpy" not in sys.modules
print(libgather.__version__)
"""
    result = run(alone, code, PATH="")
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == libgather.__version__


def test_lists_without_numpy() -> None:
    run_alone("lists_without_numpy.py")


def test_wheel_contains_library_and_modules() -> None:
    wheel = os.environ.get("LIBGATHER_WHEEL")
    if not wheel:
        pytest.skip("LIBGATHER_WHEEL does not name the wheel")
    assert "-abi3-" in Path(wheel).name
    names = zipfile.ZipFile(wheel).namelist()
    assert {
        "libgather/libgather.so.1",
        "libgather/_low.abi3.so",
        "libgather/_objects.abi3.so",
        "libgather/py.typed",
        # `python -m libgather.torch.build` compiles these.
        "libgather/torch/native/module.cpp",
        "libgather/torch/native/gather/gather.h",
        "libgather/torch/native/option_table.h",
        "libgather/torch/native/options_reader.h",
    } <= {*names}
    others = [name for name in names if not name.startswith("libgather/torch/native/")]
    assert not [name for name in others if name.endswith((".h", ".c", ".cpp", ".a"))]


def test_wheel_metadata() -> None:
    wheel = os.environ.get("LIBGATHER_WHEEL")
    if not wheel:
        pytest.skip("LIBGATHER_WHEEL does not name the wheel")
    archive = zipfile.ZipFile(wheel)
    (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
    metadata = email.message_from_bytes(archive.read(name))
    assert (metadata["Name"], metadata["Version"]) == ("libgather", libgather.__version__)
    assert metadata["Author"] and metadata["License-Expression"] == "Apache-2.0"
    assert metadata["Requires-Python"] == ">=3.11"
    assert any(name.endswith("/licenses/LICENSE") for name in archive.namelist())
    needed = metadata.get_all("Requires-Dist")
    needed.remove(f'libgather-cuda=={libgather.__version__}; extra == "cuda"')
    extras = {"cuda", "numpy", "pyarrow", "torch", "jax", "tensorflow", "onnx", "dask", "ray"}
    assert {*metadata.get_all("Provides-Extra")} == extras
    assert all(re.match(r"\w+>=\d[\d.]*($|;)", each.replace(" ", "")) for each in needed), needed


@pytest.mark.parametrize("file", sorted(PACKAGE.glob("*.so*")), ids=lambda file: file.name)
def test_shipped_module_exports_only_its_init(file: Path) -> None:
    """Another library with a function of the same name would replace a function that is visible."""
    if not shutil.which("nm"):
        pytest.skip("no nm")
    result = subprocess.run(["nm", "-D", "--defined-only", file], capture_output=True, text=True, check=True)
    names = [line.split()[2].partition("@")[0] for line in result.stdout.splitlines()]
    if file.name.startswith("libgather.so"):
        names.remove("LIBGATHER_1")
        assert names and not [name for name in names if not name.startswith("gth_")]
    else:
        assert names == [f"PyInit_{file.name.partition('.')[0]}"]


INTERPOSED = """
import ctypes, sys
ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL)
import libgather
assert libgather.gather(b"abc", [2, 0]) == b"ca"
"""


def test_function_of_another_library_with_the_same_name_is_not_called(tmp_path: Path) -> None:
    compiler = shutil.which("cc")
    if not compiler:
        pytest.skip("no C compiler")
    source, library = tmp_path / "other.c", tmp_path / "other.so"
    source.write_text("void *keep(void) { return 0; }\nvoid *view(void) { return 0; }\n", encoding="utf-8")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    result = subprocess.run([sys.executable, "-c", INTERPOSED, str(library)], capture_output=True, check=False)
    assert result.returncode == 0, result.stderr


def test_import_loads_few_modules() -> None:
    """The import only loads fast modules of the standard library, and the modules that each call needs."""
    code = "import sys; before = {*sys.modules}; import libgather; print(*({*sys.modules} - before))"
    loaded = {*run(sys.executable, code).stdout.split()}
    assert {name.partition(".")[0] for name in loaded} - sys.stdlib_module_names == {"libgather", "_cffi_backend"}
    assert not loaded & {"ctypes", "typing", "inspect", "dataclasses", "enum", "re", "contextlib", "logging", "numpy"}
    later = ("_base.signature_types", "_operations.jax_programs", "tf", "onnx", "torch", "jax", "dask", "ray")
    assert not [name for name in loaded if name.startswith(tuple(f"libgather.{each}" for each in later))]
    arrays = {name.removeprefix("libgather._arrays.") for name in loaded if name.startswith("libgather._arrays.")}
    assert arrays == {"element_bytes", "kinds", "nested_lists"}
    assert len(loaded) < 100, len(loaded)  # The import of asyncio loads more and takes three times as long.


def test_error_of_another_abi_has_both_numbers(tmp_path: Path) -> None:
    compiler = shutil.which("cc")
    if not compiler:
        pytest.skip("no C compiler")
    copy = tmp_path / "libgather"
    shutil.copytree(PACKAGE, copy)
    (library,) = copy.glob("libgather.so.*")
    source = tmp_path / "other.c"
    source.write_text("unsigned gth_abi_version(void) { return 77; }\n", encoding="utf-8")
    versions = tmp_path / "versions"
    versions.write_text("LIBGATHER_1 { global: gth_*; };\n", encoding="utf-8")
    link = [f"-Wl,-soname,{library.name}", f"-Wl,--version-script={versions}"]
    command = [compiler, "-shared", "-fPIC", *link, "-o", str(library), str(source)]
    subprocess.run(command, check=True)
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import libgather"
    result = run(sys.executable, code)
    assert result.returncode != 0
    assert "ImportError: libgather: the loaded library has ABI 77, this package needs ABI 1" in result.stderr
