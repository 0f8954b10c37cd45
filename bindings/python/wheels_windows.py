"""What GCC of MinGW-w64 needs to build a wheel for Windows on x86-64. wheels.py uses it."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
from pathlib import Path

from abi3info import DATAS, FUNCTIONS

TOOL = "x86_64-w64-mingw32"

#: The configuration of Python for Windows, as far as the headers of the stable ABI use it.
CONFIGURATION = """#pragma once
#define MS_WINDOWS
#define MS_WIN64
#define HAVE_DECLSPEC_DLL
#define Py_ENABLE_SHARED
#define SIZEOF_INT 4
#define SIZEOF_LONG 4
#define SIZEOF_LONG_LONG 8
#define SIZEOF_PID_T 8
#define SIZEOF_SIZE_T 8
#define SIZEOF_VOID_P 8
#define SIZEOF_WCHAR_T 2
"""


def headers(folder: Path) -> Path:
    """Returns a copy of the headers of this Python, with the configuration for Windows."""
    shutil.copytree(sysconfig.get_path("include"), folder)
    (folder / "pyconfig.h").write_text(CONFIGURATION, encoding="utf-8")
    return folder


def import_library(folder: Path) -> Path:
    """Returns an import library of python3.dll, which exports the stable ABI. CMake accepts it only under this name."""
    names = [each.name for each in FUNCTIONS] + [f"{each.name} DATA" for each in DATAS]
    exports, library = folder / "python3.def", folder / "libpython311.a"
    exports.write_text("\n".join(["LIBRARY python3.dll", "EXPORTS", *names, ""]), encoding="utf-8")
    subprocess.run([f"{TOOL}-dlltool", "-d", exports, "-l", library], check=True)
    return library


def mingw(folder: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Returns the environment and CMake's definitions."""
    folder.mkdir(parents=True)
    definitions = {
        "CMAKE_SYSTEM_NAME": "Windows",
        "CMAKE_SYSTEM_PROCESSOR": "x86_64",
        "CMAKE_SHARED_LINKER_FLAGS": "-s",
        "CMAKE_MODULE_LINKER_FLAGS": "-s -static",
        "Python_INCLUDE_DIR": str(headers(folder / "include")),
        "Python_LIBRARY": str(import_library(folder)),
    }
    compilers = {"CC": f"{TOOL}-gcc-posix", "CXX": f"{TOOL}-g++-posix"}
    return compilers | {"_PYTHON_HOST_PLATFORM": "win-amd64"}, definitions
