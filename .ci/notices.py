"""Adds the licences of code of others to packages that contain such code, and a bill of materials.

    notices.py PACKAGE...            A PACKAGE is a wheel, or the unpacked archive for Windows.
    notices.py --sbom PACKAGE...     prints the bill of materials of all packages as an SPDX document

In a wheel, the licences are in the folder `licenses` of dist-info, and the bill of materials is in its folder `sboms`.
Requires the Python environment that builds wheels.
"""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path += [str(ROOT / "src/package"), str(ROOT / "bindings/python")]

import sbom  # noqa: E402 - it is in the folder above

linked_by_sbom = sbom.linked  # whole_document replaces it
DOCUMENTS = Path("/usr/share/doc")
LLVM = "Apache-2.0 WITH LLVM-exception"
GCC = "GPL-3.0-or-later WITH GCC-exception-3.1"
MINGW = "LicenseRef-MinGW-w64"


@dataclass(frozen=True)
class Part:
    """Code of others: its name, version, SPDX licence, and the file with the text of the licence if that is missing."""

    name: str
    version: str
    licence: str
    text: Path | None = None


def output(*command):
    return subprocess.check_output(command, text=True).strip()


def zig_parts():
    """Yields the C++ runtime of zig, and its runtime of the compiler."""
    from importlib.metadata import version

    import ziglang

    folder, release = Path(ziglang.__file__).parent, f"of zig {version('ziglang')}"
    for name, place in (("libc++", "libcxx"), ("libc++abi", "libcxxabi"), ("libunwind", "libunwind")):
        yield Part(name, release, LLVM, folder / "lib" / place / "LICENSE.TXT")
    yield Part("compiler-rt", release, "MIT", folder / "LICENSE")


def mingw_parts():
    """Yields the runtimes of GCC and MinGW-w64 for Windows."""
    release = output("x86_64-w64-mingw32-gcc-posix", "-dumpfullversion")
    yield Part("libstdc++ and libgcc", release, GCC, DOCUMENTS / "gcc-mingw-w64-base/copyright")
    release = output("dpkg-query", "--show", "--showformat=${Version}", "mingw-w64-common")
    yield Part("mingw-w64", release, MINGW, DOCUMENTS / "mingw-w64-common/copyright")


def torch_part():
    """Returns the code of the headers of torch in the operators."""
    from wheels_torch import VERSIONS

    return Part("headers of torch", " and ".join(VERSIONS), "BSD-3-Clause", ROOT / ".ci/licences/torch.txt")


def parts(path):
    """Yields the code of others in a package."""
    if sbom.has_cuda(path):  # The packages with CUDA have the texts of these licences.
        for each in linked_by_sbom(path):
            if each["name"] in ("cudart_static", "cub"):
                yield Part(each["name"], each["versionInfo"], each["licenseDeclared"])
    if "win_amd64" in path.name or "windows-x86_64" in path.name:
        yield from mingw_parts()
    elif path.suffix == ".whl":
        yield from zig_parts()
        if path.stem.endswith("x86_64"):
            release = output("x86_64-linux-gnu-gcc", "-dumpfullversion")
            yield Part("libgcc", release, GCC, DOCUMENTS / f"libgcc-{release.split('.')[0]}-dev/copyright")
            if "manylinux" in path.name and not sbom.has_cuda(path):
                yield torch_part()


def described(part):
    """Returns the entry of a bill of materials for a part."""
    return sbom.package(part.name, part.version, part.licence)


def extracted():
    text = "The licences of the runtime of MinGW-w64 and of winpthreads. Their texts are in the packages."
    return {"licenseId": MINGW, "extractedText": text}


def whole_document(paths):
    """Returns the bill of materials of all packages. It replaces the list of the sources with the one of this file."""
    found = {path: [described(part) for part in parts(path)] for path in paths}
    sbom.linked = found.get
    document = sbom.document(paths)
    document["hasExtractedLicensingInfos"].append(extracted())
    return document


def own_document(name, found):
    """Returns the bill of materials of one package, which cannot contain its own digest."""
    ours = sbom.package(name, sbom.version(), sbom.OURS)
    others = [described(part) for part in found]
    document = whole_document([])
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
    document["packages"] += map(described, found)
    document["relationships"] += [
        sbom.relation("SPDXRef-libgather", "STATIC_LINK", described(each)["SPDXID"]) for each in found
    ]
    document["hasExtractedLicensingInfos"] = [extracted()]
    write_document(path, document)


def main(arguments):
    if arguments[:1] == ["--sbom"]:
        print(json.dumps(whole_document([Path(each) for each in arguments[1:]]), indent=1))
        return
    for path in map(Path, arguments):
        (add_to_folder if path.is_dir() else add_to_wheel)(path)


if __name__ == "__main__":
    main(sys.argv[1:])
