"""Where we answer otherwise than the system that a profile is named after."""

from dataclasses import dataclass

from .format import ABORT, HANG, Error, Ok


@dataclass(frozen=True)
class Difference:
    id: str
    system: str
    does: str
    ours: str
    why: str
    matches: object  # (case, answer, expect) -> bool


TABLE = []


def find(case, answer, expect):
    """The difference that explains the system's answer, or None."""
    return next((d.id for d in TABLE if d.matches(case, answer, expect)), None)
