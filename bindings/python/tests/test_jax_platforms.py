"""libgather.jax refuses programs and arrays of other platforms than the CPU."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import libgather

jax = pytest.importorskip("jax")
operators: Any = libgather.jax
primitive = import_module("libgather._operations.jax_programs.primitive")

TABLE, IDS, ROWS = np.ones((4, 3), "f4"), np.array([[1, 0], [2, 2]], "i4"), np.ones((2, 2, 3), "f4")
WEIGHTS = np.ones((2, 2), "f4")


def gradient_of(call: Callable[..., Any], operand: int = 0) -> Callable[..., Any]:
    return jax.grad(lambda *operands: call(*operands).sum(), operand)


def weighted(table: Any, weights: Any) -> Any:
    return operators.gather_bags(table, IDS, weights=weights)


#: For each primitive, a call that has it, and its arguments.
CALLS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "gather": (operators.gather, (TABLE, IDS)),
    "gather_nd": (operators.gather_nd, (TABLE, IDS)),
    "gather_elements": (operators.gather_elements, (TABLE, IDS[:1])),
    "gather_gradient": (gradient_of(lambda table: operators.gather(table, IDS)), (TABLE,)),
    "scatter": (operators.scatter, (TABLE, IDS, ROWS)),
    "scatter_nd": (operators.scatter_nd, (TABLE, IDS, ROWS[0, :, 0])),
    "scatter_elements": (operators.scatter_elements, (TABLE[:2], IDS % 2, ROWS[0, :, :2])),
    "gather_bags": (operators.gather_bags, (TABLE, IDS)),
    "gather_bags_gradient": (gradient_of(weighted), (TABLE, WEIGHTS)),
    "gather_bags_weight_gradient": (gradient_of(weighted, 1), (TABLE, WEIGHTS)),
    "gather_bags_positions": (lambda table: operators.gather_bags_positions(table, IDS, pool="max"), (TABLE,)),
    "scatter_positions": (lambda *given: operators.scatter_positions(*given, reduction="max"), (TABLE, IDS, ROWS)),
}


@pytest.mark.parametrize("platforms", [["cuda"], ["cpu", "cuda"], ["rocm"]], ids=str)
@pytest.mark.parametrize("name", CALLS)
def test_programs_are_refused(name: str, platforms: list[str]) -> None:
    call, arguments = CALLS[name]
    checks = operators.export_checks()
    jax.export.export(jax.jit(call), platforms=["cpu"], disabled_checks=checks)(*arguments)
    with pytest.raises(libgather.UnsupportedError) as caught:
        jax.export.export(jax.jit(call), platforms=platforms, disabled_checks=checks)(*arguments)
    found, where = str(caught.value), ", ".join(platforms)
    assert found == f"context: libgather.jax runs {name} on the CPU only, and the call is on {where}"


@pytest.mark.parametrize("name", CALLS)
def test_arrays_are_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Outside of a program, the primitive reads the devices of its arrays. Here none of them is the CPU."""
    call, arguments = CALLS[name]
    monkeypatch.setattr(primitive, "is_cpus", lambda sharding: False)
    with jax.disable_jit(), pytest.raises(libgather.UnsupportedError, match="on the CPU only, and the call is on cpu"):
        call(*map(jax.numpy.asarray, arguments))
