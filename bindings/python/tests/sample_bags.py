"""The bags that tests of gather_bags, its gradients and its positions share."""

from __future__ import annotations

from typing import Any

import numpy as np

IDS = np.array([4, 1, 1, 7, 0, 3, 4, 2, 6])
OFFSETS = np.array([0, 3, 3, 4, 9])
LENGTHS = np.diff(OFFSETS)
WEIGHTS = np.array([0.5, 2, -1, 4, 0.25, 1, 8, -2, 0.5])
FORMATS: dict[str, dict[str, Any]] = {
    "offsets": {"offsets": OFFSETS},
    "starts": {"starts": OFFSETS[:-1]},
    "lengths": {"lengths": LENGTHS},
    "segments": {"segments": np.repeat(np.arange(4), LENGTHS), "count": 4},
}
EXTREME = ("max", "min")
POOLS = ["sum", "mean", "sqrtn", *EXTREME]


def numbers(shape: tuple[int, ...], dtype: Any = "float64", seed: int = 5) -> np.ndarray:
    """Returns small integers, whose sums and products are exact in every dtype."""
    return (np.arange(np.prod(shape)) * seed % 13 - 6).reshape(shape).astype(dtype)


def weights_for(pool: str) -> tuple[np.ndarray | None, ...]:
    """Returns the weights that a pool supports."""
    return (None,) if pool in EXTREME else (None, WEIGHTS)
