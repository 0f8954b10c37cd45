"""The names of releases."""

from __future__ import annotations


def release(number: int) -> str:
    """Returns the name of a release, such as ``"0.1.0"`` for 1000."""
    return f"{number // 1000000}.{number // 1000 % 1000}.{number % 1000}"
