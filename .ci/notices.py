"""Adds the licences of code of others to packages that contain such code, and a bill of materials.

    notices.py PACKAGE...

A PACKAGE is a wheel, or the unpacked archive for Windows. In a wheel, the licences are in the folder `licenses` of
dist-info, and the bill of materials is in its folder `sboms`. Requires the Python environment that builds wheels.
"""

import json
import sys
from pathlib import Path

import sbom
from foreign_parts import MINGW, parts


def own_document(name, found):
    """Returns the bill of materials of one package, which cannot contain its own digest."""
    ours = sbom.package(name, sbom.version(), sbom.OURS)
    others = [sbom.described(part) for part in found]
    document = sbom.document([])
    document["name"] = f"{name}-{sbom.version()}"
    document["documentNamespace"] = f"https://spdx.org/spdxdocs/{document['name']}"
    document["packages"] = [ours, *others]
    document["relationships"] = [
        sbom.relation("SPDXRef-DOCUMENT", "DESCRIBES", ours["SPDXID"]),
        *(sbom.relation(ours["SPDXID"], "STATIC_LINK", each["SPDXID"]) for each in others),
    ]
    return document


def write_licences(folder, found):
    folder.mkdir(parents=True, exist_ok=True)
    for part in found:
        if part.text:
            name = part.name.replace(" ", "-")
            (folder / f"LICENSE-{name}.txt").write_text(part.text.read_text(encoding="utf-8"), encoding="utf-8")


def write_document(path, document):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def add_to_wheel(path):
    from auditwheel.wheeltools import InWheel

    found = list(parts(path))
    name = path.name.split("-")[0]
    with InWheel(path, path) as folder:
        (information,) = Path(folder).glob("*.dist-info")
        write_licences(information / "licenses", found)
        write_document(information / "sboms" / f"{name}.spdx.json", own_document(name.replace("_", "-"), found))


def add_to_folder(folder):
    """Adds the parts to the bill of materials of an installed library."""
    found = list(parts(folder))
    (documents,) = folder.glob("share/doc/*")
    write_licences(documents, found)
    (path,) = folder.glob("share/sbom/*.json")
    document = json.loads(path.read_text())
    document["packages"] += map(sbom.described, found)
    document["relationships"] += [
        sbom.relation("SPDXRef-libgather", "STATIC_LINK", sbom.described(each)["SPDXID"]) for each in found
    ]
    document["hasExtractedLicensingInfos"] = sbom.infos(MINGW)
    write_document(path, document)


def main(arguments):
    for path in map(Path, arguments):
        (add_to_folder if path.is_dir() else add_to_wheel)(path)


if __name__ == "__main__":
    main(sys.argv[1:])
