"""Compares libgather with jax.numpy.take on the parameter grid of JAX's own tests of take.

    foreign_jax.py [COUNT]      prints the row of the table in README.md

The grid has all shapes, axes, shapes of indices, dtypes, dtypes of indices and modes. COUNT (400) combinations are
drawn with a fixed seed. In each third case indices are in bounds. Otherwise they exceed the bounds by up to one extent.
Each case calls the plain function with NumPy and JAX arrays, and the primitive of libgather.jax.
"""

from __future__ import annotations

import itertools
import random
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np

import libgather
import libgather.jax

jax.config.update("jax_enable_x64", True)

SHAPES: list[tuple[int, ...]] = [(3,), (3, 4), (3, 4, 5)]
AXES = [(shape, axis) for shape in SHAPES for axis in (None, *range(-len(shape), len(shape)))]
INDEX_SHAPES: list[tuple[int, ...]] = [(), (3,), (2, 1, 3), (0,)]
INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
OTHERS = ["bool", "float16", "float32", "float64", "complex64", "complex128", "bfloat16", "float8_e4m3fn"]
#: The modes of JAX as switches, and as profiles of libgather if they have one.
MODES: dict[str | None, tuple[dict[str, Any], dict[str, Any]]] = {
    None: ({"profile": "jax_fill"}, {"negative": "wrap", "bounds": "fill", "fill_value": "by_dtype"}),
    "fill": ({"profile": "jax_fill"}, {"negative": "wrap", "bounds": "fill", "fill_value": "by_dtype"}),
    "clip": ({"profile": "jax_clip"}, {"bounds": "clamp"}),
    "wrap": ({"bounds": "modulo"}, {"bounds": "modulo"}),
}
FILLS = [None, 1]


def grid(count: int) -> list[tuple[Any, ...]]:
    every = list(itertools.product(AXES, INDEX_SHAPES, INTEGERS + OTHERS, INTEGERS, MODES, FILLS))
    return random.Random(7).sample(every, count)


def operands(place: int, shape: tuple[int, ...], axis: int | None, index_shape: tuple[int, ...], *dtypes: Any) -> Any:
    """Returns params and indices of a case."""
    generator, (dtype, index_dtype) = np.random.default_rng(place), dtypes
    dtype = getattr(ml_dtypes, dtype, dtype)
    extent = int(np.prod(shape)) if axis is None else shape[axis]
    low, high = (0, extent) if place % 3 == 0 else (0 if index_dtype.startswith("u") else -2 * extent, 2 * extent)
    indices = generator.integers(low, high, index_shape).astype(index_dtype)
    return generator.integers(0, 100, shape).astype(dtype), indices


def rules_of(mode: str | None, fill: Any) -> Iterator[dict[str, Any]]:
    """Yields the keywords of a mode: with a profile, and without one."""
    filled = {"fill_value": fill} if fill is not None and mode in (None, "fill") else {}
    for each in MODES[mode]:
        yield {**each, **filled}


def answers(params: np.ndarray, indices: np.ndarray, axis: int | None, mode: str | None, fill: Any) -> Iterator[Any]:
    """Yields the results of the plain function with NumPy and JAX arrays."""
    source, axis = (params.reshape(-1), 0) if axis is None else (params, axis)
    profile, _ = rules_of(mode, fill)
    yield libgather.gather(source, indices, axis, **profile)
    yield libgather.gather(jnp.asarray(source), jnp.asarray(indices), axis, **profile)


@partial(jax.jit, static_argnums=0)
def programs(rules: tuple[Any, ...], operands: Any) -> list[tuple[Any, Any]]:
    """Returns the results of ``jnp.take`` and of the primitive for several cases. A program for each takes minutes."""
    results = []
    for (axis, mode, fill), (params, indices) in zip(rules, operands, strict=True):
        source, along = (params.reshape(-1), 0) if axis is None else (params, axis)
        _, switches = rules_of(mode, fill)
        expected = jnp.take(params, indices, axis, mode=mode, fill_value=fill)
        results.append((expected, libgather.jax.gather(source, indices, along, **switches)))
    return results


def same(ours: Any, theirs: Any) -> bool:
    """Compares two results bit by bit."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    return ours.dtype == theirs.dtype and ours.shape == theirs.shape and ours.tobytes() == theirs.tobytes()


def run(count: int) -> int:
    """Returns the number of results that equal those of JAX."""
    held = 0
    drawn = [
        (operands(place, shape, axis, *rest), (axis, mode, fill))
        for place, ((shape, axis), *rest, mode, fill) in enumerate(grid(count))
    ]
    for begin in range(0, count, 50):
        chunk = drawn[begin : begin + 50]
        made = programs(tuple(rules for _, rules in chunk), [tuple(map(jnp.asarray, given)) for given, _ in chunk])
        for ((params, indices), rules), (expected, traced) in zip(chunk, made, strict=True):
            for number, answer in enumerate((traced, *answers(params, indices, *rules))):
                if not same(answer, expected):
                    sys.exit(f"{number}: {params!r}, {indices!r}, {rules}: {answer!r}, not {expected!r}")
                held += 1
    return held


if __name__ == "__main__":
    asked = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    print(f"| JAX {jax.__version__}: `take`, {asked} of its grid of parameters | {run(asked)} answers as JAX | 0 |")
