"""Gathers rows of a table: lookup.py TABLE DIM IDS

TABLE is a file of float32 rows of DIM elements. IDS is a file of int64 ids. Both are little-endian. The bytes of the
rows are written to standard output, and the time of a call to standard error. NumPy is not needed.
"""

import array
import sys
import time

import libgather


def read(path, typecode):
    with open(path, "rb") as file:
        return array.array(typecode, file.read())


def fastest(call, rounds=20, calls=50):
    """Returns the seconds of a call in the fastest round."""
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        times.append((time.perf_counter() - begin) / calls)
    return min(times)


def main(table_path, dim, ids_path):
    dim = int(dim)
    table = memoryview(read(table_path, "f")).cast("B")
    table = table.cast("f", (len(table) // 4 // dim, dim))
    ids = read(ids_path, "q")
    out = memoryview(bytearray(4 * dim * len(ids))).cast("f", (len(ids), dim))
    libgather.gather(table, ids, out=out)
    sys.stdout.buffer.write(out.cast("B"))
    bound = libgather.Plan(table, ids).bind(table, ids, out)
    print(f"{len(ids)} rows, {1e9 * fastest(bound):.0f} ns per call", file=sys.stderr)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    try:
        main(*sys.argv[1:])
    except (OSError, ValueError, libgather.Error) as error:
        sys.exit(f"lookup: {error}")
