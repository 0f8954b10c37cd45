"""Checks the packages with CUDA in a folder: cuda.py FOLDER

Each contains the library and the licences of the code of others. The library has at most 8 MiB, and code for the
architectures that docs/install.md states.
"""

import io
import struct
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

LARGEST = 8 << 20  # bytes
PTX, MACHINE = 1, 2
CODE = {(MACHINE, 80), (MACHINE, 90), (MACHINE, 100), (MACHINE, 120), (PTX, 120)}
FATBIN = struct.pack("<I", 0xBA55ED50)
LICENCES = ("End User License Agreement", "Duane Merrill", "Redistributions in binary form", "Apache")


def code_of(library):
    """Returns the kind and the architecture of all code for devices. Each fatbin and each part of it has a header."""
    found, begin = set(), library.find(FATBIN)
    while begin >= 0:
        header, size = struct.unpack_from("<HQ", library, begin + 6)
        at, end = begin + header, begin + header + size
        while at < end:
            kind, _, header, size = struct.unpack_from("<HHIQ", library, at)
            found.add((kind, *struct.unpack_from("<I", library, at + 28)))
            at += header + size
        begin = library.find(FATBIN, end)
    return found


def files_of(package):
    """Yields the name and the bytes of each file in a package."""
    if package.suffix == ".whl":
        with zipfile.ZipFile(package) as archive:
            yield from ((name, archive.read(name)) for name in archive.namelist())
        return
    unpacked = subprocess.check_output(["dpkg-deb", "--fsys-tarfile", package])
    with tarfile.open(fileobj=io.BytesIO(unpacked)) as archive:
        yield from ((each.name, archive.extractfile(each).read()) for each in archive if each.isfile())


def check(package):
    files = dict(files_of(package))
    (library,) = (content for name, content in files.items() if "/libgather.so." in name)
    print(f"{package.name}: {package.stat().st_size} bytes, its library {len(library)}")
    texts = b"\n".join(content for name, content in files.items() if "licenses" in name or name.endswith("copyright"))
    problems = [f"no licence with {each!r}" for each in LICENCES if each.encode() not in texts]
    if len(library) > LARGEST:
        problems.append(f"the library has {len(library)} bytes, more than {LARGEST}")
    if code_of(library) != CODE:
        problems.append(f"the library has code {sorted(code_of(library))}, not {sorted(CODE)}")
    return [f"{package.name}: {each}" for each in problems]


def main(folder):
    packages = [*folder.glob("libgather_cuda-*.whl"), *folder.glob("libgather1-cuda_*.deb")]
    problems = [each for package in packages for each in check(package)]
    if len(packages) != 2:
        problems.append(f"{folder} has {len(packages)} packages with CUDA, not 2")
    print("\n".join(problems))
    return len(problems) > 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
