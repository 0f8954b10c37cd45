"""report.py PROGRAM OUTPUT: writes the report of a machine with a GPU: what the program measures, and the same gathers by
those of torch, CuPy and JAX that can be imported. On a machine without a GPU the program fails, and nothing is written.
"""

import pathlib
import statistics
import subprocess
import sys

CASES = [(row, 1 << 30) for row in (4, 16, 64, 256, 1024, 4096)]  # bytes of a row, bytes of the output
ROUNDS = 21


def rows_of(row, output):
    return (1 << 30) // row, output // row


def torch_seconds(row, output):
    import torch

    rows, picks = rows_of(row, output)
    table = torch.ones((rows, row // 4), dtype=torch.float32, device="cuda")
    index = torch.randint(rows, (picks,), dtype=torch.int32, device="cuda")
    out = torch.empty((picks, row // 4), dtype=torch.float32, device="cuda")
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))

    def once():
        begin.record()
        torch.index_select(table, 0, index, out=out)
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) / 1e3

    return [once() for _ in range(ROUNDS)]


def cupy_seconds(row, output):
    import cupy

    rows, picks = rows_of(row, output)
    table = cupy.ones((rows, row // 4), dtype=cupy.float32)
    index = cupy.random.randint(0, rows, picks, dtype=cupy.int32)
    out = cupy.empty((picks, row // 4), dtype=cupy.float32)
    begin, end = cupy.cuda.Event(), cupy.cuda.Event()

    def once():
        begin.record()
        cupy.take(table, index, axis=0, out=out)
        end.record()
        end.synchronize()
        return cupy.cuda.get_elapsed_time(begin, end) / 1e3

    return [once() for _ in range(ROUNDS)]


def jax_seconds(row, output):
    import time

    import jax

    rows, picks = rows_of(row, output)
    table = jax.numpy.ones((rows, row // 4), dtype=jax.numpy.float32)
    index = jax.random.randint(jax.random.key(1), (picks,), 0, rows, dtype=jax.numpy.int32)
    take = jax.jit(lambda t, i: jax.numpy.take(t, i, axis=0, mode="clip"))

    def once():
        start = time.perf_counter()
        take(table, index).block_until_ready()
        return time.perf_counter() - start

    return [once() for _ in range(ROUNDS)]


def peer_lines():
    yield "The same rows by others, of a table of 1 GiB into 1 GiB; GB/s counted as above.\n"
    yield "| row, bytes | torch.index_select | cupy.take | jax.numpy.take |\n|---|---|---|---|"
    for row, output in CASES:
        cells = [str(row)]
        for peer in (torch_seconds, cupy_seconds, jax_seconds):
            try:
                seconds = statistics.median(peer(row, output)[3:])
            except ImportError:
                cells.append("not here")
                continue
            cells.append(f"{output // row * (4 + 2 * row) / seconds / 1e9:.0f}")
        yield "| " + " | ".join(cells) + " |"


def main():
    program, output = sys.argv[1:]
    measured = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    text = "# Gathers on a CUDA device\n\nWritten by tests/cuda/bench/report.py.\n\n" + measured + "\n"
    text += "\n".join(peer_lines()) + "\n"
    path = pathlib.Path(output)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


main()
