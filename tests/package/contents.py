"""Checks the licences and the bill of materials of packages: contents.py FOLDER

FOLDER contains the output of `./dev package`. The code of others in a binary is found by texts that this code contains,
not by the list of the packages' own script.
"""

import hashlib
import io
import json
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

#: Texts of code of others, by the pattern of its names in a bill of materials, and a text of its licence.
MARKS = {
    "libc++abi": (rb"libc\+\+abi: ", "LLVM Exceptions to the Apache 2.0 License"),
    "libunwind": (rb"libunwind: ", "LLVM Exceptions to the Apache 2.0 License"),
    "libstdc++": (rb"libstdc\+\+|GLIBCXX_(?!\d)|__gnu_cxx|N10__cxxabiv1", "GCC RUNTIME LIBRARY EXCEPTION"),
    "mingw-w64": (rb"Mingw-w64 runtime failure", "mingw-w64"),
    "cudart": (rb"cudaGetExportTable|cudart", "License Agreement"),
    "headers of torch": (rb"c10::|N3c10", "From PyTorch"),
}
BINARY = re.compile(r"\.(so(\.[\d.]+)?|dll|pyd)$")
LICENCE = "Apache License"


def of_zip(data):
    with zipfile.ZipFile(data) as archive:
        return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}


def of_tar(data):
    with tarfile.open(fileobj=data) as archive:
        return {each.name: archive.extractfile(each).read() for each in archive if each.isfile()}


def of_deb(path):
    return of_tar(io.BytesIO(subprocess.check_output(["dpkg-deb", "--fsys-tarfile", path])))


def of_conda(path):
    """Returns the files of a conda package, which consists of two archives that zstd has compressed."""
    found = {}
    for name, data in of_zip(path).items():
        if name.endswith(".tar.zst"):
            unpacked = subprocess.run(["zstd", "-dc"], input=data, stdout=subprocess.PIPE, check=True).stdout
            found |= of_tar(io.BytesIO(unpacked))
    return found


def files(path):
    """Returns the contents of the files in a package, by their paths."""
    if path.suffix == ".deb":
        return of_deb(path)
    if path.suffix == ".conda":
        return of_conda(path)
    with path.open("rb") as file:
        return of_zip(file) if path.suffix in {".whl", ".zip", ".jar"} else of_tar(file)


def dynamic(data):
    """Returns whether a binary of Linux uses the C++ runtime of the system."""
    return b"libstdc++.so.6" in data


def contained(packaged):
    """Returns the names of the code of others in the binaries of a package."""
    found = set()
    for path, data in packaged.items():
        if BINARY.search(path):
            names = {name for name, (mark, _) in MARKS.items() if re.search(mark, data)}
            found |= names - ({"libstdc++"} if dynamic(data) or "libc++abi" in names else set())
    return found


def notices(packaged):
    """Returns the texts of all licences in a package."""
    named = (data for path, data in packaged.items() if re.search(r"(?i)licen[sc]e|copying|copyright|legal/", path))
    return "\n".join(data.decode(errors="replace") for data in named)


def linked(document):
    """Returns the names of the code of others in a bill of materials, by the identifier of the package."""
    names = {each["SPDXID"]: each["name"] for each in document["packages"]}
    result = {}
    for relation in document["relationships"]:
        if relation["relationshipType"] == "STATIC_LINK":
            result.setdefault(relation["spdxElementId"], set()).add(names[relation["relatedSpdxElement"]])
    return result


def documents(packaged):
    return [json.loads(data) for path, data in packaged.items() if path.endswith(".spdx.json")]


def unlisted(found, listed):
    return sorted(name for name in found if not any(each.startswith(name) for each in listed))


def has_own_document(name):
    """Returns whether the format of a package has a place for a bill of materials."""
    return name.endswith((".whl", ".conda", ".deb")) or re.search(r"-(linux|windows)-.*\.(tar\.gz|zip)$", name)


def wrong_in(path, whole):
    """Yields what is wrong in a package."""
    packaged = files(path)
    texts, found = notices(packaged), contained(packaged)
    if LICENCE not in texts and "Apache-2.0" not in texts:
        yield "it has no licence"
    for name in sorted(found):
        if MARKS[name][1] not in texts:
            yield f"it contains {name}, but not its licence"
    entry = next((each for each in whole["packages"] if each.get("packageFileName") == path.name), None)
    if entry is None or entry["checksums"][0]["checksumValue"] != hashlib.sha256(path.read_bytes()).hexdigest():
        yield "the bill of materials of all packages has no entry with its digest"
    else:
        for name in unlisted(found, linked(whole).get(entry["SPDXID"], ())):
            yield f"the bill of materials of all packages does not state that it contains {name}"
    binaries = any(BINARY.search(each) for each in packaged)
    if binaries and has_own_document(path.name) and not path.name.startswith("py-"):
        own = documents(packaged)
        if len(own) != 1:
            yield f"it has {len(own)} bills of materials"
        for name in unlisted(found, set().union(*map(set, (n for d in own for n in linked(d).values())))):
            yield f"its bill of materials does not state that it contains {name}"
    if path.name.startswith("libgather-") and "manylinux" in path.name and "x86_64" in path.name:
        operators = sorted(re.findall(r"libgather_torch-([\d.]+)-x86_64", " ".join(packaged)))
        versions = re.search(r"^VERSIONS = (.+)$", (ROOT / "bindings/python/wheels_torch.py").read_text(), re.MULTILINE)
        wanted = sorted(".".join(each.split(".")[:2]) for each in re.findall(r"[\d.]+", versions[1]))
        if operators != wanted:
            yield f"it has operators for torch {operators}, not {wanted}"


def check(folder, paths):
    """Returns a line for each fault of the packages of a folder."""
    whole = json.loads((folder / "libgather.spdx.json").read_text())
    return [f"{path.name}: {fault}" for path in paths for fault in wrong_in(path, whole)]


def main(folder):
    ours = [path for path in sorted(folder.iterdir()) if path.name not in {"SHA256SUMS", "libgather.spdx.json"}]
    wrong = check(folder, ours)
    print("\n".join(wrong) or f"{len(ours)} packages have their licences and bills of materials")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
