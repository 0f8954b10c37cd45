"""Writes the C source of libgather._low, the cffi module of native/cdef.h. Usage: emit.py OUTPUT"""

import sys
from pathlib import Path

from cffi import FFI

ffi = FFI()
ffi.cdef((Path(__file__).parent / "cdef.h").read_text(encoding="utf-8"))
ffi.set_source("libgather._low", "#include <gather/gather.h>", py_limited_api=True)
ffi.emit_c_code(sys.argv[1])
