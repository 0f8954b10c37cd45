"""The measured rules of each profile for scatters."""

from dataclasses import dataclass

from .. import profiles

OPS = ("scatter", "scatter_nd", "scatter_elements")
REDUCTIONS = ("none", "add", "mul", "max", "min")
HALVES = ("float16", "bfloat16")
SUMS = ("add", "mul", "mean")

# The first opset with a reduction, in ScatterND and ScatterElements.
FIRST_OPSET = {"none": 11, "add": 16, "mul": 16, "max": 18, "min": 18}


@dataclass(frozen=True)
class Rules:
    negative: str
    bounds: str
    extents: str = "equal"  # of scatter_elements
    accumulate: str = "dtype"  # of scatter_elements
    k0: bool = True


TABLE = {
    "none": Rules("reject", "error"),
    "tensorflow": Rules("reject", "error"),
    "tensorflow_gpu": Rules("reject", "skip"),
    "onnx": Rules("wrap", "error", "prefix", k0=False),
    "ort": Rules("wrap", "error", "prefix"),
    "numpy_raise": Rules("wrap", "error", "broadcast"),
    "numpy_wrap": Rules("wrap", "modulo", "broadcast"),
    "numpy_clip": Rules("reject", "clamp", "broadcast"),
    "torch": Rules("reject", "error", "prefix", "float32"),
    "jax_fill": Rules("wrap", "skip", "broadcast"),
    "jax_clip": Rules("wrap", "clamp", "broadcast"),
}


def negative(case):
    if case.negative:
        return case.negative
    # x[i] = v and index_put_ wrap, index_copy_ and scatter_ do not.
    return "wrap" if (case.profile, case.op) == ("torch", "scatter_nd") else TABLE[case.profile].negative


def bounds(case):
    return case.bounds or TABLE[case.profile].bounds


def validates_all(case):
    """Returns true if indices are validated although no element is written: index_reduce_ does, index_add_ does not."""
    return (case.profile, case.op) == ("torch", "scatter") and case.reduction in ("mul", "max", "min")


def extents(case):
    return case.extents or TABLE[case.profile].extents


def in_float32(case):
    own = TABLE[case.profile].accumulate if case.op == "scatter_elements" else "dtype"
    sums = case.reduction in SUMS and case.params.dtype in HALVES
    return sums and (case.accumulate or own) != "dtype"


def in_float64(case):
    return case.reduction in SUMS and case.params.dtype == "float32" and case.accumulate == "float64"


def target_dtypes(profile, op):
    return profiles.params_dtypes(profile, op.replace("scatter", "gather"), 0)


def index_dtypes(profile, op):
    return profiles.index_dtypes(profile, op.replace("scatter", "gather"))


def reduces(dtype_kind, reduction):
    """Returns true if numbers of a kind have the reduction."""
    if reduction in (None, "none"):
        return True
    if dtype_kind in ("string", "float8"):
        return False
    if reduction == "mean":
        return dtype_kind != "bool"
    return dtype_kind != "complex" or reduction in ("add", "mul")
