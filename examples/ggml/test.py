"""Writes a GGUF file, and compares the rows of get_rows with the formulas of ggml: test.py PROGRAM."""

import pathlib
import struct
import subprocess
import sys
import tempfile

ROWS, WIDTH = 5, 64
IDS = [4, 0, 3, 4]
SCALES = [0.5, -2.0, 0.25]


def code(number):
    return number * 37 % 251


def f16():
    """Returns the bytes of the rows, and their numbers."""
    numbers = [SCALES[i % 3] * (code(i) - 120) for i in range(ROWS * WIDTH)]
    numbers[0] = -0.0
    return struct.pack(f"<{len(numbers)}e", *numbers), numbers


def f32():
    numbers = f16()[1]
    return struct.pack(f"<{len(numbers)}f", *numbers), numbers


def q8_0():
    data, numbers = b"", []
    for block in range(ROWS * WIDTH // 32):
        scale, codes = SCALES[block % 3], [code(32 * block + i) % 256 - 125 for i in range(32)]
        data += struct.pack("<e32b", scale, *codes)
        numbers += [scale * each for each in codes]
    return data, numbers


def q4_0():
    data, numbers = b"", []
    for block in range(ROWS * WIDTH // 32):
        scale, codes = SCALES[block % 3], [code(32 * block + i) % 16 for i in range(32)]
        data += struct.pack("<e16B", scale, *(codes[i] | codes[i + 16] << 4 for i in range(16)))
        numbers += [scale * (each - 8) for each in codes]
    return data, numbers


TENSORS = {"f16": (1, f16), "q8_0": (8, q8_0), "q4_0": (2, q4_0), "f32": (0, f32)}


def text(value):
    return struct.pack("<Q", len(value)) + value.encode()


def header(alignment=64, rows=ROWS, dims=2, count=4, shift=0, kind=None):
    """Returns the header, up to the data. The first tensor has the given rows, dims, offset and type."""
    infos, offset = b"", shift
    for name, (number, make) in TENSORS.items():
        infos += text(name) + struct.pack("<IQQIQ", dims, WIDTH, rows, number if kind is None else kind, offset)
        offset += -(-len(make()[0]) // alignment) * alignment - shift
        rows, dims, shift, kind = ROWS, 2, 0, None
    values = text("general.name") + struct.pack("<I", 8) + text("x")
    values += text("tokens") + struct.pack("<IIQ", 9, 8, 2) + text("a") + text("b")
    values += text("scores") + struct.pack("<IIQ3f", 9, 6, 3, 1, 2, 3)
    values += text("general.alignment") + struct.pack("<II", 4, alignment)
    head = b"GGUF" + struct.pack("<IQQ", 3, count, 4) + values + infos
    return head + bytes(-len(head) % alignment)


def data(alignment=64):
    parts = [make()[0] for _, make in TENSORS.values()]
    return b"".join(part + bytes(-len(part) % alignment) for part in parts)


def main(program):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "model.gguf")

        def run(content, name, ids):
            path.write_bytes(content)
            return subprocess.run([program, path, name, *map(str, ids)], capture_output=True, check=False)

        def refuses(content, name="f16", ids=(0,)):
            done = run(content, name, ids)
            assert (done.returncode, done.stdout) == (1, b""), done
            assert done.stderr.startswith(b"get_rows: "), done

        whole = header() + data()
        for name, (_, make) in TENSORS.items():
            numbers = make()[1]
            wanted = b"".join(struct.pack(f"<{WIDTH}f", *numbers[WIDTH * i : WIDTH * i + WIDTH]) for i in IDS)
            done = run(whole, name, IDS)
            assert (done.returncode, done.stdout) == (0, wanted), (name, done)
        refuses(whole, "f17")
        refuses(whole, "f16", [0, ROWS])
        refuses(whole, "f16", [-1])
        for size in range(0, len(header()), 3):
            refuses(whole[:size])
        refuses(whole[:-300], "f32")
        refuses(b"GGML" + whole[4:])
        for lie in [{"rows": 2**62}, {"rows": 0}, {"dims": 0}, {"dims": 2**31}, {"count": 2**40}, {"shift": 2**63}]:
            refuses(header(**lie) + data())
        for kind in [4, 5, 16, 40, 2**32 - 1]:
            refuses(header(kind=kind) + data())
        refuses(whole.replace(struct.pack("<IIQ", 9, 8, 2), struct.pack("<IIQ", 9, 8, 2**60)))
        refuses(whole.replace(struct.pack("<II", 4, 64), struct.pack("<II", 4, 0)))
    print("get_rows: passed")


main(sys.argv[1])
