"""Gathers the same rows from each language: languages.py PREFIX BUILD DATA

The library is installed in PREFIX. BUILD is a folder for build products. DATA has the files rows.CODEC of the program
lookup. For each language and codec, the program prints the bytes of a row, the largest difference from float32, and the
rows that a second gathers. It tests that all languages write the same bytes, and report an invalid id. PYTHON names an
interpreter that has libgather. Languages without a toolchain are listed.
"""

import array
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CODECS, ROWS, DIM = ("float32", "rowwise8", "rowwise4"), 20_000, 100
PYTHON = os.environ.get("PYTHON", "python3")


def output(*command):
    """Returns the standard output of a command without its last newline, or "" if it fails."""
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout.rstrip()


def needs():
    """Returns for each language its folder, its name, what it needs, and whether that is here."""
    package = output(PYTHON, "-c", "import libgather; print(1)") if shutil.which(PYTHON) else ""
    return [
        ("c", "C", "", True),
        ("cpp", "C++", "", True),
        ("rust", "Rust", "cargo", shutil.which("cargo")),
        ("python", "Python", "libgather", package),
        ("go", "Go", "go", shutil.which("go")),
        ("java", "Java", "JDK 22 or newer", output(ROOT / "bindings/java/jdk.sh", "22")),
    ]


def arguments(rows, data, codec, ids):
    return [*rows, data / f"rows.{codec}", codec, str(ROWS), str(DIM), ids]


def measure(rows, data, ids, expected):
    """Runs the example rows with each codec. Returns a cell of the table for each, and whether all bytes are equal."""
    cells, right, exact = [], True, array.array("f", expected["float32"])
    for codec in CODECS:
        result = subprocess.run(arguments(rows, data, codec, ids), capture_output=True)
        if result.returncode != 0:
            return [result.stderr.decode()], False
        right &= result.stdout == expected.setdefault(codec, result.stdout)
        error = max(map(abs, map(float.__sub__, array.array("f", result.stdout), exact)))
        row_bytes = (data / f"rows.{codec}").stat().st_size // ROWS
        rate = float(result.stderr.splitlines()[-1]) / 1e6
        cells.append(f"{row_bytes:5} B  {error:6.4f}  {rate:5.1f} M")
    return cells, right


def main(prefix, build, data):
    ids, bad_ids = build / "ids", build / "bad_ids"
    build.mkdir(parents=True, exist_ok=True)
    picked = array.array("q", (i * 7919 % ROWS for i in range(4096)))
    ids.write_bytes(picked.tobytes())
    bad_ids.write_bytes(array.array("q", [0, ROWS, 1]).tobytes())
    table = memoryview((data / "rows.float32").read_bytes())
    expected = {"float32": b"".join(table[4 * DIM * i : 4 * DIM * (i + 1)] for i in picked)}

    print("4,096 rows from each language: bytes of a row, largest difference from float32, million rows a second")
    print(" " * 10 + "".join(f"{codec:26}" for codec in CODECS))
    failed = False
    for folder, name, need, here in needs():
        if not here:
            print(f"  {name:8}skipped: no {need}")
            continue
        build_or_run = [ROOT / "examples/run.sh", prefix, build, folder, "--"]
        subprocess.run(build_or_run, check=True)
        rows = [*build_or_run, "rows"]
        cells, right = measure(rows, data, ids, expected)
        bad = subprocess.run(arguments(rows, data, "rowwise4", bad_ids), capture_output=True, text=True)
        right &= bad.returncode != 0 and f"{ROWS}, valid" in bad.stderr
        print(f"  {name:8}{'    '.join(cells)}{'' if right else '  FAILED'}", flush=True)
        failed |= not right
    sys.exit(failed)


main(*(pathlib.Path(path).resolve() for path in sys.argv[1:]))
