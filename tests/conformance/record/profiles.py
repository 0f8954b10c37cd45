"""The rules of each profile, as measured. `differences.py` lists the differences from the system."""

from dataclasses import dataclass

from . import dtypes

ALL_INTEGERS = frozenset(dtypes.INTEGERS)
NUMERIC = frozenset(dtypes.NUMERIC)
EVERYTHING = NUMERIC | {"string"}
ONNX_OLD = EVERYTHING - set(dtypes.FLOAT8) - {"bfloat16"}
ONNX_NEW = ONNX_OLD | {"bfloat16"}
# The kernels that TensorFlow registers.
TENSORFLOW = EVERYTHING - set(dtypes.FLOAT8) | {"float8_e4m3fn", "float8_e5m2"}

ONNX_DEFINITIONS = {"gather": (1, 11, 13), "gather_nd": (11, 12, 13), "gather_elements": (11, 13)}


@dataclass(frozen=True)
class Work:
    """The properties of a call for the rules about empty outputs."""

    op: str
    tuples: int
    outer: int  # params between the batch dims and the axis; 1 for gather_nd
    inner: int  # elements per row
    indexed: tuple  # the sizes of the indexed dims
    index_rank: int

    @property
    def output_is_empty(self):
        return self.tuples * self.outer * self.inner == 0


def if_output(work):
    return not work.output_is_empty


def always(work):
    return True


@dataclass(frozen=True)
class Profile:
    negative: dict  # op -> reject | wrap
    bounds: str
    fill: str = "zero"
    params: frozenset = EVERYTHING
    gather_indices: frozenset = ALL_INTEGERS  # of gather and gather_elements
    gather_nd_indices: frozenset = ALL_INTEGERS
    values_checked: object = if_output
    onnx_types: bool = False  # definitions by opset, no batch_dims in gather
    opset_1_rejects_negatives: bool = False
    k0: bool = True
    scalars_nd: bool = False  # gather_nd takes params of rank 0 where K = 0
    divisible_batches: bool = False  # ONNX Runtime's rule for gather_nd
    refuses_empty_params_nd: bool = False
    extents: str = "equal"  # of gather_elements beside the axis: equal | prefix | broadcast
    scalars_as_vectors: bool = False  # in gather_elements


def _same(negative):
    return {"gather": negative, "gather_nd": negative, "gather_elements": negative}


def ort_checked(work):
    return work.op == "gather" or if_output(work)


def numpy_checked(work):
    return work.outer > 0


def jax_checked(work):
    """jnp.take never takes from an empty axis, and neither does a single tuple."""
    single = work.op == "gather" or work.index_rank == 1
    return if_output(work) or (single and 0 in work.indexed)


def torch_checked(work):
    """x[i, j] with an empty output is validated only for one tuple, or if a dim is empty."""
    return work.op == "gather" or if_output(work) or work.index_rank == 1 or 0 in work.indexed


_TENSORFLOW_INDICES = frozenset({"int16", "int32", "int64"})
_TENSORFLOW_GPU_INDICES = frozenset({"int32", "int64"})
_ONNX = dict(
    negative=_same("wrap"),
    bounds="error",
    params=ONNX_NEW,
    gather_indices=frozenset({"int32", "int64"}),
    gather_nd_indices=frozenset({"int64"}),
    onnx_types=True,
    extents="prefix",
)

TABLE = {
    "none": Profile(_same("reject"), "error", values_checked=always),
    "tensorflow": Profile(
        _same("reject"),
        "error",
        params=TENSORFLOW,
        gather_indices=_TENSORFLOW_INDICES,
        gather_nd_indices=_TENSORFLOW_INDICES,
        refuses_empty_params_nd=True,
    ),
    "tensorflow_gpu": Profile(
        _same("reject"),
        "fill",
        params=TENSORFLOW - {"string"},
        gather_indices=_TENSORFLOW_GPU_INDICES,
        gather_nd_indices=_TENSORFLOW_GPU_INDICES,
        refuses_empty_params_nd=True,
    ),
    "onnx": Profile(**_ONNX, values_checked=always, opset_1_rejects_negatives=True, k0=False),
    "ort": Profile(**_ONNX, values_checked=ort_checked, divisible_batches=True, scalars_nd=True),
    "numpy_raise": Profile(_same("wrap"), "error", values_checked=numpy_checked, extents="broadcast"),
    "numpy_wrap": Profile(_same("wrap"), "modulo", extents="broadcast"),
    "numpy_clip": Profile(_same("reject"), "clamp", extents="broadcast"),
    "torch": Profile(
        {"gather": "reject", "gather_nd": "wrap", "gather_elements": "reject"},
        "error",
        params=NUMERIC,
        gather_indices=frozenset({"int32", "int64"}),
        gather_nd_indices=frozenset({"int32", "int64"}),
        values_checked=torch_checked,
        extents="prefix",
        scalars_as_vectors=True,
    ),
    "jax_fill": Profile(
        _same("wrap"),
        "fill",
        "by_dtype",
        params=NUMERIC,
        values_checked=jax_checked,
        extents="broadcast",
    ),
    "jax_clip": Profile(
        {"gather": "reject", "gather_nd": "wrap", "gather_elements": "wrap"},
        "clamp",
        params=NUMERIC,
        values_checked=jax_checked,
        extents="broadcast",
    ),
}


def definition(op, opset):
    """Returns the newest ONNX definition up to the opset, or None below the first one."""
    known = ONNX_DEFINITIONS[op]
    if opset == 0:
        return known[-1]
    return max((d for d in known if d <= opset), default=None)


def params_dtypes(profile, op, opset):
    table = TABLE[profile]
    if table.onnx_types and (definition(op, opset) or 0) < 13:
        return ONNX_OLD
    return table.params


def index_dtypes(profile, op):
    table = TABLE[profile]
    return table.gather_nd_indices if op == "gather_nd" else table.gather_indices


def negative_rule(profile, op, opset):
    table = TABLE[profile]
    if table.opset_1_rejects_negatives and op == "gather" and definition(op, opset) == 1:
        return "reject"
    return table.negative[op]
