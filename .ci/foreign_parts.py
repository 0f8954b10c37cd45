"""Lists the code of others in a package.

Packages contain only code of this project, except for wheels (a C++ runtime), those for Windows (the runtime of
MinGW-w64), and those with CUDA. Requires the Python environment that builds wheels.
"""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "bindings/python"))

DOCUMENTS = Path("/usr/share/doc")
LLVM = "Apache-2.0 WITH LLVM-exception"
GCC = "GPL-3.0-or-later WITH GCC-exception-3.1"
EULA = "LicenseRef-NVIDIA-Proprietary"
CUB = "BSD-3-Clause"
MINGW = "LicenseRef-MinGW-w64"

# What these names of licences stand for.
TEXTS = {
    EULA: "End User License Agreement of the NVIDIA CUDA Toolkit. Its text is in the packages.",
    MINGW: "The licences of the runtime of MinGW-w64 and of winpthreads. Their texts are in the packages.",
}


@dataclass(frozen=True)
class Part:
    """Code of others: its name, version, SPDX licence, and the file with the text of the licence if that is missing."""

    name: str
    version: str
    licence: str
    text: Path | None = None


def output(*command):
    return subprocess.check_output(command, text=True).strip()


def zig_parts():
    """Yields the C++ runtime of zig, and its runtime of the compiler."""
    from importlib.metadata import version

    import ziglang

    folder, release = Path(ziglang.__file__).parent, f"of zig {version('ziglang')}"
    for name, place in (("libc++", "libcxx"), ("libc++abi", "libcxxabi"), ("libunwind", "libunwind")):
        yield Part(name, release, LLVM, folder / "lib" / place / "LICENSE.TXT")
    yield Part("compiler-rt", release, "MIT", folder / "LICENSE")


def mingw_parts():
    """Yields the runtimes of GCC and MinGW-w64 for Windows."""
    release = output("x86_64-w64-mingw32-gcc-posix", "-dumpfullversion")
    yield Part("libstdc++ and libgcc", release, GCC, DOCUMENTS / "gcc-mingw-w64-base/copyright")
    release = output("dpkg-query", "--show", "--showformat=${Version}", "mingw-w64-common")
    yield Part("mingw-w64", release, MINGW, DOCUMENTS / "mingw-w64-common/copyright")


def cuda_parts():
    """Yields NVIDIA's runtime and CUB. The packages have the texts of their licences."""
    toolkit = re.search(r"V([\d.]+)$", output(os.environ.get("CUDACXX", "nvcc"), "--version"), re.MULTILINE)[1]
    yield Part("cudart_static", toolkit, EULA)
    yield Part("cub", f"of CUDA {toolkit}", CUB)


def torch_part():
    """Returns the code of the headers of torch in the operators."""
    from wheels_torch import VERSIONS

    return Part("headers of torch", " and ".join(VERSIONS), "BSD-3-Clause", ROOT / ".ci/licences/torch.txt")


def has_cuda(path):
    return path.name.startswith(("libgather_cuda-", "libgather1-cuda_"))


def parts(path):
    """Yields the code of others in a package."""
    if has_cuda(path):
        yield from cuda_parts()
    if "win_amd64" in path.name or "windows-x86_64" in path.name:
        yield from mingw_parts()
    elif path.suffix == ".whl":
        yield from zig_parts()
        if path.stem.endswith("x86_64"):
            release = output("x86_64-linux-gnu-gcc", "-dumpfullversion")
            yield Part("libgcc", release, GCC, DOCUMENTS / f"libgcc-{release.split('.')[0]}-dev/copyright")
            if "manylinux" in path.name and not has_cuda(path):
                yield torch_part()
