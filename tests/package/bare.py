"""Installs, runs and removes packages in a minimal Debian system: bare.py FOLDER [KIND...]

FOLDER contains the output of `./dev package`. A KIND is one of kinds.py. Without a KIND, all of them are tested. Each
kind gets its own Debian root, which is made from the package sources of this machine. It contains only the requirements
that the README states. There the checksums are compared, and the first example of the README runs with the installed
package. After the removal, the files of the root are compared with those before the installation. The comparison must
also find the installed package, so that it is known to work.

The script requires root and mmdebstrap. Without them it exits with 77. Debian has no JDK that is new enough, so the
root gets the one of this machine. Without one, java is skipped. The kinds with CUDA are skipped if FOLDER has no such
packages. Their READMEs run on the CPU, because the roots have no driver.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from contents import check
from kinds import KINDS, jdk, steps
from traces import snapshot, traces

CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
TRUST = ["SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"]

#: The command of the page must print one line for each file.
CHECKSUMS = f"""cd packages
{steps("Verify a download")}
test $({steps("Verify a download").strip()} | grep -c ': OK$') = $(ls | grep -cv '^SHA256SUMS$')
cd ..
"""


def make_root(folder):
    sources = sorted(Path("/etc/apt/sources.list.d").glob("*.sources")) or [Path("/etc/apt/sources.list")]
    command = ["mmdebstrap", "--quiet", "--variant=minbase", "--mode=root", "--include=ca-certificates", "bookworm"]
    subprocess.run([*command, folder, *sources], check=True)
    for path in [*Path("/etc/apt/apt.conf.d").glob("99*"), "/etc/resolv.conf", "/etc/hosts", CERTIFICATES]:
        shutil.copy(path, f"{folder}{path}")
    (folder / "try/packages").mkdir(parents=True)
    (folder / "root/.cache").mkdir(exist_ok=True)


def inside(root, script):
    """Runs a script in a root. Returns its output if it failed, else None."""
    steps = root / "steps.sh"
    steps.write_text(f"set -eux\n{script}")
    variables = {"HOME": "/root", "LANG": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}
    variables["PATH"] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    variables |= dict.fromkeys(TRUST, CERTIFICATES)
    command = [
        "unshare",
        "--mount",
        "sh",
        "-c",
        'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && \
exec chroot "$0" sh -c "cd /try && exec sh /steps.sh"',
        root,
    ]
    ran = subprocess.run(command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    steps.unlink()
    return ran.stdout if ran.returncode else None


def trial(kind, root):
    """Installs, runs and removes a package. Returns the reason if this failed, else None."""
    if failure := inside(root, f"apt-get update -qq\n{kind.needs}"):
        return f"The requirements cannot be installed.\n{failure}"
    before = snapshot(root)
    if failure := inside(root, CHECKSUMS + kind.use):
        return failure
    if not traces(before, snapshot(root)):
        return "The comparison does not find the installed package."
    if failure := inside(root, f"{kind.remove}cd /try\nrm -r {kind.own}\n"):
        return f"It cannot be removed.\n{failure}"
    return "\n".join(traces(before, snapshot(root))) or None


def attempt(name, base, packages):
    kind = KINDS[name]()
    found = sorted(packages.glob(kind.files))
    if not found:
        return f"there is no {kind.files}"
    if wrong := check(packages, found):
        return "\n".join(wrong)
    root = base.parent / name
    subprocess.run(["cp", "-a", base, root], check=True)
    for path in [*found, packages / "SHA256SUMS"]:
        shutil.copy(path, root / "try/packages")
    (root / "files").mkdir()
    for path, place in kind.brings.items():
        subprocess.run(["cp", "-a", path, f"{root}{place}"], check=True)
    failure = trial(kind, root)
    subprocess.run(["rm", "-rf", "--one-file-system", root], check=True)
    return failure


def main(packages, names):
    if os.geteuid() != 0 or not shutil.which("mmdebstrap"):
        print("skipped: the test requires root and mmdebstrap")
        return 77
    failed = 0
    with tempfile.TemporaryDirectory(prefix="bare.") as folder:
        base = Path(folder) / "base"
        make_root(base)
        for name in names or KINDS:
            if name == "java" and not jdk():
                print("skipped: java: there is no JDK 22 or newer")
                continue
            if "cuda" in name and not list(packages.glob("*cuda*")):
                print(f"skipped: {name}: there are no packages with CUDA, because there was no nvcc")
                continue
            failure = attempt(name, base, packages)
            passed = "installed, its README runs, and its removal leaves no file"
            print(f"{name}: " + (f"FAILED\n{failure}" if failure else passed), flush=True)
            failed += failure is not None
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
