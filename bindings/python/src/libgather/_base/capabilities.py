"""The version and the capabilities of the loaded library."""

from __future__ import annotations

from .. import types as t
from . import constants as c
from .integers import named
from .library import lib
from .library_calls import call, new
from .releases import release

_TIERS = named("TIER_")


def version() -> str:
    """Returns the release of the loaded library, such as ``"0.1.0"``.

    >>> import libgather
    >>> libgather.version() == libgather.__version__
    True
    """
    return release(lib.gth_version())


def capabilities() -> dict[str, t.Any]:
    """Returns the capabilities of the loaded library on this machine.

    Returns:
        A dict with abi, version, cpu_threads, cpu_tiers_built, cpu_tiers_usable (instruction sets), cpu_tier (the one
        in use), cuda_runtime and cuda_driver (``(major, minor)``), and devices (compute capability and memory).

        cuda_runtime is None if the library has no CUDA: libgather-cuda is not installed, or a warning during the import
        stated why its library is not used. cuda_driver is None if this machine has no driver. It is less than
        cuda_runtime if the driver is too old.

    >>> import libgather
    >>> libgather.capabilities()["abi"]
    1
    """
    info = new("gth_capability_info")
    call(lib.gth_capabilities, info)
    return {
        "abi": info.abi,
        "version": release(info.version),
        "cpu_threads": info.cpu_threads,
        "cpu_tiers_built": tiers(info.cpu_tiers_built),
        "cpu_tiers_usable": tiers(info.cpu_tiers_usable),
        "cpu_tier": next(iter(tiers(info.cpu_tier)), None),
        "cuda_runtime": cuda(info.cuda_runtime),
        "cuda_driver": cuda(info.cuda_driver),
        "devices": [
            {"compute": divmod(info.device_compute[i], 10), "memory": info.device_memory[i]}
            for i in range(min(info.device_count, c.MAX_DEVICES))
        ],
    }


def tiers(bits: int) -> list[str]:
    return [name for name, bit in _TIERS.items() if bits & bit]


def cuda(number: int) -> tuple[int, int] | None:
    return (number // 1000, number % 1000 // 10) if number else None


def shutdown() -> None:
    """Stops the library's threads. The next large call starts them again. No other call may run at the same time."""
    lib.gth_shutdown()
