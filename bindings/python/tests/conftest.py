"""What all tests share: where the tree is, and the count of conformance cases at the end of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

BINDING = Path(__file__).resolve().parents[1]
counts: dict[str, int] = {}


@pytest.fixture(scope="session")
def case_counts() -> dict[str, int]:
    return counts


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for profile, count in sorted(counts.items()):
        terminalreporter.write_line(f"conformance {profile}: {count} cases")
    if counts:
        terminalreporter.write_line(f"conformance: {sum(counts.values())} cases in all")
