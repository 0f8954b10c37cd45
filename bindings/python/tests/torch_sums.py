"""The benchmark of sums on a CUDA device, rehearsed on the CPU: every contender computes the same sums."""

import pathlib
import subprocess
import sys

BENCHMARK = pathlib.Path(__file__).resolve().parents[3] / "tests" / "cuda" / "quarter" / "torch_sums.py"


def test_every_sum_is_measured():
    run = subprocess.run([sys.executable, BENCHMARK, "--rehearse"], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    lines = [line for line in run.stdout.splitlines() if line.startswith("| ") and "libgather" in line]
    assert {line.split("|")[1].strip() for line in lines} == {"scatter", "gradient", "bags", "bag gradient"}
    assert len(lines) == 4 * 2 * 4
