"""Writes the software bill of materials of packages as an SPDX document.

Usage: sbom.py PACKAGE... >FILE

Packages contain only code of this project, with two exceptions: wheels also contain a C++ runtime, and packages with
CUDA contain code of NVIDIA. The document lists the dependencies of a package: the crates in Cargo.lock and the Python
distributions in pyproject.toml.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
import tomllib
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NOTHING = "NOASSERTION"
OURS = "Apache-2.0"
EULA = "LicenseRef-NVIDIA-Proprietary"
CUB = "BSD-3-Clause"


def version():
    number = int(re.search(r"#define GTH_VERSION (\d+)", (ROOT / "include/gather/gather.h").read_text())[1])
    return f"{number // 1_000_000}.{number // 1000 % 1000}.{number % 1000}"


def created():
    """Returns the time of the last commit, so that the document is reproducible."""
    commit = ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"]
    seconds = os.environ.get("SOURCE_DATE_EPOCH") or subprocess.check_output(commit, text=True)
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def identifier(*words):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", "-".join(words))


def sha256(path):
    return [{"algorithm": "SHA256", "checksumValue": hashlib.sha256(path.read_bytes()).hexdigest()}]


def package(name, release, licence, **more):
    return {
        "SPDXID": identifier("Package", name, release),
        "name": name,
        "versionInfo": release,
        "downloadLocation": NOTHING,
        "filesAnalyzed": False,
        "licenseConcluded": licence,
        "licenseDeclared": licence,
        "copyrightText": NOTHING,
        **more,
    }


def has_cuda(path):
    return path.name.startswith(("libgather_cuda-", "libgather1-cuda_"))


def made(path):
    licence = f"{OURS} AND {CUB} AND {EULA}" if has_cuda(path) else OURS
    return package(path.name, version(), licence, packageFileName=path.name, checksums=sha256(path))


def located(kind, name, release=None):
    locator = f"pkg:{kind}/{name}" + (f"@{release}" if release else "")
    return [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": locator}]


def crates():
    """Yields the dependencies of the two crates, except those of tests only."""
    lock = tomllib.loads((ROOT / "bindings/rust/Cargo.lock").read_text())["package"]
    known = {each["name"]: each for each in lock}
    manifests = [tomllib.loads(path.read_text()) for path in ROOT.glob("bindings/rust/gather*/Cargo.toml")]
    wanted = {
        name for each in manifests for key in ("dependencies", "build-dependencies") for name in each.get(key, {})
    }
    reached = set()
    while wanted:
        name = wanted.pop()
        reached.add(name)
        wanted |= {word.split()[0] for word in known[name].get("dependencies", [])} - reached
    for each in lock:
        if each["name"] in reached and "checksum" in each:
            digest = [{"algorithm": "SHA256", "checksumValue": each["checksum"]}]
            references = located("cargo", each["name"], each["version"])
            yield package(each["name"], each["version"], NOTHING, checksums=digest, externalRefs=references)


def distributions():
    project = tomllib.loads((ROOT / "bindings/python/pyproject.toml").read_text())["project"]
    for requirement in project["dependencies"]:
        name, _, needed = requirement.partition(">=")
        yield package(name, f">={needed}", NOTHING, externalRefs=located("pypi", name))


def linked(path):
    """Yields the foreign code in a package.

    A package with CUDA contains the runtime of NVIDIA and CUB. A wheel contains the C++ runtime of zig, and an object
    file of GCC for x86-64.
    """
    if has_cuda(path):
        nvcc = subprocess.check_output([os.environ.get("CUDACXX", "nvcc"), "--version"], text=True)
        toolkit = re.search(r"V([\d.]+)$", nvcc, re.MULTILINE)[1]
        yield package("cudart_static", toolkit, EULA)
        yield package("cub", f"of CUDA {toolkit}", CUB)
    if path.suffix != ".whl":
        return
    tools = (ROOT / "bindings/python/requirements-wheels.txt").read_text()
    zig = re.search(r"^ziglang==(\S+)", tools, re.MULTILINE)[1]
    yield package("libc++", f"of zig {zig}", "Apache-2.0 WITH LLVM-exception")
    if path.stem.endswith("x86_64"):
        gcc = subprocess.check_output(["x86_64-linux-gnu-gcc", "-dumpfullversion"], text=True).strip()
        yield package("libgcc", gcc, "GPL-3.0-or-later WITH GCC-exception-3.1")


def needs(path):
    """Returns the dependencies of a package except the C and C++ runtime."""
    if path.suffix == ".crate":
        return list(crates())
    if path.name.startswith("libgather_cuda-"):
        return [package("libgather", version(), OURS, externalRefs=located("pypi", "libgather", version()))]
    is_python = path.suffix == ".whl" or path.name == f"libgather-{version()}.tar.gz"
    return list(distributions()) if is_python else []


def relation(one, kind, other):
    return {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}


def document(paths):
    name = f"libgather-{version()}"
    packages = {each["SPDXID"]: each for each in map(made, paths)}
    relations = [relation("SPDXRef-DOCUMENT", "DESCRIBES", each) for each in packages]
    for path in paths:
        for kind, others in (("DEPENDS_ON", needs(path)), ("STATIC_LINK", linked(path))):
            for each in others:
                packages[each["SPDXID"]] = each
                relations.append(relation(made(path)["SPDXID"], kind, each["SPDXID"]))
    digest = hashlib.sha256(json.dumps(list(packages.values())).encode()).hexdigest()
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": name,
        "documentNamespace": f"urn:sha256:{digest}",
        "creationInfo": {"created": created(), "creators": ["Tool: sbom.py of libgather"]},
        "packages": list(packages.values()),
        "relationships": relations,
        "hasExtractedLicensingInfos": [
            {
                "licenseId": EULA,
                "extractedText": "End User License Agreement of the NVIDIA CUDA Toolkit. Its text is in the packages.",
            }
        ],
    }


if __name__ == "__main__":
    json.dump(document([Path(each) for each in sys.argv[1:]]), sys.stdout, indent=1)
    print()
