"""Builds the extension of libgather.torch: ``python -m libgather.torch.build [FOLDER [TORCH]]``.

It needs a C++ compiler (``CXX``, or ``c++``) and takes about 30 seconds. FOLDER is the cache of the user by default,
``~/.cache/libgather``, which no other user may write. The folder of the package, ``libgather/torch``, is also searched,
so it may have shared objects for several minor versions of torch. TORCH is the folder ``torch`` of the version, by
default the installed one. Of an unpacked wheel, ``torch/include`` and ``torch/version.py`` are enough.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib import import_module
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory

from ._checked_files import MODE, opened_folder, seal
from ._object_files import SOURCES, cache_folder, file_name, minor_of

PACKAGE = SOURCES.parents[1]
#: The libraries of torch that a process with torch has loaded. The extension is linked to empty files of these names.
LIBRARIES = "c10", "torch_cpu", "torch_python"


def compiler() -> list[str]:
    words = (os.environ.get("CXX") or "c++").split()
    return words if which(words[0]) else sys.exit(f"there is no C++ compiler {words[0]}: install one, or set CXX")


def version_of(folder: Path) -> str:
    """Returns the version of a torch that is not imported."""
    found = re.search(r"__version__ = '([^']+)'", (folder / "version.py").read_text(encoding="utf-8"))
    return found[1] if found else sys.exit(f"{folder} is no torch")


def flags(folder: Path) -> list[str]:
    include = folder / "include"
    headers = [include, include / "torch/csrc/api/include", sysconfig.get_paths()["include"]]
    standard = "c++20" if minor_of(version_of(folder)) >= (2, 12) else "c++17"
    # Messages of torch contain the paths of its headers.
    names = f"-ffile-prefix-map={folder}=torch", f"-ffile-prefix-map={SOURCES}=libgather/torch/native"
    return ["-O2", "-fPIC", "-fvisibility=hidden", f"-std={standard}", *names, f"-I{SOURCES}"] + [
        word for header in headers for word in ("-isystem", str(header))
    ]


def run(*command: object) -> None:
    """Runs a command of the compiler. Its output is shown if it fails."""
    words = [str(word) for word in command]
    result = subprocess.run(words, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"{' '.join(words)}\n{result.stdout}{result.stderr}")


def compiled(source: Path, folder: Path, of_torch: Path) -> Path:
    out = folder / f"{source.stem}.o"
    run(*compiler(), *flags(of_torch), "-c", source, "-o", out)
    return out


def link(objects: Sequence[Path], out: Path, folder: Path, package: str) -> None:
    """Links the objects. The real libraries of torch take 500 MB and need not be read.

    `package` is the folder in which the process finds the library.
    """
    for name in LIBRARIES:
        run(*compiler(), "-shared", "-x", "c", "/dev/null", f"-Wl,-soname,lib{name}.so", "-o", folder / f"lib{name}.so")
    (library,) = PACKAGE.glob("libgather.so.*")
    libraries = [f"-l{name}" for name in LIBRARIES]
    paths = f"-L{folder}", f"-Wl,-rpath,{package}"
    run(*compiler(), "-shared", "-Wl,-s,--no-as-needed", *objects, *paths, *libraries, library, "-o", out)


def build(folder: Path, of_torch: Path) -> Path:
    """Builds the shared object in a folder and returns its path. An existing one is replaced in one step."""
    folder.mkdir(MODE, parents=True, exist_ok=True)
    out = folder / file_name(version_of(of_torch))
    with TemporaryDirectory(dir=folder) as temporary:
        work = Path(temporary)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            objects = list(pool.map(partial(compiled, folder=work, of_torch=of_torch), sorted(SOURCES.glob("*.cpp"))))
        made = work / out.name
        is_inside = folder.resolve() == SOURCES.parent.resolve()
        link(objects, made, work, "$ORIGIN/.." if is_inside else str(PACKAGE))
        seal(made)
        made.replace(out)
    return out


def folder_of_user() -> Path:
    """Returns the cache of the user, from which an import loads only if no other user may write it."""
    folder = cache_folder()
    if folder is None:
        sys.exit("this user has no home: name a FOLDER")
    folder.mkdir(MODE, parents=True, exist_ok=True)
    with opened_folder(folder):
        return folder


def main(arguments: Sequence[str]) -> int:
    if len(arguments) > 2 or any(argument.startswith("-") for argument in arguments):
        print(__doc__)
        return 2
    start = time.monotonic()
    of_torch = Path(arguments[1] if len(arguments) > 1 else import_module("torch").__path__[0])
    try:
        out = build(Path(arguments[0]) if arguments else folder_of_user(), of_torch)
    except (ImportError, OSError) as error:
        sys.exit(f"the extension cannot be built: {error}")
    print(f"{out}: {out.stat().st_size} bytes, {time.monotonic() - start:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
