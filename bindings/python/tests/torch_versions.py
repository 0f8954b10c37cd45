"""Runs the tests of libgather.torch with each version of torch that a wheel has a shared object for.

    torch_versions.py WHEEL FOLDER

The Python has one of these versions. FOLDER receives the wheel, and the other versions with what they need.
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import version as installed
from pathlib import Path

TESTS = Path(__file__).resolve().parent
sys.path.insert(0, str(TESTS.parent))
from wheels_torch import VERSIONS  # noqa: E402

#: The files of tests of libgather.torch, which test_torch.py runs too.
FILES = sorted(file.name for file in TESTS.glob("torch_*.py") if "\ndef test_" in file.read_text(encoding="utf-8"))
LOADED = """
import torch, libgather.torch
from libgather.torch._extension import extension
print(torch.__version__.partition("+")[0], extension.__spec__.origin.rpartition("/")[2].split("-")[1])
"""


def install(folder: Path, *what: str) -> Path:
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--upgrade", "--target", folder, *what]
    subprocess.run(command, check=True)
    return folder


def tested(version: str, site: Path, folder: Path) -> bool:
    """Runs the tests with a version of torch, prints the result, and returns whether they passed."""
    paths = [site] if installed("torch") == version else [site, install(folder / version, f"torch=={version}")]
    # The cache of the user is an empty folder, so that the shared object is that of the wheel.
    variables = {"PYTHONPATH": os.pathsep.join(map(str, paths)), "XDG_CACHE_HOME": str(folder / "empty")}
    environment = os.environ | variables
    loaded = subprocess.check_output([sys.executable, "-c", LOADED], env=environment, text=True).split()
    passed = loaded == [version, version.rpartition(".")[0]]
    last = []
    for file in FILES:
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-c",
            TESTS.parent / "pyproject.toml",
            "-q",
            "-p",
            "no:cacheprovider",
        ]
        done = subprocess.run(
            [*command, TESTS / file], env=environment, cwd=TESTS, capture_output=True, text=True, check=False
        )
        passed &= done.returncode == 0
        last.append(f"{file}: {done.stdout.strip().rpartition(chr(10))[2] or done.stderr}")
    print(f"torch {loaded[0]} with the object for {loaded[1]}: {'passed' if passed else 'FAILED'}", *last, sep="\n  ")
    return passed


def main(arguments: list[str]) -> int:
    if len(arguments) != 2:
        print(__doc__)
        return 2
    wheel, folder = (Path(argument).resolve() for argument in arguments)  # the tests run in another folder
    site = install(folder / "site", "--no-deps", str(wheel))
    results = [tested(version, site, folder) for version in VERSIONS]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
