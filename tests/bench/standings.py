"""Finds the library and its peers in raw results. Limits are neither."""

from __future__ import annotations

from typing import Any

Times = dict[str, dict[str, Any]]  # of each contestant


def kind(name: str) -> str:
    """Returns the kind of a contestant: its name up to the colon."""
    return name.partition(":")[0]


def ours(ns: Times, own: str = "libgather") -> str:
    """Returns the fastest function of the library, by the best rounds."""
    return min((name for name in ns if kind(name) == own), key=lambda name: ns[name]["best"])


def rival(ns: Times, own: str = "libgather") -> str | None:
    """Returns the fastest peer, or None. Other builds of libgather are not peers."""
    others = [n for n in ns if kind(n) not in (own, "limit") and not kind(n).startswith("libgather")]
    return min(others, key=lambda name: ns[name]["best"], default=None)
