"""Wheels that can be installed anywhere: glibc and musl, x86-64 and aarch64, each for every Python from 3.11 on.

    wheels.py SDIST OUT [TARGET ...]      makes the wheels of all targets, or of these, from a source distribution

Runs in a Python that has what requirements-wheels.txt names. A target is the platform of a wheel's name. zig compiles
for all of them on one machine, for glibc against the oldest that wheels may still be of. auditwheel then holds each
against the platform, and abi3audit against Python's stable ABI.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from auditwheel.wheeltools import InWheel

#: What zig calls each platform.
TARGETS = {
    "manylinux_2_17_x86_64": "x86_64-linux-gnu.2.17",
    "manylinux_2_17_aarch64": "aarch64-linux-gnu.2.17",
    "musllinux_1_2_x86_64": "x86_64-linux-musl",
    "musllinux_1_2_aarch64": "aarch64-linux-musl",
}


def run(*command: object, **environment: str) -> None:
    """A command of this Python and of the tools beside it."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    subprocess.run([str(part) for part in command], check=True, env={**os.environ, "PATH": path, **environment})


def unpacked(archive: Path, folder: Path) -> Path:
    shutil.unpack_archive(archive, folder)
    return folder / archive.name.removesuffix(".tar.gz")


def configuration(folder: Path, machine: str) -> Path:
    """A folder to include from with Python's configuration.

    Debian's pyconfig.h includes one by the name of the machine, from where only compilers for this machine look. On all
    machines of ours the stable ABI reads the same from it.
    """
    header = Path(sysconfig.get_config_h_filename())
    for own in header.parents[1].glob(f"{sysconfig.get_config_var('MULTIARCH')}/{header.parent.name}/{header.name}"):
        copy = folder / f"{machine}-linux-gnu" / header.parent.name
        copy.mkdir(parents=True)
        shutil.copy(own, copy)
    return folder


def compilers(folder: Path, target: str) -> dict[str, str]:
    """zig as a C and a C++ compiler of a target, by the names that CMake reads."""
    zig = TARGETS[target]
    folder.mkdir(parents=True)
    include = configuration(folder / "include", zig.partition("-")[0])
    commands = {"CC": folder / "cc", "CXX": folder / "c++"}
    for command in commands.values():
        compiler = f'"{sys.executable}" -m ziglang {command.name} -target {zig} -isystem "{include}"'
        command.write_text(f'#!/bin/sh\nexec {compiler} "$@"\n', encoding="utf-8")
        command.chmod(0o755)
    return {name: str(command) for name, command in commands.items()}


def processor_features(folder: Path) -> Path:
    """What ``__builtin_cpu_supports`` asks on x86-64: GCC's, for zig brings none."""
    runtime = subprocess.check_output(["x86_64-linux-gnu-gcc", "-print-libgcc-file-name"], text=True).strip()
    taken = folder / "cpuinfo.o"
    taken.write_bytes(subprocess.check_output([sys.executable, "-m", "ziglang", "ar", "p", runtime, taken.name]))
    return taken


def build(tree: Path, target: str, folder: Path) -> Path:
    """A wheel whose platform is not judged yet."""
    machine = TARGETS[target].partition("-")[0]
    environment = compilers(folder / "bin", target)
    definitions = {
        "CMAKE_SYSTEM_NAME": "Linux",
        "CMAKE_SYSTEM_PROCESSOR": machine,
        "CMAKE_SHARED_LINKER_FLAGS": "-s",
        "CMAKE_MODULE_LINKER_FLAGS": "-s",
        # zig links no objects that hold code for link-time optimisation beside ordinary code, but with that alone.
        "GATHER_CLANG_LINK_TIME": "OFF",
        "CMAKE_CXX_FLAGS": "-flto",
    }
    if machine == "x86_64":
        definitions["CMAKE_CXX_STANDARD_LIBRARIES"] = str(processor_features(folder))
    environment |= {
        "CMAKE_ARGS": " ".join(f"-D{name}={value}" for name, value in definitions.items()),
        "CMAKE_GENERATOR": "Ninja",
        "_PYTHON_HOST_PLATFORM": f"linux-{machine}",
    }
    made = folder / "made"
    run(sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", made, tree, **environment)
    (wheel,) = made.glob("*.whl")
    return wheel


def name_musl(wheel: Path, machine: str) -> None:
    """Calls musl what its distributions call it; zig calls it libc.so, which is another file where there is glibc."""
    with InWheel(wheel, wheel) as folder:
        for library in Path(folder).glob("libgather/*.so*"):
            run("patchelf", "--replace-needed", "libc.so", f"libc.musl-{machine}.so.1", library)


def judged(wheel: Path, target: str, folder: Path) -> Path:
    """The wheel under the name of the platform that auditwheel finds it to be for, if it keeps to the stable ABI.

    auditwheel reads from the name of a wheel which machine and which C library it is to judge it for.
    """
    claimed = wheel.rename(wheel.with_name(f"{wheel.name.rpartition('-')[0]}-{target}.whl"))
    if target.startswith("musl"):
        name_musl(claimed, TARGETS[target].partition("-")[0])
    run(sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", folder, claimed)
    (named,) = folder.glob("*.whl")
    if target not in named.name:
        sys.exit(f"{named.name} is not for {target}")
    run(sys.executable, "-m", "abi3audit", "--strict", named)
    return named


def main(arguments: list[str]) -> int:
    if len(arguments) < 2 or not {*arguments[2:]} <= TARGETS.keys():
        print(__doc__, "Targets:", *TARGETS, sep="\n")
        return 2
    sdist, out = Path(arguments[0]), Path(arguments[1])
    work = Path(sys.prefix, "wheels")  # the same at each time, for caches of compilers
    shutil.rmtree(work, ignore_errors=True)
    tree = unpacked(sdist, work)
    for target in arguments[2:] or TARGETS:
        wheel = judged(build(tree, target, work / target), target, work / target / "judged")
        print(f"{wheel.name}: {wheel.stat().st_size} bytes", flush=True)
        shutil.move(wheel, out / wheel.name)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
