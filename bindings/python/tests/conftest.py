"""Common parts of the tests: the folder of the binding, and the number of conformance cases at the end of a run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from zlib import crc32

import pytest

BINDING = Path(__file__).resolve().parents[1]
EMULATED = os.environ.get("GATHER_EMULATED")
counts: dict[str, int] = {}

# Each case of these files compiles or trains. The long run runs all cases of a test, and other runs as many as have
# each value of each parameter.
SLOW_FILES = ("test_jax_", "torch_bags", "torch_training")

needs_emulated = pytest.mark.skipif(
    not EMULATED, reason="GATHER_EMULATED does not name the library with an emulated CUDA device"
)


def run_emulated(name: str) -> None:
    """Runs a test file in a new process that uses the library of GATHER_EMULATED."""
    run_alone(name, LD_PRELOAD=" ".join(filter(None, [os.environ.get("LD_PRELOAD"), EMULATED])))


def run_alone(name: str, **environment: str) -> None:
    """Runs a test file in a new process."""
    path = os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", str(BINDING / "pyproject.toml")]
    result = subprocess.run(
        [*command, str(Path(__file__).with_name(name))],
        env={**os.environ, **environment, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert re.search(r"^\d+ passed in", result.stdout, re.MULTILINE), result.stdout


@pytest.fixture(scope="session")
def case_counts() -> dict[str, int]:
    return counts


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if os.environ.get("GATHER_LONG", "0") != "0":
        return
    seen: set[tuple[str, str, str]] = set()
    left_out = set()
    for item in sorted(items, key=lambda item: crc32(item.nodeid.encode())):  # an order that mixes the parameters
        call = getattr(item, "callspec", None)
        if call and item.path.name.startswith(SLOW_FILES):
            test = item.nodeid.partition("[")[0]
            values = {(test, name, repr(value)) for name, value in call.params.items()}
            if values <= seen:
                left_out.add(item)
            seen |= values
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for profile, count in sorted(counts.items()):
        terminalreporter.write_line(f"conformance {profile}: {count} cases")
    if counts:
        terminalreporter.write_line(f"conformance: {sum(counts.values())} cases in all")
