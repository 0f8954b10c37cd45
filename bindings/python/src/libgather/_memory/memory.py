"""Memory: a tensor handle over an array of any kind. This module depends on no kind of array."""

from __future__ import annotations

import math
from functools import cache
from itertools import accumulate, count, pairwise

from .. import _objects, errors
from .. import types as t
from .._base import constants as c
from .._base.cuda_streams import LEGACY, stream_number
from .._base.devices import is_host, name_of
from .._base.dtypes import NAMES, format_of, size_of, typestr_of
from .._base.library import NULL, ffi, lib, token
from .._base.library_calls import call, created, extents, new
from .context import Context, pointer_of

# The fields of a description that names a handle.
_NO_MEMORY = (0, 0, 0, 0, (), None, 0, 0)
# sizeof(struct ArrowSchema) and sizeof(struct ArrowArray). The Arrow C data interface fixes both.
_ARROW_SCHEMA, _ARROW_ARRAY = 72, 80


class Memory:
    """A tensor handle of the library, and the object that keeps its memory alive."""

    # _origin: the array that owns the memory. Its library may have to be notified of writes.
    __slots__ = ("__weakref__", "_context", "_described", "_handle", "_keep", "_origin", "_text")

    _handle: t.Any
    _keep: t.Any
    _origin: t.Any
    _described: t.Any
    _text: bool
    _context: Context | None

    # --------------------------------------------------------------------------------------------------------- creation

    @classmethod
    def _of_handle(cls, handle: t.Any, keep: t.Any = None, text: bool = True, context: Context | None = None) -> t.Self:
        tensor = cls.__new__(cls)
        tensor._handle, tensor._keep, tensor._text, tensor._described = handle, keep, text, None
        tensor._origin = None
        tensor._context = context if context is not None and context._is_device else None
        return tensor

    @classmethod
    def _borrow(
        cls,
        keep: t.Any,
        address: int,
        dtype: int,
        shape: tuple[int, ...],
        strides: tuple[int, ...] | None,
        readonly: bool,
        device: tuple[int, int] = (c.DEVICE_CPU, 0),
        context: Context | None = None,
    ) -> t.Self:
        """Creates a tensor over memory that `keep` keeps alive. Element 0 is at `address`.

        With a context, `keep` is held until the context's stream has finished the work that uses the memory.
        """
        below = 0
        if strides is not None and 0 not in shape:
            below = sum(-stride * (extent - 1) for stride, extent in zip(strides, shape, strict=True) if stride < 0)
        desc = new("gth_tensor_desc")
        room = extents(shape)
        steps = NULL if strides is None else extents(strides)
        desc.dtype, desc.ndim, desc.shape, desc.strides = dtype, len(shape), room, steps
        desc.device, desc.device_id = device
        desc.data, desc.offset = ffi.cast("void *", address - below), below
        desc.flags = c.TENSOR_READONLY if readonly else 0
        if context is not None:
            return cls._of_handle(_adopted(context, desc, keep))
        handle = created(lib.gth_tensor_borrow, desc)
        return cls._of_handle(handle, keep)

    @classmethod
    def _of_strings(cls, strings: list[t.Any], shape: tuple[int, ...], text: bool) -> t.Self:
        encoded = [string.encode("utf-8", "surrogatepass") for string in strings] if text else strings
        offsets = extents([0, *accumulate(map(len, encoded))])
        joined = b"".join(encoded)
        data = ffi.from_buffer(joined)
        handle = created(
            lib.gth_tensor_from_strings,
            NULL,
            0 if text else c.STRINGS_BINARY,
            len(shape),
            extents(shape),
            offsets,
            data,
            len(joined),
            NULL,
            NULL,
        )
        return cls._of_handle(handle, (offsets, data, joined), text)

    def _viewed(self, dtype: int, shape: tuple[int, ...]) -> Memory:
        """Returns the same dense memory with another dtype of the same size, or with another shape."""
        readonly = bool(self._desc[3] & c.TENSOR_READONLY)
        keep = (self._handle, self._keep)
        return Memory._borrow(keep, self._desc[6] + self._desc[7], dtype, shape, None, readonly, self._desc[1:3])

    # ------------------------------------------------------------------------------------------------------- properties

    @property
    def _live(self) -> t.Any:
        if self._handle is None:
            raise errors.closed("tensor")
        return self._handle

    @property
    def _desc(self) -> t.Any:
        """The library's description: (dtype, device, device_id, flags, shape, strides, data, offset)."""
        handle = self._live
        if self._described is None:
            desc = new("gth_tensor_desc")
            call(lib.gth_tensor_describe, handle, desc)
            shape, strides = (
                tuple(ffi.unpack(values, desc.ndim)) if values != NULL and desc.ndim else ()
                for values in (desc.shape, desc.strides)
            )
            self._described = (
                desc.dtype,
                desc.device or c.DEVICE_CPU,
                desc.device_id,
                desc.flags,
                shape,
                strides,
                token(desc.data),
                desc.offset,
            )
        return self._described

    def _operand(self) -> tuple[t.Any, ...]:
        """Returns a description that names the handle (native/described.c). It holds the handle and the memory."""
        handle = self._live
        return (*_NO_MEMORY, token(handle), handle, self._keep)

    def _described_operand(self) -> tuple[t.Any, ...]:
        """The same as `_operand` with the memory, for a comparison with a plan."""
        return (*self._desc, 0, self._live, self._keep)

    @property
    def _host_handle(self) -> tuple[int, t.Any] | None:
        """The handle for the C code: its number, and the object that keeps it alive.

        None for strings, for memory on a device, and for memory that a stream may use.
        """
        handle = self._handle
        if handle is None or self._context is not None:
            return None
        dtype, device, *_ = self._desc
        return (token(handle), handle) if device == c.DEVICE_CPU and dtype != c.DTYPE_STRING else None

    @property
    def _live_context(self) -> Context | None:
        """The context whose stream may use the tensor, or None. A closed context has already waited for its stream."""
        return None if self._context is None or self._context._closed else self._context

    @property
    def _dtype(self) -> int:
        return self._desc[0]  # type: ignore[no-any-return]

    @property
    def dtype(self) -> str:
        """The name of the dtype, such as ``"float32"``."""
        return NAMES[self._desc[0]]

    @property
    def shape(self) -> tuple[int, ...]:
        """The size of each dim."""
        return self._desc[4]  # type: ignore[no-any-return]

    @property
    def strides(self) -> tuple[int, ...]:
        """The strides in bytes. A string tensor has no strides, and the value is ()."""
        return self._desc[5]  # type: ignore[no-any-return]

    @property
    def ndim(self) -> int:
        """The rank."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def device(self) -> str:
        """The name of the device: ``"cpu"``, ``"cuda:0"`` and so on."""
        return name_of(self._desc[1:3])

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a tensor of rank 0 has no length")
        return self.shape[0]

    # ----------------------------------------------------------------------------------------------------------- export

    def memory(self) -> memoryview:
        """Returns the elements as a memoryview of the tensor's shape, without a copy.

        Dtypes without a letter in Python (bfloat16, float8) appear as unsigned integers of the same size.

        >>> import libgather
        >>> libgather.Tensor(bytearray(b"abc")).memory().tolist()
        [97, 98, 99]
        """
        dtype, _, _, flags, shape, strides, data, offset = self._desc
        if dtype == c.DTYPE_STRING:
            raise BufferError("strings have no memory of one size an element")
        if not is_host(self._desc[1:3]):
            raise BufferError("the memory of a device is not the host's: tolist() and copy_to() copy it")
        readonly = bool(flags & c.TENSOR_READONLY)
        size = size_of(dtype)
        owner = (self._handle, self._keep)  # not the tensor, which may be closed earlier
        return _objects.view(owner, data + offset, format_of(dtype), size, shape, strides, readonly)

    def strings(self) -> list[bytes]:
        """Returns the elements of a string tensor in row-major order."""
        offsets, data = ffi.new("int64_t **"), ffi.new("void **")
        call(lib.gth_tensor_strings, self._live, offsets, data)
        ends = ffi.unpack(offsets[0], self.size + 1)
        memory = bytes(ffi.buffer(data[0], ends[-1])) if ends[-1] else b""
        return [memory[begin:end] for begin, end in pairwise(ends)]

    def _words(self) -> list[t.Any]:
        """Returns the elements of a string tensor in row-major order as str or bytes."""
        strings = self.strings()
        return [string.decode("utf-8", "surrogatepass") for string in strings] if self._text else strings

    def close(self) -> None:
        """Releases the memory. Each later use raises Error. Arrays that were made of the tensor stay valid."""
        # Another tensor or a view of the memory may hold the handle too. The last holder releases it.
        self._handle = self._keep = self._described = self._origin = None

    def __enter__(self) -> t.Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._desc[1:3]  # type: ignore[no-any-return]

    def _order_before(self, stream: int | None) -> None:
        """Orders a consumer's stream after the work on the tensor.

        `stream` is as in ``__dlpack__``: -1 means no order.
        """
        context = self._live_context
        if context is None or stream == -1:
            return
        number = LEGACY if stream is None else stream_number(stream)
        if not context._is_here:
            # The legacy stream is ordered with the per-thread stream of the thread that created the context.
            context.wait(LEGACY)
        if number != context._number:
            context.signal(number)

    @property
    def __cuda_array_interface__(self) -> dict[str, t.Any]:
        """The interface for numba, PyCUDA and other libraries without DLPack. Only device memory has it."""
        dtype, device, _, flags, shape, strides, data, offset = self._desc
        if device not in (c.DEVICE_CUDA, c.DEVICE_CUDA_MANAGED):
            raise AttributeError("only memory of a device has a __cuda_array_interface__")
        interface = {
            "shape": shape,
            "typestr": typestr_of(dtype),
            "data": (data + offset, bool(flags & c.TENSOR_READONLY)),
            "strides": strides,
            "version": 3,
        }
        context = self._live_context
        return interface if context is None else {**interface, "stream": context._number}

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> t.Any:
        self._order_before(stream)
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(f"the tensor is on device {self.__dlpack_device__()}")
        flags = {None: 0, True: c.EXPORT_COPY, False: c.EXPORT_NO_COPY}[copy]
        versioned = max_version is not None and max_version[0] >= 1
        kind = "struct DLManagedTensorVersioned **" if versioned else "struct DLManagedTensor **"
        export = lib.gth_tensor_to_dlpack if versioned else lib.gth_tensor_to_dlpack_legacy
        out = ffi.new(kind)
        try:
            call(export, pointer_of(self._live_context), self._live, flags, out)
        except errors.Error as error:
            raise BufferError(str(error)) from error
        return _objects.dlpack_capsule(token(out[0]), versioned)

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        """Exports a string tensor as an array of one dim in row-major order."""
        schema, array = ffi.new("int64_t[]", _ARROW_SCHEMA // 8), ffi.new("int64_t[]", _ARROW_ARRAY // 8)
        structs = ffi.cast("struct ArrowSchema *", schema), ffi.cast("struct ArrowArray *", array)
        call(lib.gth_tensor_to_arrow, NULL, self._live, 0, *structs)
        return _objects.arrow_capsules(token(schema), token(array))


# ------------------------------------------------------------------------------------------- memory of other owners

# The owners of device memory by number. Each is kept until the stream has finished the work that uses the memory.
_owners: dict[int, t.Any] = {}
_numbers = count(1)


@cache
def _deleter() -> t.Any:
    """Returns the deleter that the library calls, on any thread. It is created at the first use."""

    @ffi.callback("void(void *)")  # type: ignore[untyped-decorator]
    def release_owner(user: t.Any) -> None:
        _owners.pop(int(ffi.cast("uintptr_t", user)), None)

    return release_owner


def _adopted(context: Context, desc: t.Any, owner: t.Any) -> t.Any:
    """Creates a tensor whose owner is kept until the context's stream has finished the work that uses it."""
    number = next(_numbers)
    user = ffi.cast("void *", number)
    _owners[number] = owner
    try:
        return created(lib.gth_tensor_adopt, context._pointer, desc, _deleter(), user)
    except errors.Error:
        del _owners[number]
        raise
