"""Other libraries on the same memory. Each returns its contenders for a cell."""

import ctypes
import importlib
import math

from .rounds import Contender

# Typical element types by size.
ELEMENTS = {8: "float64", 4: "float32", 2: "int16", 1: "uint8"}
TYPE_STRINGS = {"float64": "<f8", "float32": "<f4", "int16": "<i2", "uint8": "|u1", "int32": "<i4", "int64": "<i8"}
SIZES = {name: int(text[-1]) for name, text in TYPE_STRINGS.items()}


class NotHere(Exception):
    """The reason why a peer has no contender."""


def explain(reason):
    """Returns one line of an exception."""
    if isinstance(reason, NotHere):
        return str(reason)
    first = (str(reason).strip() or "no reason given").splitlines()[0]
    return f"{type(reason).__name__}: {first[:150]}"


class Shapes:
    """The tensors of a cell in the usual form of array libraries: without dims of extent 1, and with typical element
    types."""

    def __init__(self, cell):
        size = cell.row if cell.row in ELEMENTS else next(s for s in (4, 2, 1) if cell.row % s == 0)
        while cell.offset % size:
            size //= 2
        self.dtype = ELEMENTS[size]
        self.index = f"int{8 * cell.index_bytes}"
        self.row = [cell.row // size] if cell.row > size else []
        self.batch = [cell.batch] if cell.batch > 1 else []
        self.lead = self.batch + ([cell.outer] if cell.outer > 1 else [])
        self.axis = len(self.lead)
        self.picked = cell.n // cell.batch
        self.params = [*self.lead, *cell.dims, *self.row]
        self.indices = self.batch + [self.picked] + ([cell.depth] if cell.depth else [])
        self.out = [*self.lead, self.picked, *self.row]


class Array:
    """Memory with __cuda_array_interface__, or with NumPy's __array_interface__."""

    def __init__(self, address, dtype, shape, is_device):
        interface = {
            "shape": tuple(shape),
            "typestr": TYPE_STRINGS[dtype],
            "data": (address, False),
            "strides": None,
            "version": 3,
        }
        setattr(self, "__cuda_array_interface__" if is_device else "__array_interface__", interface)


class Stream:
    """A stream in the form that other libraries accept."""

    def __init__(self, handle):
        self._handle = handle

    def __cuda_stream__(self):
        return 0, self._handle


def host_bytes(address, size):
    return (ctypes.c_uint8 * size).from_address(address)


def repeat(once):
    """Returns run(times) for a function that runs once."""

    def run(times):
        for _ in range(times):
            once()

    return run


def kept(once, address):
    """Returns Contender.once for a function that returns a result."""

    def pair():
        result = once()
        return address(result), result

    return pair


class Torch:
    name = "torch"

    def __init__(self, library, is_device):
        self._torch = importlib.import_module("torch")
        self._is_device = is_device
        if is_device:
            if not self._torch.cuda.is_available():
                raise NotHere("torch without CUDA")
            self._torch.cuda.set_stream(self._torch.cuda.ExternalStream(library.stream_handle()))

    def version(self):
        return self._torch.__version__

    def release_memory(self):
        if self._is_device:
            self._torch.cuda.empty_cache()

    def view(self, address, dtype, shape):
        if self._is_device:
            return self._torch.as_tensor(Array(address, dtype, shape, True), device="cuda")
        count = math.prod(shape)
        memory = host_bytes(address, count * SIZES[dtype])
        return self._torch.frombuffer(memory, dtype=getattr(self._torch, dtype), count=count).view(shape)

    def contenders(self, cell, operands, clock):
        shapes = Shapes(cell)
        params = self.view(operands.params, shapes.dtype, shapes.params)
        indices = self.view(operands.indices, shapes.index, shapes.indices)
        out = self.view(operands.out, shapes.dtype, shapes.out)
        for name, once in self._ways(cell, shapes, params, indices, out):
            yield Contender(name, "peer", repeat(once), clock, kept(once, lambda result: result.data_ptr()))

    def _ways(self, cell, shapes, params, indices, out):
        torch = self._torch
        if cell.depth:
            components = indices.unbind(-1)
            yield "torch x[i, ..]", lambda: params[components]
            return
        if not shapes.batch:
            yield "torch.index_select", lambda: torch.index_select(params, shapes.axis, indices, out=out)
            place = (*[slice(None)] * shapes.axis, indices)
            yield "torch x[i]", lambda: params[place]
            if shapes.axis == 0:
                weight = params.view(params.shape[0], -1)
                yield "torch embedding", lambda: torch.nn.functional.embedding(indices, weight)
        elif len(shapes.lead) == 1:
            batches = torch.arange(cell.batch, device=indices.device)[:, None]
            yield "torch x[i]", lambda: params[batches, indices]
        if cell.index_bytes == 8:  # torch accepts no other index types
            everywhere = indices.view(
                *shapes.batch, *[1] * (len(shapes.lead) - len(shapes.batch)), shapes.picked, *[1] * len(shapes.row)
            ).expand(shapes.out)
            yield "torch.gather", lambda: torch.gather(params, shapes.axis, everywhere, out=out)


class CuPy:
    name = "CuPy"

    def __init__(self, library, is_device):
        if not is_device:
            raise NotHere("a rehearsal has no device for it")
        self._cupy = importlib.import_module("cupy")
        self._stream = self._cupy.cuda.Stream.from_external(Stream(library.stream_handle()))
        self._stream.use()

    def version(self):
        return self._cupy.__version__

    def release_memory(self):
        self._cupy.get_default_memory_pool().free_all_blocks()

    def view(self, address, dtype, shape):
        size = math.prod(shape) * SIZES[dtype]
        memory = self._cupy.cuda.UnownedMemory(address, size, self)
        return self._cupy.ndarray(shape, dtype, self._cupy.cuda.MemoryPointer(memory, 0))

    def contenders(self, cell, operands, clock):
        shapes = Shapes(cell)
        params = self.view(operands.params, shapes.dtype, tuple(shapes.params))
        indices = self.view(operands.indices, shapes.index, tuple(shapes.indices))
        out = self.view(operands.out, shapes.dtype, tuple(shapes.out))
        for name, once in self._ways(cell, shapes, params, indices, out):
            yield Contender(name, "peer", repeat(once), clock, kept(once, lambda result: result.data.ptr))

    def _ways(self, cell, shapes, params, indices, out):
        if cell.depth:
            components = tuple(indices[:, k] for k in range(cell.depth))
            yield "cupy x[i, ..]", lambda: params[components]
        elif not shapes.batch:
            yield "cupy.take", lambda: self._cupy.take(params, indices, axis=shapes.axis, out=out)
        elif len(shapes.lead) == 1:
            batches = self._cupy.arange(cell.batch)[:, None]
            yield "cupy x[i]", lambda: params[batches, indices]


class NumPy:
    """Replaces CuPy in a rehearsal, if it is installed."""

    name = "NumPy"

    def __init__(self, library, is_device):
        if is_device:
            raise NotHere("it has no device")
        self._numpy = importlib.import_module("numpy")

    def version(self):
        return self._numpy.__version__

    def release_memory(self):
        pass

    def view(self, address, dtype, shape):
        return self._numpy.asarray(Array(address, dtype, shape, False))

    def contenders(self, cell, operands, clock):
        shapes = Shapes(cell)
        if cell.depth or shapes.batch:
            raise NotHere("rehearsed without batch dims and tuples")
        params = self.view(operands.params, shapes.dtype, shapes.params)
        indices = self.view(operands.indices, shapes.index, shapes.indices)
        out = self.view(operands.out, shapes.dtype, shapes.out)

        def once():
            return self._numpy.take(params, indices, axis=shapes.axis, out=out, mode="clip")

        yield Contender("numpy.take", "peer", repeat(once), clock, kept(once, lambda result: result.ctypes.data))


def load(library, is_device, wanted):
    """Returns (the available peers, {name: reason} of the others)."""
    present, absent = [], {}
    for kind in (Torch, CuPy, NumPy):
        if kind is NumPy and is_device:
            continue
        try:
            if kind.name.lower() not in wanted:
                raise NotHere("not asked for")
            present.append(kind(library, is_device))
        except Exception as reason:  # any error that prevents another library from being used
            absent[kind.name] = explain(reason)
    return present, absent
