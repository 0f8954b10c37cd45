"""Builds wheels for glibc and musl on x86-64 and aarch64, and for Windows on x86-64.

    wheels.py SDIST OUT [TARGET ...]      builds wheels from a source distribution, by default for all targets but cuda

Each wheel serves all Python releases from 3.11 on. The Python needs the packages of requirements-wheels.txt. A target
is the platform in the name of a wheel. zig compiles for all targets but Windows. For glibc it uses the oldest release
that wheels may support, and auditwheel validates the platform. GCC of MinGW-w64 compiles for Windows. abi3audit
validates the use of Python's stable ABI. GCC compiles the extension of libgather.torch for the wheel for glibc on
x86-64. This does not change the platform of the wheel, because torch itself needs a newer glibc.

The target cuda is the wheel of libgather-cuda, for glibc on x86-64. The variable CUDACXX names nvcc.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from auditwheel.wheeltools import InWheel
from wheels_cuda import nvcc
from wheels_torch import add_objects
from wheels_windows import mingw

CUDA = "cuda"
WINDOWS = "win_amd64"
GLIBC = "manylinux_2_17_x86_64"

#: The name of each other platform in zig.
ZIG = {
    GLIBC: "x86_64-linux-gnu.2.17",
    "manylinux_2_17_aarch64": "aarch64-linux-gnu.2.17",
    "musllinux_1_2_x86_64": "x86_64-linux-musl",
    "musllinux_1_2_aarch64": "aarch64-linux-musl",
}
WITHOUT_CUDA = (*ZIG, WINDOWS)
TARGETS = (*WITHOUT_CUDA, CUDA)


def run(*command: object, **environment: str) -> None:
    """Runs a command with the tools of this Python environment."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    subprocess.run([str(part) for part in command], check=True, env={**os.environ, "PATH": path, **environment})


def platform_of(target: str) -> str:
    return GLIBC if target == CUDA else target


def unpacked(archive: Path, folder: Path) -> Path:
    shutil.unpack_archive(archive, folder)
    return folder / archive.name.removesuffix(".tar.gz")


def configuration(folder: Path, machine: str) -> Path:
    """Returns an include folder with Python's configuration.

    Debian's pyconfig.h includes a file of the machine, in a folder that only compilers for this machine search. The
    stable ABI uses the same values of it on all supported machines.
    """
    header = Path(sysconfig.get_config_h_filename())
    for own in header.parents[1].glob(f"{sysconfig.get_config_var('MULTIARCH')}/{header.parent.name}/{header.name}"):
        copy = folder / f"{machine}-linux-gnu" / header.parent.name
        copy.mkdir(parents=True)
        shutil.copy(own, copy)
    return folder


def compilers(folder: Path, target: str) -> dict[str, str]:
    """Returns zig as C and C++ compiler of a target, with the variables that CMake reads."""
    name = ZIG[target]
    folder.mkdir(parents=True)
    include = configuration(folder / "include", name.partition("-")[0])
    commands = {"CC": folder / "cc", "CXX": folder / "c++"}
    for command in commands.values():
        compiler = f'"{sys.executable}" -m ziglang {command.name} -target {name} -isystem "{include}"'
        command.write_text(f'#!/bin/sh\nexec {compiler} "$@"\n', encoding="utf-8")
        command.chmod(0o755)
    return {name: str(command) for name, command in commands.items()}


def processor_features(folder: Path) -> Path:
    """Returns GCC's object file for ``__builtin_cpu_supports`` on x86-64, because zig has none."""
    runtime = subprocess.check_output(["x86_64-linux-gnu-gcc", "-print-libgcc-file-name"], text=True).strip()
    taken = folder / "cpuinfo.o"
    taken.write_bytes(subprocess.check_output([sys.executable, "-m", "ziglang", "ar", "p", runtime, taken.name]))
    return taken


def zig(folder: Path, target: str) -> tuple[dict[str, str], dict[str, str]]:
    """Returns the environment and CMake's definitions of a target of zig."""
    folder.mkdir(parents=True)
    machine = ZIG[target].partition("-")[0]
    definitions = {
        "CMAKE_SYSTEM_NAME": "Linux",
        "CMAKE_SYSTEM_PROCESSOR": machine,
        "CMAKE_SHARED_LINKER_FLAGS": "-s",
        "CMAKE_MODULE_LINKER_FLAGS": "-s",
        # zig cannot link objects that have both ordinary code and code for link-time optimisation.
        "GATHER_CLANG_LINK_TIME": "OFF",
        "CMAKE_CXX_FLAGS": "-flto",
    }
    if machine == "x86_64":
        definitions["CMAKE_CXX_STANDARD_LIBRARIES"] = str(processor_features(folder))
    return compilers(folder / "bin", target) | {"_PYTHON_HOST_PLATFORM": f"linux-{machine}"}, definitions


def build(tree: Path, target: str, folder: Path) -> Path:
    """Builds a wheel that has not been validated."""
    environment, definitions = mingw(folder) if target == WINDOWS else zig(folder, platform_of(target))
    if target == CUDA:
        tree /= "cuda"
        definitions |= nvcc(folder / "nvcc", tree)
    environment |= {
        "CMAKE_ARGS": shlex.join(f"-D{name}={value}" for name, value in definitions.items()),
        "CMAKE_GENERATOR": "Ninja",
    }
    made = folder / "made"
    run(sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", made, tree, **environment)
    (wheel,) = made.glob("*.whl")
    return wheel


def name_musl(wheel: Path, machine: str) -> None:
    """Replaces the name of musl. zig uses libc.so, which is another file on systems with glibc."""
    with InWheel(wheel, wheel) as folder:
        for library in Path(folder).glob("libgather/*.so*"):
            run("patchelf", "--replace-needed", "libc.so", f"libc.musl-{machine}.so.1", library)


def repaired(wheel: Path, platform: str, folder: Path) -> Path:
    """Names a wheel by the platform that auditwheel finds.

    auditwheel reads the machine and the C library from the name of the wheel.
    """
    claimed = wheel.rename(wheel.with_name(f"{wheel.name.rpartition('-')[0]}-{platform}.whl"))
    if platform.startswith("musl"):
        name_musl(claimed, ZIG[platform].partition("-")[0])
    run(sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", folder, claimed)
    (named,) = folder.glob("*.whl")
    return named


def validated(wheel: Path, target: str, folder: Path) -> Path:
    """Validates the platform of a wheel and its use of the stable ABI."""
    platform = platform_of(target)
    named = wheel if target == WINDOWS else repaired(wheel, platform, folder)
    if platform not in named.name:
        sys.exit(f"{named.name} is not for {platform}")
    if target != CUDA:  # It has no extension module.
        run(sys.executable, "-m", "abi3audit", "--strict", named)
    return named


def main(arguments: list[str]) -> int:
    if len(arguments) < 2 or not {*arguments[2:]} <= {*TARGETS}:
        print(__doc__, "Targets:", *TARGETS, sep="\n")
        return 2
    sdist, out = Path(arguments[0]), Path(arguments[1])
    work = Path(sys.prefix, "wheels")  # the same path in each run, for compiler caches
    shutil.rmtree(work, ignore_errors=True)
    tree = unpacked(sdist, work)
    for target in arguments[2:] or WITHOUT_CUDA:
        wheel = validated(build(tree, target, work / target), target, work / target / "validated")
        if target == GLIBC:
            with InWheel(wheel, wheel) as folder:
                add_objects(Path(folder, "libgather"))
        print(f"{wheel.name}: {wheel.stat().st_size} bytes", flush=True)
        shutil.move(wheel, out / wheel.name)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
