"""The functions of bench.hpp with Python names, and with exceptions instead of error codes."""

import ctypes
import json

LETTERS = {"i": ctypes.c_int32, "q": ctypes.c_int64, "p": ctypes.c_void_p}

# The parameter types of each function. All functions return 0 or 1.
SIGNATURES = {
    "open": "",
    "allocate": "qp",
    "free": "p",
    "set_bytes": "piq",
    "synchronize": "",
    "begin": "",
    "end": "p",
    "begin_capture": "",
    "end_capture": "p",
    "launch": "pq",
    "destroy_graph": "p",
    "copy": "ppqq",
    "copy_by_16": "ppqq",
    "probe": "pqqqq",
    "fill": "pq",
    "make_indices": "piqqi",
    "split_indices": "ppiqip",
    "set_geometry": "piqqqqqq",
    "count_sectors": "pp",
    "verify": "pp",
    "open_gathers": "",
    "make_gather": "pippiippiiiip",
    "release_gather": "p",
    "run_gather": "pq",
    "time_plan": "pqp",
    "time_call": "pqp",
    "take_error": "",
}


class DeviceError(Exception):
    pass


def extents(values):
    return (ctypes.c_int64 * len(values))(*values)


class Library:
    def __init__(self, path):
        self._native = ctypes.CDLL(path)
        for name, letters in SIGNATURES.items():
            setattr(self, name, self._bind(name, [LETTERS[letter] for letter in letters]))
        for name, kind in {
            "error": ctypes.c_char_p,
            "describe": ctypes.c_char_p,
            "stream": ctypes.c_void_p,
            "free_memory": ctypes.c_int64,
        }.items():
            getattr(self._native, f"bench_{name}").restype = kind
        self.open()
        self.open_gathers()

    def _bind(self, name, types):
        function = getattr(self._native, f"bench_{name}")
        function.argtypes = types
        function.restype = ctypes.c_int32

        def call(*arguments):
            if function(*arguments):
                raise DeviceError(f"{name}: {self._native.bench_error().decode()}")

        return call

    def _ask(self, name, kind, *arguments):
        """Returns the value that a function writes through its last parameter."""
        value = kind()
        getattr(self, name)(*arguments, ctypes.byref(value))
        return value.value

    def facts(self):
        return json.loads(self._native.bench_describe())

    def stream_handle(self):
        return self._native.bench_stream() or 0

    def bytes_free(self):
        return self._native.bench_free_memory()

    def new_memory(self, size):
        return self._ask("allocate", ctypes.c_void_p, size)

    def elapsed(self):
        """Returns the device time since begin(), in seconds."""
        return self._ask("end", ctypes.c_double)

    def captured(self):
        return self._ask("end_capture", ctypes.c_void_p)

    def sectors(self):
        of_32, of_64 = ctypes.c_int64(), ctypes.c_int64()
        self.count_sectors(ctypes.byref(of_32), ctypes.byref(of_64))
        return of_32.value, of_64.value

    def wrong_bytes(self, out):
        return self._ask("verify", ctypes.c_int64, out)

    def new_gather(self, params, params_shape, indices, index_bytes, indices_shape, out, **options):
        return self._ask(
            "make_gather",
            ctypes.c_void_p,
            params,
            len(params_shape),
            extents(params_shape),
            indices,
            index_bytes,
            len(indices_shape),
            extents(indices_shape),
            out,
            options["is_nd"],
            options["axis"],
            options["batch_dims"],
            options["bounds"],
        )

    def host_seconds(self, way, gather, times):
        return self._ask(way, ctypes.c_double, gather, times)
