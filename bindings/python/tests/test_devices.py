"""Arrays on devices: on an emulated device if the library supports it, and on a GPU if there is one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import libgather
from conftest import needs_emulated, run_emulated

TABLE = np.arange(12, dtype="f4").reshape(4, 3)


@needs_emulated
@pytest.mark.parametrize("name", ["devices", "scatters", "bags", "bag_gradients", "partitions", "streams"])
def test_on_an_emulated_device(name: str) -> None:
    run_emulated(f"emulated_{name}.py")


def test_sync_without_device_arrays_does_nothing() -> None:
    libgather.sync()
    with pytest.raises(libgather.DeviceError, match="a stream is for arrays on a device"):
        libgather.gather(TABLE, [0], stream=1)
    assert libgather.gather(TABLE, [0], sync=True).tolist() == TABLE[:1].tolist()


@pytest.mark.parametrize("sync", [1, "yes", None, [], TABLE, np.bool_(True)])
def test_sync_that_is_no_bool_is_refused_by_name(sync: Any) -> None:
    plan = libgather.Plan(TABLE, [0])
    calls: tuple[Callable[[], object], ...] = (
        lambda: libgather.gather(TABLE, [0], sync=sync),
        lambda: libgather.gather(TABLE.tolist(), [0], sync=sync),
        lambda: plan(TABLE, [0], sync=sync),
        lambda: plan.check([0], sync=sync),
    )
    for call in calls:
        with pytest.raises(libgather.DTypeError, match=f"options: sync is {type(sync).__name__}, not a bool"):
            call()


# ------------------------------------------------------------------------------------------------------ on real GPUs


class Torch:
    """The functions of torch that the tests need."""

    def __init__(self) -> None:
        self.module = pytest.importorskip("torch", reason="torch is not installed, nor its CUDA arrays")
        if not self.module.cuda.is_available():
            pytest.skip("torch has no CUDA device")

    def array(self, values: Any) -> Any:
        return self.module.from_numpy(np.ascontiguousarray(values)).cuda()

    def host(self, array: Any) -> Any:
        return array.cpu().numpy()

    def wait(self) -> None:
        self.module.cuda.synchronize()

    def using(self, stream: Any) -> Any:
        return self.module.cuda.stream(stream)


class Cupy:
    def __init__(self) -> None:
        self.module = pytest.importorskip("cupy", reason="cupy is not installed, nor its CUDA arrays")
        if not self.module.cuda.is_available():
            pytest.skip("cupy has no CUDA device")

    def array(self, values: Any) -> Any:
        return self.module.asarray(values)

    def host(self, array: Any) -> Any:
        return array.get()

    def wait(self) -> None:
        self.module.cuda.Device().synchronize()

    def using(self, stream: Any) -> Any:
        return stream


class Jax:
    def __init__(self) -> None:
        self.module = pytest.importorskip("jax", reason="jax is not installed, nor its CUDA arrays")
        if self.module.default_backend() != "gpu":
            pytest.skip("jax has no CUDA device")

    def array(self, values: Any) -> Any:
        return self.module.numpy.asarray(values)

    def host(self, array: Any) -> Any:
        return np.asarray(array)


@pytest.fixture(params=[Torch, Cupy, Jax])
def library(request: pytest.FixtureRequest) -> Any:
    return request.param()


@pytest.mark.skipif(not libgather.capabilities()["devices"], reason="there is no CUDA device")
class TestReal:
    def test_gather(self, library: Any) -> None:
        params, indices = library.array(TABLE), library.array(np.array([2, 0], "i4"))
        result = libgather.gather(params, indices)
        assert type(result) is type(params) and library.host(result).tolist() == TABLE[[2, 0]].tolist()
        tuples = library.array(np.array([[3, 1]], "i4"))
        assert library.host(libgather.gather_nd(params, tuples)).tolist() == [TABLE[3, 1]]
        plan = libgather.Plan(params, libgather.Spec("int32", (-1,)))
        assert library.host(plan(params, indices)).tolist() == TABLE[[2, 0]].tolist()
        libgather.sync()

    @pytest.mark.parametrize("inplace", [False, True], ids=["new", "inplace"])
    def test_scatter(self, library: Any, inplace: bool) -> None:
        if inplace and isinstance(library, Jax):
            pytest.skip("arrays of JAX are immutable")
        target, indices = library.array(TABLE), library.array(np.array([2, 0, 2], "i4"))
        updates = library.array(TABLE[:3])
        result = libgather.scatter(target, indices, updates, reduction="add", inplace=inplace)
        expected = TABLE.copy()
        np.add.at(expected, [2, 0, 2], TABLE[:3])
        assert type(result) is type(target) and library.host(result).tolist() == expected.tolist()
        gradient = libgather.gather_gradient(updates, indices, TABLE.shape)
        assert type(gradient) is type(target) and library.host(gradient).tolist() == (expected - TABLE).tolist()
        result = libgather.scatter(target, library.array(np.array([9, 0, 2], "i4")), updates)
        with pytest.raises(IndexError):
            libgather.sync()
        assert library.host(result).tolist() == library.host(target).tolist()

    def test_many_calls_in_order_with_the_library(self, library: Any) -> None:
        params = library.array(TABLE)
        for row in range(200):
            indices = library.array(np.array([row % 4], "i4"))
            assert library.host(libgather.gather(params * 2, indices)).tolist() == [(TABLE[row % 4] * 2).tolist()]

    def test_errors(self, library: Any) -> None:
        params, indices = library.array(TABLE), library.array(np.array([1, 9], "i4"))
        result = libgather.gather(params, indices)
        with pytest.raises(IndexError) as caught:
            libgather.sync()
        assert (caught.value.position, caught.value.value) == (1, 9)  # type: ignore[attr-defined]
        assert not library.host(result).any()
        with pytest.raises(libgather.IndexError):
            libgather.gather(params, indices, sync=True)
        assert not library.host(libgather.tf.gather(params, indices))[1].any()
        with pytest.raises(libgather.DeviceError, match="indices: it is on cpu"):
            libgather.gather(params, np.array([1]))

    @pytest.mark.parametrize("library", [Torch, Cupy], indirect=True)
    def test_outputs_and_streams(self, library: Any) -> None:
        params, indices = library.array(TABLE), library.array(np.array([3], "i4"))
        out = library.array(np.zeros((1, 3), "f4"))
        library.wait()
        stream = library.module.cuda.Stream()
        assert libgather.gather(params, indices, out=out, stream=stream, sync=True) is out
        assert library.host(out).tolist() == TABLE[3:].tolist()
        with library.using(stream):
            again = libgather.gather(params, indices)
        stream.synchronize()
        assert library.host(again).tolist() == TABLE[3:].tolist()
