"""The hostile inputs that another system can process.

An input is a function of a system, with the number of its entry in docs/hostile.md. It returns if the result is right.
It raises the exception of the system, Wrong if the result is wrong, and Unable if the system cannot express the input.
"""

import importlib
import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
from systems import Unable

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "conformance"))


class Wrong(Exception):
    """The result is not the expected one."""


INPUTS = {}


def given(entry, *variants):
    """Adds a function as an input of an entry. With variants, it adds the function once for each of them."""

    def list_it(function):
        for variant in variants or ((),):
            name = ":".join([entry, *map(str, variant)])
            INPUTS[name] = lambda system, variant=variant: function(system, *variant)
        return function

    return list_it


def expect(holds, what):
    if not holds:
        raise Wrong(what)


def table(rows=16, width=8):
    """Returns a table in which row r consists of r + 1. So wrong rows are detected."""
    return np.repeat(np.arange(1, rows + 1, dtype=np.float32), width).reshape(rows, width)


def index(*values):
    return np.array(values, np.int64)


# ---- ranks, attributes, values: the cases that every language of ours runs


OF_ONNX_ALONE = ("a13", "a14", "a24")
# These cases are not run. One has an output of 2^63 bytes. One has tuples of 2^63 - 1 components. The callers of these
# systems would make a list of them. One has a million indices, for which the model is slow, and which another input
# covers.
NOT_ASKED = ("just_fits_empty", "a06", "b09")


def from_conformance(case):
    def run(system):
        from record import oracle, settle
        from record.format import Ok, tensor

        name = type(system).__name__.lower()
        module = importlib.import_module(f"record.systems.{name}")
        asked = replace(case, profile=system.profile, opset=0)
        if not module.expresses(asked):
            raise Unable("not in its words")
        result = tensor(module.run(asked))
        answer = Ok(result.dtype, result.shape, result.memory)
        expected = oracle.answer(asked)
        expect(
            settle.agree(answer, expected),
            "a result instead of an error" if not isinstance(expected, Ok) else "other values",
        )

    return run


def list_conformance():
    from record.files import CASES
    from record.format import parse

    for profile in ("none", "onnx"):
        for case in parse((CASES / f"{profile}.txt").read_text()):
            number = re.fullmatch(r"\w+/hostile/([a-h])0*(\d+)\w*", case.name)
            if (
                number
                and not case.name.endswith(NOT_ASKED)
                and (profile == "none" or number[1] + number[2] in OF_ONNX_ALONE)
            ):
                INPUTS[f"{number[1].upper()}{number[2]}:{case.name.split('/')[-1]}"] = from_conformance(case)


list_conformance()


@given("B9")
def one_bad_at_the_end_of_a_million(system):
    system.gather(system.array(table(4)), system.array(np.append(np.arange(999_999) % 4, 4)))
    raise Wrong("a row")


@given("B11", ("raise",), ("wrap",), ("clip",))
def no_loop_runs_on_an_index(system, mode):
    if system.profile != "numpy_raise":
        if mode != "raise":
            raise Unable("one way alone")
        system.gather(system.array(table(3)), system.array(index(-(2**62))))
        raise Wrong("a row")
    rows = np.take(table(3), index(-(2**62)), axis=0, mode=mode)
    expect(rows[0, 0] == (1 if mode == "clip" else (-(2**62)) % 3 + 1), "another row")


# ---- sizes


def repeated(system, dtype, shape):
    """Returns a tensor of one element that strides of 0 repeat."""
    if system.profile == "torch":
        return system.torch.zeros(1, dtype=getattr(system.torch, dtype)).expand(shape)
    if system.profile == "numpy_raise":
        return np.broadcast_to(np.zeros(1, dtype), shape)
    raise Unable("no strides")


@given("C1")
def product_of_extents(system):
    array = repeated(system, "int8", (2**32, 2**32))
    count = array.numel() if system.profile == "torch" else array.size
    raise Wrong(f"a tensor with {count} elements")


