"""Arrays of JAX on several devices of the CPU. test_jax.py runs this file with four devices."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import libgather

ROWS = jax.sharding.NamedSharding(
    jax.sharding.Mesh(np.array(jax.devices()), ("rows",)), jax.sharding.PartitionSpec("rows")
)
COPIES = jax.sharding.NamedSharding(ROWS.mesh, jax.sharding.PartitionSpec())
TABLE = np.arange(16.0, dtype=np.float32).reshape(8, 2)


@pytest.mark.parametrize("sharding", [ROWS, COPIES])
def test_sharded_params(sharding: jax.sharding.Sharding) -> None:
    params = jax.device_put(TABLE, sharding)
    for indices in (jnp.array([7, 0]), np.array([7, 0]), [7, 0]):
        result = libgather.gather(params, indices)
        assert isinstance(result, jax.Array)
        assert result.tolist() == TABLE[[7, 0]].tolist()
    for bad in (jnp.array([1, 8]), np.array([1, 8]), [1, 8]):
        with pytest.raises(libgather.IndexError, match="component 0 of tuple 1 is 8"):
            libgather.gather(params, bad)
    with pytest.raises(libgather.IndexError, match="component 1 of tuple 0 is 2"):
        libgather.gather_nd(params, jnp.array([[7, 2]]))
    assert libgather.scatter(params, jnp.array([1]), jnp.ones((1, 2))).tolist()[1] == [1, 1]
    assert libgather.Tensor(params).tolist() == TABLE.tolist()


def test_sharded_indices() -> None:
    indices = jax.device_put(jnp.array([7, 0, 1, 9]), ROWS)
    with pytest.raises(libgather.IndexError, match="component 0 of tuple 3 is 9"):
        libgather.gather(jnp.asarray(TABLE), indices)
    assert libgather.gather(jnp.asarray(TABLE), indices % 8).tolist() == TABLE[[7, 0, 1, 1]].tolist()
    assert libgather.partition(indices, rows=10, shards=2).counts.tolist() == [2, 2]


def test_indices_on_another_device() -> None:
    indices = jax.device_put(jnp.array([7, 0]), jax.devices()[1])
    for params in (jax.device_put(TABLE, ROWS), jax.device_put(TABLE, jax.devices()[2]), jnp.asarray(TABLE)):
        assert libgather.gather(params, indices).tolist() == TABLE[[7, 0]].tolist()
        with pytest.raises(libgather.IndexError, match="component 0 of tuple 0 is 8"):
            libgather.gather(params, indices + 1)
