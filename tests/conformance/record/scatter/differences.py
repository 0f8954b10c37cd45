"""The differences between the scatters of a profile and its system, and their reasons."""

from dataclasses import dataclass

from ..format import Error, Ok


@dataclass(frozen=True)
class Difference:
    id: str
    system: str
    does: str
    ours: str
    why: str
    matches: object


def _refuses(profile, also=lambda case: True):
    """The system has no result, but the library has one."""

    def matches(case, answer, expect):
        return case.profile.startswith(profile) and isinstance(answer, Error) and isinstance(expect, Ok) and also(case)

    return matches


def _accepts(profile, *statuses, operand=None):
    """The system has a result, but the library has an error."""

    def matches(case, answer, expect):
        if not case.profile.startswith(profile) or not isinstance(answer, Ok) or not isinstance(expect, Error):
            return False
        return expect.status in statuses and operand in (None, expect.operand)

    return matches


def _nan(profile):
    def matches(case, answer, expect):
        compares = case.reduction in ("max", "min") and "/nan/" in case.name
        return case.profile.startswith(profile) and compares and isinstance(answer, Ok)

    return matches


TABLE = [
    Difference(
        "S01",
        "NumPy",
        "adds strings, and float8 numbers as ml_dtypes defines it",
        "DTYPE",
        "float8 and strings have no reductions in any profile",
        _accepts("numpy", "DTYPE"),
    ),
    Difference(
        "S02",
        "torch",
        "has no kernels for uint16, uint32, uint64, most of float8, and bool of index_reduce_ in its scatters",
        "OK",
        "a limit of the implementation",
        _refuses("torch"),
    ),
    Difference(
        "S03",
        "torch.scatter_",
        "accepts updates that are larger than indices, and reads a part of them",
        "SHAPE",
        "an accident: a view of the updates has the same effect",
        _accepts("torch", "SHAPE", operand="updates"),
    ),
    Difference(
        "S04",
        "ONNX Runtime",
        "has no kernels for some reductions of bool, float16 and bfloat16",
        "OK, by the type table of the operator",
        "a limit of the implementation",
        _refuses("ort"),
    ),
    Difference(
        "S05",
        "ONNX Runtime",
        "drops a NaN of the target in max and min, and keeps a NaN of an update",
        "NaN",
        "the result must not depend on the order of the operands",
        _nan("ort"),
    ),
    Difference(
        "S06",
        "ONNX Runtime",
        "has max and min from opset 16 on",
        "VERSION",
        "the operators have them from 18 on",
        _accepts("ort", "VERSION"),
    ),
    Difference(
        "S07",
        "ONNX's reference evaluator",
        "reduces in every opset",
        "VERSION",
        "the text of those versions",
        _accepts("onnx", "VERSION"),
    ),
    Difference(
        "S08",
        "ONNX's reference evaluator",
        "accepts updates of other shapes than the operator requires",
        "SHAPE, RANK",
        "an accident of the implementation",
        _accepts("onnx", "SHAPE", "RANK", operand="updates"),
    ),
    Difference(
        "S09",
        "ONNX's reference evaluator",
        "drops a NaN in max and min of ScatterElements, depending on the order",
        "NaN",
        "the result must not depend on the order of the operands",
        _nan("onnx"),
    ),
    Difference(
        "S10",
        "TensorFlow",
        "drops a NaN in tensor_scatter_nd_max and _min",
        "NaN",
        "NaN propagates, as in NumPy, JAX and torch",
        _nan("tensorflow"),
    ),
    Difference(
        "S11",
        "TensorFlow",
        "rejects tuples into a target without elements",
        "OK if there is nothing to write",
        "a limit of the implementation",
        _refuses("tensorflow", lambda case: 0 in case.params.shape),
    ),
    Difference(
        "S12",
        "TensorFlow",
        "rejects a single tuple without its own dim",
        "OK",
        "a limit of the implementation: the shapes are valid",
        _refuses("tensorflow", lambda case: len(case.indices.shape) == 1),
    ),
    Difference(
        "S13",
        "TensorFlow",
        "has no kernels for int16 indices and for some types of the target",
        "OK",
        "a limit of the implementation",
        _refuses("tensorflow"),
    ),
    Difference(
        "S14",
        "JAX",
        "refuses to add and multiply bool",
        "OK: or, and",
        "a limit of the implementation",
        _refuses("jax", lambda case: case.params.dtype == "bool"),
    ),
    Difference(
        "S15",
        "torch.index_add_",
        "adds rows of float16 and bfloat16 along dim 0 or the last dim in float32, but not in one dim or along others",
        "the sum in the dtype; accumulate has float32",
        "one rule for all ranks and axes",
        lambda case, answer, expect: case.profile == "torch" and "/halves/" in case.name and isinstance(answer, Ok),
    ),
]

_HEADER = """# Deliberate differences of scatters

Generated from `record/scatter/differences.py`. A profile has the results of the system of the same name, with these
exceptions. At least one case shows each id.

| id | system | its result | result of libgather | reason | cases |
|---|---|---|---|---|---|
"""


def find(case, answer, expect, table=TABLE):
    """Returns the difference that explains the result of the system, or None."""
    return next((d.id for d in table if d.matches(case, answer, expect)), None)


def report(cases, table=TABLE, header=_HEADER):
    """Returns the text of a page of differences. A case must show every difference."""
    shown = {d.id: sum(case.difference == d.id for case in cases) for d in table}
    idle = [id for id, found in shown.items() if not found]
    if idle:
        raise LookupError(f"no case shows {', '.join(idle)}")
    rows = (f"| {d.id} | {d.system} | {d.does} | {d.ours} | {d.why} | {shown[d.id]} |\n" for d in table)
    return header + "".join(rows)
