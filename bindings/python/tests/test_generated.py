"""The low layer is equal to gather.h."""

from __future__ import annotations

import importlib.util
import pickle
import re
import subprocess
import sys
from pathlib import Path

import pytest

import libgather
from conftest import BINDING
from libgather import _constants, _dtypes
from libgather._low import ffi, lib


def test_generated_files_are_up_to_date() -> None:
    generate = BINDING / "generate.py"
    assert subprocess.run([sys.executable, generate, "--check"], check=False).returncode == 0


def test_changed_header_changes_the_generated_files(tmp_path: Path) -> None:
    module = importlib.util.spec_from_file_location("generate", BINDING / "generate.py")
    assert module and module.loader
    generate = importlib.util.module_from_spec(module)
    module.loader.exec_module(generate)
    header = generate.HEADER.read_text(encoding="utf-8")
    changed = header.replace("GTH_API int32_t gth_shutdown(void);", "GTH_API int32_t gth_shutdown(int32_t how);")
    assert generate.cdef(changed) != generate.cdef(header)
    assert "FRESH = -7" in generate.constants(header + "\n#define GTH_FRESH -7 /* new */\n")


def test_every_function_and_constant_is_there() -> None:
    header = (BINDING / "core" / "include" / "gather" / "gather.h").read_text(encoding="utf-8")
    functions = set(re.findall(r"^GTH_API [^;(]*?\b(gth_\w+)\(", header, re.MULTILINE))
    assert len(functions) > 30 and functions <= set(dir(lib))
    for name in re.findall(r"^#define GTH_(\w+) -?\d+", header, re.MULTILINE):
        assert getattr(_constants, name) == getattr(lib, f"GTH_{name}")


def test_dtypes_have_the_librarys_names_and_sizes() -> None:
    for number, name in _dtypes.NAMES.items():
        assert ffi.string(lib.gth_dtype_name(number)).decode() == name
        if name != "string":
            assert libgather.Tensor.zeros((1,), name).memory().itemsize == lib.gth_dtype_size(number)
    with pytest.raises(libgather.DTypeError):
        libgather.Tensor.zeros((1,), "float33")


def test_release_is_that_of_the_header() -> None:
    import tomllib

    with (BINDING / "pyproject.toml").open("rb") as file:
        assert tomllib.load(file)["project"]["version"] == libgather.__version__ == libgather.version()


def test_every_status_and_operand_has_a_name_in_python() -> None:
    without_class = {_constants.E_NULL, _constants.E_INTERNAL}
    for name, number in vars(_constants).items():
        if name.startswith("E_") and number not in without_class:
            error = libgather.errors.of_fields((number, _constants.OPERAND_BAGS, -1, 0, 5, 0, 0, 2, "text"))
            assert type(error) is not libgather.Error, name
        if name.startswith("OPERAND_") and name != "OPERAND_NONE":
            error = libgather.errors.of_fields((_constants.E_SHAPE, number, -1, 0, -1, 0, 0, -1, "text"))
            assert error.operand == name.removeprefix("OPERAND_").lower()
    error = libgather.errors.of_fields((_constants.E_OFFSETS, _constants.OPERAND_BAGS, -1, 0, 5, 0, 0, 2, "text"))
    assert isinstance(error, libgather.OffsetsError) and (error.operand, error.position, error.item) == ("bags", 5, 2)
    failed = libgather.errors.of_fields((_constants.E_IO, _constants.OPERAND_FILE, -1, 0, -1, 0, 0, -1, "text"))
    assert isinstance(failed, libgather.FileError) and isinstance(failed, OSError) and str(failed) == "text"
    assert str(pickle.loads(pickle.dumps(failed))) == "text"
