"""Tensors: arrays of the library, over their own memory or that of other arrays."""

from __future__ import annotations

from .. import _objects
from .. import types as t
from .._arrays.kinds import enter, enter_output, hold, loaded, written
from .._arrays.nested_lists import list_of
from .._base.devices import is_host
from .._base.dtypes import number_of
from .._base.integers import integers
from .._base.library import lib
from .._base.library_calls import created, extents
from .._memory.context import Context, handle_of, pointer_of
from .._memory.memory import Memory
from .site_of_call import site_of, site_of_copy


class Tensor(Memory):
    """An array of the library. It uses the memory of another array if that needs no copy.

    ``Tensor(array)`` saves repeated conversions, mainly of strings. Other libraries can read it by DLPack, by the
    buffer protocol (``memoryview(tensor.memory())``) or by ``numpy.asarray``. If `params` is a tensor, calls return a
    tensor. The tensor keeps the memory of the array, as for :meth:`Plan.bind`.

    Args:
        array: Any array that :func:`libgather.gather` accepts.
        context: For an array on a device: the context of its future calls.

    Raises:
        DTypeError: The argument is not an array, or its elements have no dtype of the library.

    >>> import libgather
    >>> words = libgather.Tensor(["one", "two", "three"])
    >>> libgather.gather(words, [2, 0]).tolist()
    ['three', 'one']
    >>> words.shape, words.dtype
    ((3,), 'string')
    """

    # _context: the context whose stream orders the use of device memory. None means no stream, or an unknown one.
    __slots__ = ()

    def __init__(self, array: t.Any, *, context: Context | None = None) -> None:
        array = loaded(array, "tensor")
        site = site_of(context, None, ("tensor", array))
        source = enter(array, site, "tensor")[0]
        self._handle: t.Any = source._handle
        self._keep: t.Any = (source._keep, source, hold(array))
        self._origin: t.Any = array
        self._text: bool = source._text
        self._described: t.Any = None
        self._context: Context | None = None if site is None else site.context
        if site is not None:
            site.finish(sync=False)

    @classmethod
    def zeros(cls, shape: t.Sequence[int], dtype: t.Any = "float32", *, context: Context | None = None) -> Tensor:
        """Creates a dense tensor of zeros on the context's device.

        >>> import libgather
        >>> libgather.Tensor.zeros((2, 2), "int32").tolist()
        [[0, 0], [0, 0]]
        """
        shape = integers("shape", shape)
        handle = created(
            lib.gth_tensor_alloc,
            pointer_of(context),
            number_of(dtype),
            len(shape),
            extents(shape),
        )
        return cls._of_handle(handle, context, context=context)

    def __copy__(self) -> Tensor:
        """Returns another tensor over the same memory."""
        return Tensor(self)

    def __deepcopy__(self, memo: object) -> Tensor:
        if self.dtype == "string":  # strings are immutable
            return Tensor(self)
        copy = Tensor.zeros(self.shape, self.dtype, context=self._live_context)
        self.copy_to(copy)
        return copy

    def __reduce__(self) -> t.Any:
        raise TypeError("a Tensor is of one process and cannot be pickled: pickle numpy.asarray() or tolist() of it")

    def __repr__(self) -> str:
        if self._handle is None:
            return "libgather.Tensor(closed)"
        return f"libgather.Tensor(shape={self.shape}, dtype={self.dtype!r}, device={self.device!r})"

    def _on_host(self) -> Memory:
        """Returns the tensor, or a copy on the host if it is on a device."""
        if is_host(self._desc[1:3]):
            return self
        copy = Tensor.zeros(self.shape, self.dtype)
        self.copy_to(copy)
        return copy

    def tolist(self) -> t.Any:
        """Returns the elements as nested lists, or as a scalar for rank 0."""
        return list_of(self._on_host())

    def copy_to(self, destination: t.Any, *, context: Context | None = None) -> None:
        """Copies all elements to an array of the same dtype and shape, which may be on another device.

        If exactly one of both is on a device, the call waits. It then raises the error of an earlier call, as
        :meth:`Context.sync` does.

        >>> import libgather
        >>> copy = bytearray(3)
        >>> libgather.Tensor(b"abc").copy_to(copy)
        >>> copy
        bytearray(b'abc')
        """
        site, waits = site_of_copy(context, self, destination)
        target = enter_output(destination, site)
        if site is not None:
            site.follow(self._live_context)
            context = site.context
        _objects.copy(handle_of(context), self._operand(), target._operand())
        written(destination)
        if site is not None:
            site.finish(sync=waits)

    def __array__(self, dtype: t.Any = None, copy: bool | None = None) -> t.Any:
        from .._arrays import numpy_

        array = numpy_.array_of(self)
        if dtype is not None and array.dtype != dtype:
            if copy is False:
                raise ValueError("another dtype needs a copy")
            return array.astype(dtype)
        return array.copy() if copy else array
