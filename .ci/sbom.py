"""Writes the software bill of materials of packages as an SPDX document.

Usage: sbom.py PACKAGE... >FILE

The document lists the code of others in a package, and its dependencies: the crates in Cargo.lock and the Python
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

from foreign_parts import CUB, EULA, MINGW, ROOT, TEXTS, has_cuda, parts

NOTHING = "NOASSERTION"
OURS = "Apache-2.0"


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
    """Yields the entries of the code of others in a package."""
    return map(described, parts(path))


def described(part):
    return package(part.name, part.version, part.licence)


def infos(*licences):
    """Returns the entries of licences that SPDX does not list."""
    return [{"licenseId": each, "extractedText": TEXTS[each]} for each in licences]


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
        "hasExtractedLicensingInfos": infos(EULA, MINGW),
    }


if __name__ == "__main__":
    json.dump(document([Path(each) for each in sys.argv[1:]]), sys.stdout, indent=1)
    print()
