"""The package libgather-cuda, which contains the library with CUDA. The import of this module loads that library."""

from __future__ import annotations

from .constants import ABI_VERSION, VERSION
from .releases import release


def load_library() -> None:
    """Loads the library of libgather-cuda if that package is installed and has the version of this one.

    The extension modules need a library by its soname, and the dynamic linker gives them one that is already loaded.
    Otherwise it finds the library for the CPU beside them. If libgather-cuda is installed and its library is not used,
    a warning states the reason.
    """
    try:
        import libgather_cuda
    except ModuleNotFoundError:
        return
    ours, theirs = release(VERSION), getattr(libgather_cuda, "__version__", None)
    if theirs == ours:
        import ctypes

        try:
            ctypes.CDLL(f"{libgather_cuda.__path__[0]}/libgather.so.{ABI_VERSION}")
            return
        except OSError as error:
            problem = str(error)
    else:
        problem = f'its version is {theirs}, and that of libgather is {ours}. Install "libgather[cuda]=={ours}".'

    import warnings

    warnings.warn(
        f"libgather runs without CUDA, because it does not use the package libgather-cuda: {problem}",
        RuntimeWarning,
        stacklevel=5,  # the import of libgather
    )


load_library()
