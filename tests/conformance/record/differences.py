"""The differences between a profile and its system, and their reasons.

A difference with `matches` is found automatically. The others are declared by the case that shows them.
"""

from collections import Counter
from dataclasses import dataclass, replace

from . import oracle
from .format import Error, Ok


@dataclass(frozen=True)
class Difference:
    id: str
    system: str
    does: str
    ours: str
    why: str
    matches: object = lambda case, answer, expect: False


def find(case, answer, expect):
    """Returns the difference that explains the result of the system, or None."""
    return next((d.id for d in TABLE if d.matches(case, answer, expect)), None)


def _profile(case, *names):
    return case.profile.startswith(names)


def _uint64_as_negative(case, answer, expect):
    if not _profile(case, "numpy") or case.indices.dtype != "uint64":
        return False
    signed = oracle.answer(replace(case, indices=replace(case.indices, dtype="int64")))
    return answer == signed or (isinstance(answer, Error) and isinstance(signed, Error))


def _beyond_int32(case, answer, expect):
    return _profile(case, "jax") and any(not -(2**31) <= i < 2**31 for i in case.indices.integers())


def _fill_from_empty(case, answer, expect):
    return (
        case.profile == "jax_fill" and isinstance(answer, Error) and isinstance(expect, Ok) and 0 in case.params.shape
    )


def _take_returns_params(case, answer, expect):
    returned = isinstance(answer, Ok) and answer.shape == case.params.shape
    return _profile(case, "jax") and case.op == "gather" and case.indices.size == 0 and returned


def _bool_as_index(case, answer, expect):
    return _profile(case, "numpy", "jax") and case.indices.dtype == "bool" and isinstance(answer, Ok)


def _string_rows(case, answer, expect):
    return case.profile == "ort" and case.op == "gather" and case.params.dtype == "string" and isinstance(answer, Ok)


def _bad_batch_dims(case, answer, expect):
    outside = not 0 <= case.batch_dims <= len(case.params.shape)
    return case.profile == "ort" and case.op == "gather_nd" and outside


def _evaluator_refuses_empty_batch(case, answer, expect):
    return case.profile == "onnx" and case.op == "gather_nd" and isinstance(answer, Error) and 0 in case.params.shape


def _evaluator_skips_empty_output(case, answer, expect):
    return case.op != "gather_elements" and case.profile == "onnx" and isinstance(answer, Ok) and 0 in answer.shape


def _evaluator_ignores_versions(case, answer, expect):
    old = 0 < case.opset < 12
    known = case.op != "gather_elements" and case.profile == "onnx"
    return known and isinstance(answer, Ok) and (old or case.batch_dims < 0)


def _opset_above_newest(case, answer, expect):
    return case.profile == "ort" and case.opset > 21 and isinstance(answer, Error)


def _elements(profile, accepts):
    """Differences of gather_elements: one of the system and the library accepts a call that the other rejects."""

    def matches(case, answer, expect):
        ours = case.op == "gather_elements" and _profile(case, profile)
        return ours and isinstance(answer, Ok if accepts else Error) and isinstance(expect, Error if accepts else Ok)

    return matches


def _both(first, second):
    return lambda case, answer, expect: first(case, answer, expect) and second(case, answer, expect)


def _no_indices(case, answer, expect):
    return case.indices.size == 0


def _float8(case, answer, expect):
    return case.params.dtype.startswith("float8")


def _out_of_bounds(case, answer, expect):
    return expect.status == "INDEX"


def _empty_params(case, answer, expect):
    return 0 in case.params.shape


def _zeros_from_empty_axis(case, answer, expect):
    elements = case.op == "gather_elements" and _profile(case, "jax")
    return elements and isinstance(answer, Ok) and 0 in case.params.shape


