"""Packed rows of torch and of ONNX Runtime, in the form of :class:`libgather.Packed`."""

from __future__ import annotations

import sys

from .. import errors
from .._base.optional_packages import module
from .codec import Codec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: The codec and the bits of the dtypes of GatherBlockQuantized, without uint8.
_ORT = {
    "int4": ("int4", 4),
    "uint4": ("uint4", 4),
    "float8_e4m3fn": ("fp8_e4m3fn", 8),
    "float8_e5m2": ("fp8_e5m2", 8),
    "float4_e2m1fn": ("e2m1", 4),
}


def torch_of(array: Any) -> Any:
    """Returns torch if it has made the array, else None."""
    torch = sys.modules.get("torch")
    return torch if torch is not None and isinstance(array, torch.Tensor) else None


def of_torch_quantized(tensor: Any) -> tuple[str, Any, Any, Any]:
    """Returns the codec, the rows, the scales and the zero points of a quantised tensor."""
    torch = module("torch")
    codec = {torch.qint8: "int8", torch.quint8: "uint8"}.get(getattr(tensor, "dtype", None))
    if codec is None:
        raise errors.unsupported("data", "it is no tensor of qint8 or quint8")
    codes = tensor.int_repr()
    if tensor.qscheme() in (torch.per_tensor_affine, torch.per_tensor_symmetric):
        return codec, codes, tensor.q_scale(), tensor.q_zero_point()
    if tensor.q_per_channel_axis() != 0:
        raise errors.unsupported("data", f"its channels are along axis {tensor.q_per_channel_axis()}, not 0")
    form = (-1, *(1,) * (tensor.dim() - 1))
    scales = tensor.q_per_channel_scales().to(torch.float32).reshape(form)
    return codec, codes, scales, tensor.q_per_channel_zero_points().to(torch.float32).reshape(form)


def of_ort(data: Any, scales: Any, zero_points: Any, bits: int) -> tuple[Codec, Any, Any, Any, Any]:
    """Returns the codec, the rows, their shape, the scales and the zero points of the operator's initialisers."""
    numpy = module("numpy")
    data, scales = array_of(data), array_of(scales)
    shape = None
    if data.dtype == numpy.uint8:
        if bits not in (8, 4, 2):
            raise errors.unsupported("data", f"uint8 has codes of 8, 4 or 2 bits, not {bits}")
        codec = Codec(f"uint{bits}", zero=2 ** (bits - 1))
    elif data.dtype.name in _ORT:
        codec, data, bits, shape = of_codes(data)
    else:
        raise errors.unsupported("data", f"{data.dtype} is no dtype of GatherBlockQuantized")
    if zero_points is None:
        return codec, data, shape, scales, None
    zeros = array_of(zero_points)
    if zeros.dtype.name in ("int4", "uint4"):
        return codec, data, shape, scales, zeros.astype(numpy.int8 if zeros.dtype.name == "int4" else numpy.uint8)
    return codec, data, shape, scales, zeros if bits == 8 else codes_of(zeros, bits, scales.shape[-1])


def of_codes(codes: Any) -> tuple[Codec, Any, int, tuple[int, ...]]:
    """Returns the codec, the rows, the bits and the shape of codes that have a byte each.

    Two codes of 4 bits share a byte, unless rows of int4 and uint4 would end in the middle of one.
    """
    name, bits = _ORT[codes.dtype.name]
    if bits == 8 or (codes.shape[-1] % 2 and name in ("int4", "uint4")):
        whole = {"int4": "int8", "uint4": "uint8"}
        data = codes.astype(whole[name]) if name in whole else codes
        return Codec(whole.get(name, name), zero=0), data, bits, codes.shape
    if codes.shape[-1] % 2:
        raise errors.unsupported("data", f"a row of {codes.shape[-1]} codes of 4 bits ends in the middle of a byte")
    data = module("numpy").ascontiguousarray(codes).view("u1") & 15
    return Codec(name), data[..., ::2] | data[..., 1::2] << 4, bits, codes.shape


def array_of(initialiser: Any) -> Any:
    """Returns an initialiser as an array of NumPy."""
    if hasattr(initialiser, "raw_data"):
        return module("onnx.numpy_helper").to_array(initialiser)
    return module("numpy").asarray(initialiser)


def codes_of(packed: Any, bits: int, count: int) -> Any:
    """Returns a byte for each code of rows whose low bits are first. Their last byte may have more than `count`."""
    numpy = module("numpy")
    shifts = numpy.arange(0, 8, bits, dtype=numpy.uint8)
    codes = packed[..., None] >> shifts & numpy.uint8(2**bits - 1)
    codes = codes.reshape(*packed.shape[:-1], -1)
    return codes[..., :count] if codes.shape[-1] - count < 8 // bits else codes
