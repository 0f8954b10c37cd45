"""The dims of operands and results that a program may divide among devices.

A rule has the labels of the dims of each operand, and those of the result. Dims of one label are divided alike. A dim
without a label is whole on each device.
"""

from __future__ import annotations

import sys
from functools import partial
from itertools import count
from math import prod

import jax
from jax.interpreters import mlir
from jax.sharding import NamedSharding, PartitionSpec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    Labels = tuple[str | None, ...]
    #: The labels of the operands, and those of the result.
    Rule = tuple[Sequence[Labels], Labels]


def numbered(letter: str, count: int) -> Labels:
    return tuple(f"{letter}{number}" for number in range(count))


def common(labels: Labels, others: Labels) -> Labels:
    """Returns the labels that others have too."""
    return tuple(label if label in others else None for label in labels)


def spec_of_result(rule: Rule, operands: Sequence[Any]) -> PartitionSpec:
    """Returns how the result is divided if the abstract values of the operands state how they are."""
    axes: dict[str | None, Any] = {}  # each axis of the mesh divides one dim
    for labels, operand in zip(rule[0], operands, strict=True):
        for label, axis in zip(labels, operand.sharding.spec, strict=False):
            if label in rule[1] and label is not None and axis is not None and axis not in axes.values():
                axes.setdefault(label, axis)
    return PartitionSpec(*(axes.get(label) for label in rule[1]))


def lowered(primitive: Any, call: Callable[..., Any], rule: Callable[..., Rule]) -> Callable[..., Any]:
    """Returns the rule that lowers a primitive. If a program has several devices, it may divide the operands.

    Args:
        call: Returns the result, by operations of JAX.
        rule: Returns the labels, from the operands and the attributes.
    """
    # JAX has no public name for this set. Without it or the partitioner Shardy, each device has all operands.
    dispatch = sys.modules.get("jax._src.dispatch")
    known = getattr(dispatch, "prim_requires_devices_during_lowering", None)
    if known is None or not getattr(jax.config, "jax_use_shardy_partitioner", False):
        whole: Callable[..., Any] = mlir.lower_fun(call, multiple_results=False)
        return whole
    known.add(primitive)

    def lower(context: Any, *operands: Any, **attributes: Any) -> Any:
        run, module = call, context.module_context
        is_exported = getattr(module.lowering_parameters, "for_export", False)
        if getattr(module.axis_context, "num_devices", 1) > 1 and not is_exported:
            labels = rule(*context.avals_in, **attributes)
            run = partial(divided, call, labels)
        return mlir.lower_fun(run, multiple_results=False)(context, *operands, **attributes)

    return lower


def divided(call: Callable[..., Any], rule: Rule, *operands: Any, **attributes: Any) -> Any:
    """Calls with operands that XLA divides among devices."""
    from jax.experimental.custom_partitioning import SdyShardingRule, custom_partitioning

    def shardings(mesh: Any, sharding: Any, extents: Sequence[int]) -> tuple[Any, list[Any]]:
        """Returns the sharding of the result, and those of the operands that it needs."""
        spec = sharding.spec if isinstance(sharding, NamedSharding) else ()
        axes: dict[str | None, Any] = {}
        for label, axis, extent in zip(rule[1], spec, extents, strict=False):
            names = axis if isinstance(axis, tuple) else (axis,) if axis is not None else ()
            if label is not None and extent % prod(mesh.shape[name] for name in names) == 0:
                axes[label] = axis
        made = [NamedSharding(mesh, PartitionSpec(*map(axes.get, labels))) for labels in (*rule[0], rule[1])]
        return made[-1], made[:-1]

    def local(sharding: Any, shape: Any) -> dict[str, Any]:
        """Returns the attributes for the part of a device. The shape of a gradient is that of its result."""
        return attributes | ({"shape": sharding.shard_shape(shape)} if "shape" in attributes else {})

    def place(mesh: Any, given: Any, result: Any) -> Any:
        sharding, needed = shardings(mesh, result.sharding, result.shape)
        return mesh, partial(call, **local(sharding, result.shape)), sharding, tuple(needed)

    number = count()
    factors = [[f"w{next(number)}" if label is None else label for label in labels] for labels in (*rule[0], rule[1])]
    fixed = tuple(factor for labels in factors for factor in labels if factor.startswith("w"))
    run = custom_partitioning(lambda *given: call(*given, **attributes))
    run.def_partition(
        partition=place,
        infer_sharding_from_operands=None,
        sharding_rule=SdyShardingRule(
            tuple(map(tuple, factors[:-1])), (tuple(factors[-1]),), need_replication_factors=fixed
        ),
    )
    return run(*operands)