TABLE = [
    Difference(
        "D01",
        "NumPy",
        "reads uint64 indices above INT64_MAX as negative, so 2^64-1 takes the last row",
        "the value of the index decides: out of bounds, the last row under clip, floor modulo under wrap",
        "a limit of the implementation",
        _uint64_as_negative,
    ),
    Difference(
        "D02",
        'np.take(mode="wrap")',
        "adds or subtracts the axis size in a loop, so a far index runs for hours",
        "one floor modulo",
        "hang",
    ),
    Difference(
        "D03",
        'np.take(mode="wrap")',
        "does not return for an axis of size 0 whose rows are empty too",
        "OK with the empty output, as mode clip gives",
        "hang",
    ),
    Difference(
        "D04",
        "JAX in 64-bit mode",
        "narrows indices to int32 after its own handling of negatives: 2^32 selects row 0, and .at[].get reads another "
        "row for -2^40 or an unsigned index from 2^31 on",
        "the mode applies to the value itself",
        "foreign read",
        _beyond_int32,
    ),
    Difference(
        "D05",
        "JAX without 64-bit mode",
        "truncates int64 indices to int32 on entry",
        "the mode applies to the value itself",
        "foreign read",
    ),
    Difference(
        "D06",
        "JAX, mode fill",
        "raises if an indexed dim has size 0 and indices select in it",
        "the fill value, as for every other index out of bounds",
        "a limit of the implementation: fill has a result for every index",
        _fill_from_empty,
    ),
    Difference(
        "D07",
        "jnp.take",
        "returns the array itself if the axis is empty and there are no indices; its shape is wrong",
        "OK with the shape of the formula",
        "garbage",
        _take_returns_params,
    ),
    Difference(
        "D08",
        "NumPy take, torch index_select",
        "take a scalar as an array of one element",
        "RANK: params needs a dim to index",
        "one shape rule for every profile",
    ),
    Difference(
        "D09",
        "tf.batch_gather",
        "adds row offsets and flattens, so an index out of bounds reads a row of another batch",
        "INDEX",
        "foreign read",
    ),
    Difference(
        "D10",
        "tf.gather in Python",
        "drops batch_dims without a check if the axis is the constant 0",
        "BATCH, as the kernel GatherV2",
        "an accident of the wrapper",
    ),
    Difference("D11", "TensorFlow GatherV2", "aborts the process for axis INT64_MIN", "AXIS", "crash"),
    Difference(
        "D12",
        "tf.gather_nd",
        "accepts batch shapes that differ if their element counts are equal or 0",
        "BATCH",
        "foreign read: tuples read the wrong batch",
    ),
    Difference(
        "D13",
        "TensorFlow GatherNd",
        "counts tuples in int16 if the indices are int16: above 32767 the output is uninitialised, or the process "
        "aborts",
        "OK",
        "crash, garbage",
    ),
    Difference(
        "D14",
        "TensorFlow",
        "rejects int16 indices into more than 32767 elements (gather_nd) or rows (gather), even if they are not used",
        "OK",
        "a limit of the implementation",
    ),
    Difference(
        "D15",
        "TensorFlow GatherNd",
        "rejects tuples longer than 7, including batch dims",
        "OK",
        "a limit of the implementation",
    ),
    Difference(
        "D16",
        "ONNX Runtime Gather",
        "copies only the first string of each row; the others are empty",
        "OK with the whole rows",
        "garbage",
        _string_rows,
    ),
    Difference(
        "D17",
        "ONNX Runtime GatherND",
        "aborts the process for some batch_dims below 0 or above the rank, and accepts others if the output is empty",
        "BATCH",
        "crash, garbage",
        _bad_batch_dims,
    ),
    Difference(
        "D18",
        "ONNX Runtime",
        "has no complex tensors",
        "OK, by the type table of the operator",
        "a limit of the implementation",
    ),
    Difference(
        "D19",
        "ONNX Runtime",
        "rejects models of an opset newer than its own release",
        "OK, by the newest definition",
        "a limit of the implementation",
        _opset_above_newest,
    ),
    Difference(
        "D20",
        "ONNX's reference evaluator",
        "raises on batch dims of size 0",
        "OK with the empty output",
        "a limit of the implementation",
        _evaluator_refuses_empty_batch,
    ),
    Difference(
        "D21",
        "ONNX's reference evaluator",
        "does not validate indices if an outer dim of the output is empty",
        "INDEX",
        "in the specification, every index out of bounds is an error",
        _evaluator_skips_empty_output,
    ),
    Difference(
        "D22",
        "ONNX's reference evaluator",
        "wraps negative indices in Gather 1, accepts batch_dims in GatherND 11 and negative batch_dims",
        "INDEX, BATCH",
        "the text of those versions",
        _evaluator_ignores_versions,
    ),
    Difference(
        "D23",
        "np.take",
        "treats the axis -2^31 as no axis and indexes the flattened array",
        "AXIS",
        "an accident of the implementation",
    ),
    Difference(
        "D24",
        "torch.index_select",
        "keeps the axis for a scalar index and rejects indices of more dims",
        "OK with the shape of torch's embedding",
        "a limit of the implementation",
    ),
    Difference(
        "D25",
        "torch",
        "lacks the types float8_e3m4, float8_e4m3 and float8_e4m3b11fnuz",
        "OK",
        "a limit of the implementation: rows are bytes",
    ),
    Difference(
        "D26",
        "NumPy, JAX",
        "np.take and jnp.take accept bool indices as 0 and 1",
        "DTYPE",
        "bool is no index type, and x[mask] has another meaning",
        _bool_as_index,
    ),
    Difference(
        "D27",
        "torch.gather",
        "does not validate ranks, extents and the index dtype if there are no indices",
        "RANK, SHAPE, DTYPE",
        "an accident of the implementation",
        _both(_elements("torch", accepts=True), _no_indices),
    ),
    Difference(
        "D28",
        "torch.gather",
        "has no kernels for the float8 types of torch",
        "OK",
        "a limit of the implementation: elements are bytes",
        _both(_elements("torch", accepts=False), _float8),
    ),
    Difference(
        "D29",
        "ONNX's reference evaluator",
        "takes the index of GatherElements modulo the extent",
        "INDEX, as ONNX Runtime",
        "in the specification, an index out of bounds is an error",
        _both(_elements("onnx", accepts=True), _out_of_bounds),
    ),
    Difference(
        "D30",
        "ONNX's reference evaluator",
        "adds or subtracts the extent in a loop, so a far index of GatherElements runs for hours",
        "INDEX",
        "hang",
    ),
    Difference(
        "D31",
        "ONNX's reference evaluator",
        "requires equal extents of GatherElements beside the axis (with a negative axis, on all dims), at most 64 "
        "rows, and at most 32 dims",
        "OK, as ONNX Runtime",
        "a limit of the implementation; the text has no rule for the extents",
        _elements("onnx", accepts=False),
    ),
    Difference(
        "D32",
        "ONNX's reference evaluator",
        "validates nothing in GatherElements if there are no indices",
        "RANK, SHAPE, AXIS, as ONNX Runtime",
        "an accident of the implementation",
        _both(_elements("onnx", accepts=True), _no_indices),
    ),
    Difference(
        "D33",
        "jnp.take_along_axis",
        "returns 0 for every index into an axis of size 0",
        "the fill value under fill, INDEX under clip",
        "garbage",
        _zeros_from_empty_axis,
    ),
    Difference(
        "D34",
        "np.take_along_axis",
        "rejects arrays of 64 dims",
        "OK",
        "a limit of the implementation",
    ),
    Difference(
        "D35",
        "tf.experimental.numpy.take_along_axis",
        "rejects some empty arrays",
        "OK with the empty output",
        "a limit of the implementation",
        _both(_elements("tensorflow", accepts=False), _empty_params),
    ),
]

_HEADER = """# Deliberate differences

Generated from `record/differences.py`. A profile has the results of the system of the same name, with these
exceptions. At least one case shows each id.

| id | system | its result | result of libgather | reason | cases |
|---|---|---|---|---|---|
"""


def report(cases):
    """Returns the text of differences.md. A case must show every difference."""
    shown = Counter(case.difference for case in cases)
    idle = [d.id for d in TABLE if not shown[d.id]]
    if idle:
        raise LookupError(f"no case shows {', '.join(idle)}")
    rows = (f"| {d.id} | {d.system} | {d.does} | {d.ours} | {d.why} | {shown[d.id]} |\n" for d in TABLE)
    return _HEADER + "".join(rows)
