"""Calls the library from Python through cffi, without a compiler and without NumPy. Each call writes a buffer.

usage: caller.py LIBRARY HEADER
"""

import re
import sys
from array import array
from contextlib import ExitStack

try:
    from cffi import FFI
except ImportError:
    print("skipped: this Python has no cffi")
    sys.exit(77)


def declarations(header: str) -> str:
    """Returns the part of gather.h that cffi can parse: functions, structs and plain constants."""
    text = re.sub(r"/\*.*?\*/", "", header, flags=re.S).replace("\\\n", " ")
    text = re.sub(r"#ifdef __cplusplus\n.*?#endif\n", "", text, flags=re.S)
    constants = re.findall(r"^#define GTH_\w+ +-?\d+\s*$", text, flags=re.M)
    code = re.sub(r"^#.*$", "", text, flags=re.M).replace("GTH_API ", "").replace("GTH_EXPORT ", "")
    return "\n".join(constants) + code


DTYPES = {"b": 8, "h": 16, "i": 32, "q": 64, "B": 264, "H": 272, "I": 288, "Q": 320, "f": 544, "d": 576, "?": 1544}
OPTIONS = ("batch_dims", "profile", "opset", "negative", "bounds", "fill", "threads")


class GatherError(Exception):
    """A failed call. Its fields are those of gth_error."""

    def __init__(self, err, message):
        super().__init__(message)
        self.status, self.operand, self.component = err.status, err.operand, err.component
        self.position, self.value, self.limit = err.position, err.value, err.limit


class GatherIndexError(GatherError, IndexError):
    pass


class Library:
    def __init__(self, path, header):
        self.ffi = FFI()
        with open(header, encoding="utf-8") as file:
            self.ffi.cdef(declarations(file.read()))
        self.lib = self.ffi.dlopen(path)
        loaded, wanted = self.lib.gth_abi_version(), self.lib.GTH_ABI_VERSION
        if loaded != wanted:
            raise ImportError(f"library has ABI {loaded}, {wanted} is wanted")

    def new(self, kind):
        struct = self.ffi.new(kind + " *")
        struct.size = self.ffi.sizeof(kind)
        return struct

    def describe(self, values, keep):
        """Returns the description of a buffer of any shape. The ExitStack `keep` owns the memory that it points to."""
        view = memoryview(values)
        code = view.format.lstrip("@=<")
        dtype = {4: 32, 8: 64}[view.itemsize] + 256 * (code in "LN") if code in "lLnN" else DTYPES[code]
        desc = self.new("gth_tensor_desc")
        shape = self.ffi.new("int64_t[]", list(view.shape))
        keep.callback(self.ffi.release, shape)
        desc.dtype, desc.ndim, desc.shape = dtype, view.ndim, shape
        if view.readonly:
            desc.flags = self.lib.GTH_TENSOR_READONLY
        if view.nbytes:
            data = keep.enter_context(self.ffi.from_buffer(view))
            desc.data, desc.extent = data, view.nbytes
        return desc

    def call(self, function, *arguments):
        err = self.new("gth_error")
        status = function(*arguments, err)
        if status == self.lib.GTH_OK:
            return
        message = self.ffi.string(err.message).decode()
        raise (GatherIndexError if status == self.lib.GTH_E_INDEX else GatherError)(err, message)

    def gather(self, params, indices, *, out, axis=None, **switches):
        self._run(self.lib.gth_gather, params, indices, out, axis, switches)

    def gather_nd(self, params, indices, *, out, **switches):
        self._run(self.lib.gth_gather_nd, params, indices, out, None, switches)

    def _run(self, function, params, indices, out, axis, switches):
        options = self.new("gth_options")
        if axis is not None:
            options.has_axis, options.axis = 1, axis
        for name, value in switches.items():
            if name not in OPTIONS:
                raise TypeError(f"no option {name!r}")
            setattr(options, name, value)
        with ExitStack() as keep:
            p, i, o = (self.describe(values, keep) for values in (params, indices, out))
            self.call(function, self.ffi.NULL, p, i, o, options)

    def gather_shape(self, params, indices):
        request, rows = self.new("gth_request"), self.new("gth_tensor_desc")
        shape = self.ffi.new("int64_t[]", self.lib.GTH_MAX_NDIM)
        with ExitStack() as keep:
            p, i = self.describe(params, keep), self.describe(indices, keep)
            request.op, request.table, request.indices = self.lib.GTH_OP_GATHER, p, i
            self.call(self.lib.gth_infer, request, rows, self.lib.GTH_MAX_NDIM, shape)
        return tuple(shape[d] for d in range(rows.ndim))


def raises(kind, function, *arguments, **keywords):
    try:
        function(*arguments, **keywords)
    except kind as error:
        return error
    raise AssertionError(f"{kind.__name__} was not raised")


def matrix(values, *shape):
    return memoryview(values).cast("B").cast(memoryview(values).format, shape)


def main(path, header):
    gather = Library(path, header)
    lib = gather.lib

    table = matrix(array("f", range(12)), 4, 3)
    out = matrix(array("f", [-1] * 6), 2, 3)
    assert gather.gather_shape(table, array("q", [3, 1])) == (2, 3)
    gather.gather(table, array("q", [3, 1]), out=out)
    assert out.tolist() == [[9, 10, 11], [3, 4, 5]], out.tolist()

    columns = matrix(array("f", [-1] * 8), 4, 2)
    gather.gather(table, bytes([2, 0]), out=columns, axis=1)
    assert columns.tolist() == [[2, 0], [5, 3], [8, 6], [11, 9]], columns.tolist()

    picked = bytearray(3)
    gather.gather_nd(matrix(b"abcdef", 2, 3), matrix(array("h", [1, 2, 0, 0, 1, 0]), 3, 2), out=picked)
    assert picked == b"fad", picked

    before = out.tolist()
    error = raises(IndexError, gather.gather, table, array("i", [0, -5]), out=out, negative=lib.GTH_NEGATIVE_WRAP)
    assert (error.status, error.operand, error.component) == (lib.GTH_E_INDEX, lib.GTH_OPERAND_INDICES, 0)
    assert (error.position, error.value, error.limit) == (1, -5, 4) and str(error)
    assert out.tolist() == before
    gather.gather(table, array("i", [0, -5]), out=out, negative=lib.GTH_NEGATIVE_WRAP, bounds=lib.GTH_BOUNDS_CLAMP)
    assert out.tolist() == [[0, 1, 2], [0, 1, 2]], out.tolist()

    gather.gather(table, array("i"), out=matrix_of_no_rows(3))
    error = raises(GatherError, gather.gather, table, array("q", [0]), out=bytes(12))
    assert error.status == lib.GTH_E_DTYPE
    assert (error.value, error.limit) == (lib.GTH_DTYPE_UINT8, lib.GTH_DTYPE_FLOAT32)
    error = raises(GatherError, gather.gather, b"abc", array("q", [0]), out=bytes(1))
    assert error.status == lib.GTH_E_READONLY and error.operand == lib.GTH_OPERAND_OUT
    error = raises(GatherError, gather.gather, table, array("f", [0]), out=out)
    assert error.status == lib.GTH_E_DTYPE and error.operand == lib.GTH_OPERAND_INDICES

    print("python: accepts any buffer, writes out= in place, and raises IndexError for an index out of bounds")


def matrix_of_no_rows(width):
    """Returns a float32 buffer of shape (0, width). ctypes creates it, because memoryview.cast does not allow it."""
    from ctypes import c_float

    return memoryview(((c_float * width) * 0)())


if __name__ == "__main__":
    main(*sys.argv[1:])