@given("C3")
def product_with_the_item(system):
    array = repeated(system, "complex128", (2**60,))
    raise Wrong(f"a tensor with {array.nbytes} bytes")


@given("C4", ("int8",), ("float32",))
def empty_first_dim(system, dtype):
    shape = (0, 2322065022462387218)
    if system.profile == "torch":
        made = system.torch.empty(shape, dtype=getattr(system.torch, dtype))
    else:
        made = system.array(np.empty(shape, dtype))
    rows = system.gather(made, system.array(index()))
    expect(rows.shape == shape, "another shape")


# ---- memory


def rows_as_before(system, memory, indices, out):
    """Gathers into an output that shares memory with an operand.

    The system must reject the call, or return the result of a separate output.
    """
    expected = memory[indices % len(memory)].copy()
    system.into(system.array(memory), system.array(indices), system.array(out))
    expect(np.array_equal(out, expected), "rows that the call had overwritten")


@given("D1")
def output_is_params(system):
    memory = table(4)
    rows_as_before(system, memory, index(3, 0, 1, 0), memory)


@given("D2")
def output_is_one_row_off(system):
    memory = table(8)
    rows_as_before(system, memory[:7], index(3, 0, 1, 0, 6, 5, 2), memory[1:])


@given("D3")
def output_is_indices(system):
    memory = np.arange(4, dtype=np.int64)[::-1].copy()
    params = np.array([0, 10, 20, 30], np.int64)
    expected = params[memory]
    system.into(system.array(params), system.array(memory), system.array(memory))
    expect(np.array_equal(memory, expected), "rows by indices that were overwritten")


@given("D5")
def params_are_the_indices(system):
    memory = index(2, 0, 1)
    array = system.array(memory)
    expect(np.array_equal(system.gather(array, array), memory[memory]), "other rows")


@given("D6")
def odd_addresses(system):
    def odd(values):
        memory = np.zeros(values.nbytes + 1, np.uint8)[1:].view(values.dtype).reshape(values.shape)
        memory[...] = values
        return memory

    params, indices = odd(table(4)), odd(index(3, 1))
    expect(np.array_equal(system.gather(system.array(params), system.array(indices)), table(4)[[3, 1]]), "other rows")


@given("D7", ("params",), ("output",))
def read_only(system, which):
    params, out = table(4), np.zeros((2, 8), np.float32)
    (params if which == "params" else out).setflags(write=False)
    if which == "params":
        rows = system.gather(system.array(params), system.array(index(3, 1)))
        return expect(np.array_equal(rows, table(4)[[3, 1]]), "other rows")
    system.into(system.array(params), system.array(index(3, 1)), system.array(out))
    raise Wrong("read-only memory was written")


@given("D8")
def output_of_another_shape(system):
    out = system.array(np.zeros((8, 2), np.float32))
    if system.profile == "torch":
        out = system.torch.zeros(8, 2)  # memory of its own
    system.into(system.array(table(4)), system.array(index(3, 1)), out)
    raise Wrong("written" if tuple(system.numpy(out).shape) == (8, 2) else "resized")


@given("D9")
def output_of_another_dtype(system):
    out = np.zeros((2, 8), np.int64)
    system.into(system.array(table(4)), system.array(index(3, 1)), system.array(out))
    raise Wrong("written")


@given("D13")
def negative_strides(system):
    rows = system.gather(system.array(table(4)[::-1]), system.array(index(0, 3)))
    expect(np.array_equal(rows, table(4)[::-1][[0, 3]]), "other rows")


@given("D15")
def output_that_overlaps_itself(system):
    out = np.lib.stride_tricks.as_strided(np.zeros(8, np.float32), (2, 8), (0, 4))
    if system.profile == "torch":
        out = system.torch.zeros(8).expand(2, 8)
    elif system.profile != "numpy_raise":
        raise Unable("no strides")
    system.into(system.array(table(4)), system.array(index(3, 1)), out)
    raise Wrong("written")
