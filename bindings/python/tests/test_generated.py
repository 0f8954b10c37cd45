"""The low layer is equal to gather.h."""

from __future__ import annotations

import pickle
import re
import runpy
from pathlib import Path
from typing import Any

import pytest

import libgather
from conftest import BINDING
from libgather._base import constants, dtypes
from libgather._low import ffi, lib


@pytest.fixture
def generator(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The program that writes the low layers of all bindings."""
    folder = BINDING.parent / "generate"
    monkeypatch.syspath_prepend(folder)
    return runpy.run_path(str(folder / "__main__.py"))


def changed(generator: Any, before: str, after: str) -> list[str]:
    """Returns the names of the files that a change of the header or of a list changes."""
    texts = [each.read_text(encoding="utf-8") for each in generator["TEXTS"]]
    assert sum(text.count(before) for text in texts) == 1
    old, new = generator["generated"](*texts), generator["generated"](*(text.replace(before, after) for text in texts))
    return [path.name for path in old if old[path] != new[path]]


def test_new_parameter_changes_the_low_layers(generator: Any) -> None:
    names = changed(generator, "gth_shutdown(void);", "gth_shutdown(int32_t how);")
    assert names == ["cdef.h", "Gth.java"]


def test_function_of_a_request_keeps_the_memory_of_its_operands_in_java(generator: Any) -> None:
    header, *lists = (each.read_text(encoding="utf-8") for each in generator["TEXTS"])
    parameters = "gth_context *context, const gth_request *request, gth_error *err"
    texts = generator["generated"](header.replace("gth_shutdown(void)", f"gth_shutdown({parameters})"), *lists)
    java = next(text for path, text in texts.items() if path.name == "Gth.java")
    method = java[java.index("public static int shutdown(") :]
    assert method[: method.index("{")].endswith("MemorySegment... kept) ")


def test_new_dtype_changes_every_table_of_dtypes(generator: Any) -> None:
    names = changed(
        generator,
        "#define GTH_DTYPE_STRING",
        "#define GTH_DTYPE_INT128 \\\n  128 /**< new */\n#define GTH_DTYPE_STRING",
    )
    assert names == ["pins.c", "constants.py", "constants.go", "Gth.java", "DType.java"]


def test_constant_without_a_group_in_go_is_rejected(generator: Any) -> None:
    with pytest.raises(ValueError, match="GTH_FRESH belongs to no group"):
        changed(generator, "#define GTH_OPEN -1\n", "#define GTH_OPEN -1\n#define GTH_FRESH -7\n")


def test_role_without_a_field_is_rejected(generator: Any) -> None:
    last, operand = "ROLE(weights, WEIGHTS)", "OPERAND(gather, options, OPTIONS, read, optional, data, own, rows)"
    with pytest.raises(ValueError, match="gth_request has no operand options"):
        changed(generator, last, f"{last} \\\n  ROLE(options, OPTIONS)\n  {operand}")


def test_removed_operand_changes_the_tables_of_operands(generator: Any) -> None:
    listed = "  OPERAND(gather,   indices, INDICES, read,    required, index,    own,    tuples)  \\\n"
    assert changed(generator, listed, "") == ["constants.py", "operands.go", "Kind.java"]


def test_changed_columns_change_the_tables_of_operations_and_profiles(generator: Any) -> None:
    tables = ["option_table.h", "constants.py"]
    assert (
        changed(generator, "SCATTER_ELEMENTS, scatter,  paired, one,", "SCATTER_ELEMENTS, scatter,  slices, one,")
        == tables
    )
    assert (
        changed(
            generator,
            "reject, clamp,   zero,     broadcast, identity,",
            "reject, error,   zero,     broadcast, identity,",
        )
        == tables
    )


def test_sources_of_python_read_profiles_from_the_list(generator: Any) -> None:
    folders = BINDING / "native", BINDING / "src/libgather/torch/native"
    sources = [path for folder in folders for path in folder.glob("*.[ch]*") if path.name != "cdef.h"]
    assert len(sources) > 60
    assert not [path.name for path in sources if "GTH_PROFILE_" in path.read_text(encoding="utf-8")]


def test_option_without_a_setter_is_rejected(generator: Any) -> None:
    with pytest.raises(ValueError, match=r"gth_options\.fresh has no option"):
        changed(generator, "} gth_options;", "  int32_t fresh;\n} gth_options;")
    with pytest.raises(ValueError, match="gth_options has no field opset"):
        changed(generator, "int32_t opset;", "int32_t reserved;")


def test_text_of_an_option_changes_the_documentation_of_every_language(generator: Any) -> None:
    names = changed(generator, "the highest number of CPU threads of a call.", "the limit of CPU threads.")
    assert names == ["gather.hpp", "options.rs", "setters.go", "Options.java"]


def test_new_value_of_an_option_changes_the_choices_of_every_language(generator: Any) -> None:
    last = "#define GTH_EMPTY_ERROR 3"
    names = changed(generator, last, f"#define GTH_EMPTY_NAN 4 /**< NaN. */\n{last}")
    assert names == [
        *("pins.c", "gather.hpp", "constants.py", "signature_types.py", "options.rs", "constants.go", "Gth.java"),
        "Empty.java",
    ]


def test_changed_operations_of_an_option_change_the_keywords_of_their_functions(generator: Any) -> None:
    names = changed(generator, "GTH_EMPTY_ERROR, bags,", "GTH_EMPTY_ERROR, adders,")
    changed_files = ["gradients.py", "scatter_plan.py", "scatter_positions.py", "scatters.py"]
    assert sorted(names) == sorted(["option_table.h", "signature_types.py", *changed_files])


def test_new_option_of_a_function_is_documented(generator: Any) -> None:
    texts = [each.read_text(encoding="utf-8") for each in generator["TEXTS"]]
    found = generator["generated"](*texts[:2], texts[2].replace("GTH_EMPTY_ERROR, bags,", "GTH_EMPTY_ERROR, every,"))
    of_file = {path.name: " ".join(text.split()) for path, text in found.items() if path.suffix == ".py"}
    assert of_file["gathers.py"].count("empty: t.Empty | None = None,") == 3
    assert "empty: The row of a bag of gather_bags of which no id is read. The default is" in of_file["gathers.py"]
    assert re.search(r"profile, threads, context, opset, .*empty: As for the operation\.", of_file["scatter_plan.py"])
    assert "request_from(locals())" in of_file["scatter_plan.py"]
    assert "empty: Empty | None" in of_file["signature_types.py"]
    texts[2] = texts[2].replace("GTH_REDUCTION_MEAN, scatters,", "GTH_REDUCTION_MEAN, bags,")
    found = generator["generated"](*texts)
    (bags,) = (text for path, text in found.items() if path.name == "bags.py")
    assert re.search(r"Request\(.*reduction=reduction,", bags, re.DOTALL)


def test_field_of_an_unknown_type_is_rejected(generator: Any) -> None:
    with pytest.raises(ValueError, match="double"):
        changed(generator, "} gth_options;", "  double fresh;\n} gth_options;")


def test_changed_number_is_not_pinned(generator: Any, tmp_path: Path) -> None:
    header, *lists = (each.read_text(encoding="utf-8") for each in generator["TEXTS"])
    lost = generator["main"].__globals__["abi_files"].lost
    for before, after, line in [
        ("#define GTH_OPEN -1", "#define GTH_OPEN -2", "VALUE(GTH_OPEN, -1);"),
        ("int64_t capacity;", "int64_t most;", "FIELD(gth_parts, capacity, 8, 8);"),
        ("gth_shutdown(void);", "gth_end(void);", "gth_shutdown"),
    ]:
        new = generator["generated"](header.replace(before, after), *lists)
        assert [each for path in new for each in lost(path, path.read_text(), new[path])] == [line]


def test_every_function_and_constant_is_there() -> None:
    header = (BINDING / "core" / "include" / "gather" / "gather.h").read_text(encoding="utf-8")
    functions = set(re.findall(r"^GTH_(?:API|EXPORT) [^;(]*?\b(gth_\w+)\(", header, re.MULTILINE))
    assert len(functions) > 30 and functions <= set(dir(lib))
    for name, value in re.findall(r"^#define GTH_(\w+) (-?\d+)", header, re.MULTILINE):
        assert getattr(constants, name) == int(value)


def test_dtypes_have_the_librarys_names_and_sizes() -> None:
    for number, name in dtypes.NAMES.items():
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
    without_class = {constants.E_NULL, constants.E_INTERNAL}
    for name, number in vars(constants).items():
        if name.startswith("E_") and number not in without_class:
            error = libgather.errors.of_fields((number, constants.OPERAND_BAGS, -1, 0, 5, 0, 0, 2, "text", 0))
            assert type(error) is not libgather.Error, name
        if name.startswith("OPERAND_") and name != "OPERAND_NONE":
            error = libgather.errors.of_fields((constants.E_SHAPE, number, -1, 0, -1, 0, 0, -1, "text", 0))
            assert error.operand == name.removeprefix("OPERAND_").lower()
    error = libgather.errors.of_fields((constants.E_OFFSETS, constants.OPERAND_BAGS, -1, 0, 5, 0, 0, 2, "text", 0))
    assert isinstance(error, libgather.OffsetsError) and (error.operand, error.position, error.item) == ("bags", 5, 2)
    failed = libgather.errors.of_fields((constants.E_IO, constants.OPERAND_FILE, -1, 0, -1, 0, 0, -1, "text", 0))
    assert isinstance(failed, libgather.FileError) and isinstance(failed, OSError) and str(failed) == "text"
    assert str(pickle.loads(pickle.dumps(failed))) == "text"
