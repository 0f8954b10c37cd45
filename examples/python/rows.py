"""Gathers rows of a file: rows.py TABLE CODEC COUNT DIM IDS

The file TABLE has COUNT rows of DIM numbers. They are packed rows of CODEC, or float32. The file IDS has int64. Both
are little-endian. The rows are written to standard output as float32, and then the rows that one second gathers to
standard error. NumPy is not needed.
"""

import pathlib
import sys
import time

import libgather


def main(path, codec, count, dim, ids_path):
    data, shape = memoryview(pathlib.Path(path).read_bytes()), (int(count), int(dim))
    table = data.cast("f", shape) if codec == "float32" else libgather.Packed(codec, data, shape)
    ids = memoryview(pathlib.Path(ids_path).read_bytes()).cast("q")
    rows = memoryview(bytearray(4 * shape[1] * len(ids))).cast("f", (len(ids), shape[1]))
    times = []
    for _ in range(50):
        begin = time.perf_counter()
        libgather.gather(table, ids, out=rows)
        times.append(time.perf_counter() - begin)
    sys.stdout.buffer.write(rows)
    print(f"{len(ids) / min(times):.0f}", file=sys.stderr)


try:
    main(*sys.argv[1:])
except (OSError, TypeError, libgather.Error) as error:
    sys.exit(f"rows: {error}")
