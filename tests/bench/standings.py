"""Who is who in raw results: ours, the others, and the limits that nobody competes with."""

from __future__ import annotations

from typing import Any

Times = dict[str, dict[str, Any]]  # of each contestant


def kind(name: str) -> str:
    """A contestant's kind: what stands before the colon."""
    return name.partition(":")[0]


def ours(ns: Times, own: str = "libgather") -> str:
    """Our quickest way, by the best rounds."""
    return min((name for name in ns if kind(name) == own), key=lambda name: ns[name]["best"])


def rival(ns: Times, own: str = "libgather") -> str | None:
    """The quickest of the others; a library of ours that is measured beside is none."""
    others = [n for n in ns if kind(n) not in (own, "limit") and not kind(n).startswith("libgather")]
    return min(others, key=lambda name: ns[name]["best"], default=None)
