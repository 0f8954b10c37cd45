"""Checks that the bill of materials describes the installed library: sbom.py STAGE VERSION cuda|cpu."""

import hashlib
import json
import sys
from pathlib import Path


def main():
    stage, version, kind = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    (file,) = stage.glob("**/sbom/gather.spdx.json")
    document = json.loads(file.read_text())
    (library,) = {path.resolve() for path in stage.glob("**/libgather.so*")}
    packages = {package["SPDXID"]: package for package in document["packages"]}
    ours = packages["SPDXRef-libgather"]
    assert document["spdxVersion"] == "SPDX-2.3"
    assert ours["versionInfo"] == version and ours["packageFileName"] == library.name
    assert ours["checksums"][0]["checksumValue"] == hashlib.sha256(library.read_bytes()).hexdigest()
    assert len(packages) == (3 if kind == "cuda" else 1)
    for relation in document["relationships"]:
        assert relation["relatedSpdxElement"] in packages
    contains_runtime = b"cudart" in library.read_bytes()
    linked = {"SPDXRef-cudart", "SPDXRef-cub"} if contains_runtime else set()
    assert {*packages} - {ours["SPDXID"]} == linked, "the linked packages differ from the listed ones"


if __name__ == "__main__":
    main()
