"""Packed: a table of quantised rows, which gathers decode as they read them."""

from __future__ import annotations

import math
from array import array

from .. import errors
from .. import types as t
from .._arrays.kinds import call_library, enter, hold, kind_of
from .._base import constants as c
from .._base.dtypes import number_of, size_of
from .._base.integers import integer, integers
from .._base.library import NULL, ffi, lib
from .._base.library_calls import created, extents, new
from .._base.request_fields import Request
from .._memory.memory import Memory
from .._memory.packed_memory import PackedMemory, PackedRows
from .._objects import run_arrays
from . import packed_sources
from .codec import Codec, row_bytes
from .scatter_updates import of_python

#: The codecs of arrays of `ml_dtypes`, NumPy and torch.
_OF_DTYPE = {
    c.DTYPE_FLOAT8_E4M3FN: "fp8_e4m3fn",
    c.DTYPE_FLOAT8_E5M2: "fp8_e5m2",
    c.DTYPE_INT8: "int8",
    c.DTYPE_UINT8: "uint8",
}


class Packed(PackedRows):
    """A table of packed rows: quantised numbers, which a gather decodes as it reads them.

    :func:`libgather.gather`, :func:`gather_nd`, :func:`gather_bags`, :func:`take` with an axis, :class:`Plan` and the
    functions of the same names in :mod:`libgather.torch` accept it as `params`. They select whole rows. Results are
    arrays of the library of `data`: tensors of torch, else NumPy arrays (tensors of this library without NumPy).

    The table is immutable, and any number of threads may use it. It keeps the memory of its arrays, does not copy it,
    and reads their current values. A copy shares their memory. A pickle and a deep copy contain copies of the arrays. A
    plan of a packed table is bound to it: its runs get the same table.

    Args:
        codec: The format: a name, such as ``"q8_0"``, ``"rowwise4"`` or ``"int4"``, or a :class:`Codec`. None selects
            the codec of arrays of float8, int8 and uint8. Without `scales`, their scale is 1.
        data: The rows, as an array of bytes of shape ``[..., row bytes]``. The bytes of a row are contiguous. Elements
            of one byte, and of uint32, count as bytes. If `shape` is given, it may be one run of bytes with all rows.
        shape: The shape of the numbers, or the length of a row alone. By default it is that of `data`, with the most
            numbers that a row can have.
        scales: Scales beside the rows, in float32, float16, bfloat16, float8_e4m3fn or float8_e8m0fnu. Their dims are
            those of the table but the last one, and then one for the blocks of a row. An extent of 1 is repeated. The
            last dim may be left out, and a number is the scale of the table.
        zeros: Zero points or biases, in the same way, also in int8 and uint8. A number is that of the table.
        block: The numbers of a block. Some codecs have 64, some the whole row, and most have fixed blocks.
        dtype: That of results: ``"float32"``, or ``"float16"`` and ``"bfloat16"``, which are rounded once.
        factor: A number that multiplies each scale.

    Raises:
        OptionError: The codec is unknown, or one of its fields is invalid (`operand` is ``"codec"``).
        ShapeError: The bytes of a row do not fit `shape`, scales or zeros have another shape, or rows are not equally
            far apart.
        RankError: A rank is too high, or `data` has none.
        DTypeError: An argument is not an array, or has a dtype that the codec does not have.
        UnsupportedError: `data` is on a device. A call raises it for packed rows in another place than `params`, and
            for operations on elements.

    Eight rows of 32 numbers, which are int8 with one float16 scale a row:

    >>> import libgather
    >>> row = b"\\x00\\x38" + bytes(range(32))
    >>> table = libgather.Packed("q8_0", row * 8, (8, 32))
    >>> table
    libgather.Packed('q8_0', shape=(8, 32), dtype='float32', nbytes=272, 8.5 bits a number)
    >>> libgather.gather(table, [7])[0][:4].tolist()
    [0.0, 0.5, 1.0, 1.5]
    """

    __slots__ = ("_codec", "_given", "_nbytes")

    def __init__(
        self,
        codec: str | Codec | None,
        data: t.Any,
        shape: t.Sequence[int] | int | None = None,
        *,
        scales: t.Any = None,
        zeros: t.Any = None,
        block: int | None = None,
        dtype: t.Any = "float32",
        factor: float | None = None,
    ) -> None:
        rows = enter_rows(data)
        self._codec = codec_of(codec, rows, scales, zeros, block, factor)
        struct, table = self._codec._struct()
        dims, row = dims_of(struct, rows, shape)
        parts = [part_of(name, value, len(dims)) for name, value in (("scales", scales), ("zeros", zeros))]
        holds = [hold(each) for each in (data, scales, zeros) if hasattr(each, "shape")]
        handle = borrowed(struct, rows, parts, dims, number_of(dtype))
        memory = PackedMemory._of_handle(handle, (rows, parts, table, holds))
        self._register(memory, like_of(data, memory.dtype))
        self._nbytes: int = row * math.prod(dims[:-1]) + sum(size_of(each._dtype) * each.size for each in parts if each)
        self._given: t.Any = (codec, data, dims, scales, zeros, block, self.dtype, factor)

    # ----------------------------------------------------------------------------------------------- other libraries

    @classmethod
    def from_torch_rowwise(cls, tensor: t.Any, bits: int = 8, *, dtype: t.Any = "float32") -> t.Self:
        """Returns the table of ``torch.ops.quantized.embedding_bag_{byte,4bit,2bit}_prepack``, and of FBGEMM.

        Args:
            tensor: The prepacked rows, as an array of uint8.
            bits: 8, 4 or 2: those of a number.
        """
        return cls(f"rowwise{bits}", tensor, dtype=dtype)

    @classmethod
    def from_torch_quantized(cls, tensor: t.Any, *, dtype: t.Any = "float32") -> t.Self:
        """Returns the table of a tensor of torch of dtype qint8 or quint8. Its codes are copied once.

        The scales of channels become float32. If they are not float32 numbers, ``dequantize`` of torch has other
        roundings.

        Raises:
            UnsupportedError: It has another dtype, or channels along another axis than 0.
        """
        codec, data, scales, zeros = packed_sources.of_torch_quantized(tensor)
        return cls(codec, data, scales=scales, zeros=zeros, dtype=dtype)

    @classmethod
    def from_gguf(cls, tensor: t.Any, *, dtype: t.Any = "float32", factor: float | None = None) -> t.Self:
        """Returns the table of a ``ReaderTensor`` of gguf, without a copy.

        Raises:
            OptionError: The type of the tensor is not one of packed rows. Its `data` then has the numbers.
        """
        shape = [int(extent) for extent in reversed(tensor.shape)]
        return cls(tensor.tensor_type.name.lower(), tensor.data, shape, dtype=dtype, factor=factor)

    @classmethod
    def from_ort(
        cls,
        data: t.Any,
        scales: t.Any,
        zero_points: t.Any = None,
        bits: int = 4,
        block_size: int = 128,
        *,
        dtype: t.Any = None,
    ) -> t.Self:
        """Returns the table of the initialisers of ``GatherBlockQuantized`` of ONNX Runtime.

        Args:
            data: Arrays of NumPy, or ``onnx.TensorProto``: uint8 with 8 / `bits` codes a byte, or int4, uint4, float8
                or float4_e2m1fn of ml_dtypes.
            scales: A scale for each block of a row.
            zero_points: As `data`. None is 0, and for uint8 the middle code.
            bits: The bits of a code of uint8: 8, 4 or 2.
            block_size: The numbers of a block. 0 is a whole row.
            dtype: That of results. None means that of `scales`.

        Raises:
            UnsupportedError: `data` has another dtype.
        """
        codec, data, shape, scales, zeros = packed_sources.of_ort(data, scales, zero_points, bits)
        dtype, block = scales.dtype if dtype is None else dtype, block_size or None
        return cls(codec, data, shape, scales=scales, zeros=zeros, block=block, dtype=dtype)

    # -------------------------------------------------------------------------------------------------- properties

    @property
    def codec(self) -> Codec:
        """The format of the rows."""
        return self._codec

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the numbers."""
        return self._memory.shape

    @property
    def ndim(self) -> int:
        """The rank."""
        return len(self.shape)

    @property
    def dtype(self) -> str:
        """The name of the dtype of results."""
        return self._memory.dtype

    @property
    def nbytes(self) -> int:
        """The bytes of the rows, the scales and the zero points."""
        return self._nbytes

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        numbers = math.prod(self.shape)
        bits = f", {8 * self.nbytes / numbers:.4g} bits a number" if numbers else ""
        form = f"shape={self.shape}, dtype={self.dtype!r}, nbytes={self.nbytes}{bits}"
        return f"libgather.Packed({self._codec.name!r}, {form})"

    def dequantize(self) -> t.Any:
        """Returns all numbers, as a gather of all rows does.

        >>> import libgather
        >>> libgather.Packed("int8", bytes([1, 2, 254, 3]), (2, 2), scales=0.5).dequantize().tolist()
        [[0.5, 1.0], [-1.0, 1.5]]
        """
        # A tuple without components selects the whole table.
        return run_arrays(c.OP_GATHER_ND, self, array("q"), None, *Request())

    def _leave(self, tensor: Memory) -> t.Any:
        like = self._like
        return tensor if like is None else call_library(kind_of(like).leave, tensor, "out", like)

    def __reduce__(self) -> tuple[t.Any, ...]:
        return _packed_again, (type(self), *self._given)


def _packed_again(
    kind: type[Packed],
    codec: t.Any,
    data: t.Any,
    shape: t.Any,
    scales: t.Any,
    zeros: t.Any,
    block: int | None,
    dtype: str,
    factor: float | None,
) -> Packed:
    """Creates a table again after it was copied or pickled."""
    return kind(codec, data, shape, scales=scales, zeros=zeros, block=block, dtype=dtype, factor=factor)


# --------------------------------------------------------------------------------------------------------- arguments


def enter_rows(data: t.Any) -> Memory:
    """Returns the Memory of an array of bytes. The bytes of a row are contiguous."""
    from .._arrays import lists

    if kind_of(data) is lists or isinstance(data, PackedRows):
        raise errors.dtype_error("data", f"{type(data).__name__} is no array of bytes")
    rows = enter(data, None, "data")[0]
    size = size_of(rows._dtype)
    if size != 1 and rows._dtype != c.DTYPE_UINT32:
        raise errors.dtype_error("data", f"{rows.dtype} is no dtype of bytes: a view as uint8 is")
    if rows.ndim == 0:
        raise errors.RankError("data: rank is 0, and rows have a dim", status=c.E_RANK, operand="data", limit=1)
    if rows.shape[-1] > 1 and rows.strides[-1] != size and 0 not in rows.shape:
        raise errors.ShapeError("data: the bytes of a row are not contiguous", status=c.E_STRIDE, operand="data")
    return rows


def codec_of(
    codec: str | Codec | None, rows: Memory, scales: t.Any, zeros: t.Any, block: int | None, factor: float | None
) -> Codec:
    """Returns the codec with the fields that the other arguments change."""
    changed: dict[str, t.Any] = {}
    if codec is None:
        codec = _OF_DTYPE.get(rows._dtype)
        if codec is None:
            raise errors.dtype_error("data", f"{rows.dtype} needs a codec")
        changed |= {} if scales is not None else {"scale_place": "none"}
    if isinstance(codec, str):
        codec = Codec(codec)
    if not isinstance(codec, Codec):
        raise errors.dtype_error("codec", f"{type(codec).__name__} is neither a name nor a Codec")
    if is_number(zeros):
        changed |= {"zero_place": "none", "zero": zeros}
    elif zeros is not None and codec._struct()[0].zero_place == c.PLACE_NONE:
        changed |= {"zero_place": "operand", "zero": 0}
    given = {"block_values": block, "factor": factor}
    changed |= {name: value for name, value in given.items() if value is not None}
    return Codec(codec.name, **codec.fields | changed) if changed else codec


def is_number(value: t.Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def dims_of(codec: t.Any, rows: Memory, shape: t.Any) -> tuple[tuple[int, ...], int]:
    """Returns the shape of the numbers and the bytes of a row. Raises ShapeError if these are not those of the data."""
    lead, has = rows.shape[:-1], rows.shape[-1] * size_of(rows._dtype)
    if shape is None:
        return (*lead, most_values(codec, has)), has
    dims = integers("shape", shape) if hasattr(shape, "__iter__") else (*lead, integer("shape", shape))
    if not dims:
        raise errors.RankError("shape: rank is 0, and rows have a dim", status=c.E_RANK, operand="data", limit=1)
    row = row_bytes(codec, dims[-1])
    total = row * math.prod(dims[:-1])
    fits = (dims[:-1] == lead and row == has) or (rows.ndim == 1 and total == has)
    if fits and 0 <= min(dims) <= max(dims) < 2**63:
        return dims, row
    message = f"data: shape {dims} has rows of {row} bytes, the bytes have shape {(*lead, has)}"
    raise errors.ShapeError(message, status=c.E_SIZE, operand="data", value=has, limit=row)


def most_values(codec: t.Any, has: int) -> int:
    """Returns the largest number of values in a row of `has` bytes. A row grows in equal steps with its blocks."""
    unit = math.lcm(256, max(1, codec.block_values))
    step = row_bytes(codec, 2 * unit) - row_bytes(codec, unit)
    values, rest = divmod((has - (row_bytes(codec, unit) - step)) * unit, max(1, step))
    try:
        if rest == 0 and values >= 0 and row_bytes(codec, values) == has:
            return values
    except errors.Error:
        pass
    message = f"data: no row of the codec has {has} bytes"
    raise errors.ShapeError(message, status=c.E_SIZE, operand="data", value=has)


def borrowed(codec: t.Any, rows: Memory, parts: list[Memory | None], dims: tuple[int, ...], dtype: int) -> t.Any:
    """Returns the handle of a table. Rows of one run of bytes follow each other."""
    others = [NULL if part is None else described(part) for part in parts]
    codec.scales, codec.zeros = others
    desc, room, is_run = new("gth_tensor_desc"), extents(dims), rows.ndim != len(dims)
    steps = NULL if is_run else extents((*rows.strides[:-1], 0))
    desc.dtype, desc.ndim, desc.shape, desc.strides, desc.codec = dtype, len(dims), room, steps, codec
    _, desc.device, desc.device_id, _, _, _, address, desc.offset = rows._desc
    desc.data, desc.flags = ffi.cast("void *", address), c.TENSOR_READONLY
    try:
        return created(lib.gth_tensor_borrow, desc)
    except errors.Error as error:
        error.rename("data")
        raise


def part_of(name: str, value: t.Any, ndim: int) -> Memory | None:
    """Returns the Memory of scales or zeros, with a dim for each one of the table."""
    from .._arrays import lists

    if value is None or (name == "zeros" and is_number(value)):
        return None
    of_lists = kind_of(value) is lists
    part = of_python(value, c.DTYPE_FLOAT32, None, name) if of_lists else enter(value, None, name)[0]
    if part.ndim == 0:
        return reshaped(part, (1,) * ndim, (0,) * ndim)
    if part.ndim == ndim - 1:
        return reshaped(part, (*part.shape, 1), (*part.strides, 0))
    return part


def reshaped(part: Memory, shape: tuple[int, ...], strides: tuple[int, ...]) -> Memory:
    dtype, *device, _, _, _, data, offset = part._desc
    keep = (part._handle, part._keep)
    return Memory._borrow(keep, data + offset, dtype, shape, strides, True, (device[0], device[1]))


def described(part: Memory) -> t.Any:
    """Returns the description of scales or zeros, which must outlive it."""
    desc = new("gth_tensor_desc")
    desc.tensor = part._live
    return desc


def like_of(data: t.Any, dtype: str) -> t.Any:
    """Returns an empty array of the kind and dtype of results, or None without NumPy."""
    from .._arrays import lists

    torch = packed_sources.torch_of(data)
    if torch is not None:
        return torch.empty(0, dtype=getattr(torch, dtype))
    numpy_ = lists.numpy_kind()
    return None if numpy_ is None else numpy_.array_named([], dtype)
