"""The benchmark of random requests. It compares all results with those of NumPy, and of torch if it is installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from conftest import BINDING

COUNT = 20


def test_random_requests_have_the_results_of_the_peers(tmp_path: Path) -> None:
    raw, report = tmp_path / "raw.json", tmp_path / "report.md"
    command = [BINDING.parents[1] / "tests/bench", "requests", "--count", COUNT, "--seconds", 0.001]
    command += ["--json", raw, "--markdown", report]
    paths = os.pathsep.join(filter(None, sys.path))
    subprocess.run([sys.executable, *map(str, command)], check=True, env={**os.environ, "PYTHONPATH": paths})
    results = json.loads(raw.read_text())
    assert len(results) == COUNT
    assert len({result["number"] for result in results}) == COUNT
    assert all(result["ours"] > 0 and min(result["peers"].values()) > 0 for result in results)
    lines = report.read_text().splitlines()
    assert any(line.startswith(f"| all | {COUNT} | ") for line in lines)
    assert len([line for line in lines if ", index " in line]) == COUNT
