"""Writes the licences of the code of others in a library with CUDA: cuda_licences.py NVCC TARGET

The code is NVIDIA's static runtime and CUB. The texts come from the toolkit of NVCC. TARGET is a folder, which gets a
file for each licence, or a Debian copyright file. The licences are appended to the latter.
"""

import re
import sys
from pathlib import Path

#: The end of the line of a comment, and the marks at the begin of the next one.
BREAK = r"[ \t]*\n[ \t]*(?:\*|//)?[ \t]*"
BSD = re.compile(r"Redistribution and use in source and binary forms.*?POSSIBILITY OF SUCH DAMAGE\.", re.DOTALL)


def agreement(root):
    """Returns NVIDIA's licence agreement. Packages of the Python index have it beside the toolkit."""
    places = [*root.glob("EULA.txt"), *root.glob("../../nvidia_cuda_runtime-*.dist-info/licenses/License.txt")]
    if not places:
        sys.exit(f"{root} has no licence agreement. Use the toolkit of ./dev cuda fetch.")
    return places[0].read_text(encoding="utf-8")


def notices(root):
    """Returns the copyright notices in the headers of CUB, and the licence that all of them have."""
    owners, licences = set(), {}
    for header in sorted((root / "include/cccl/cub").rglob("*.cuh")):
        text = re.sub(BREAK, "\n", header.read_text(encoding="utf-8"))
        if found := BSD.search(text):
            owners |= {" ".join(line.split()) for line in re.findall(r"Copyright \(c\) .*", text[: found.start()])}
            licences.setdefault("".join(found[0].split()).replace("*", ""), found[0])
    if len(licences) != 1:
        sys.exit(f"the headers of {root}/include/cccl/cub have {len(licences)} licences of the BSD form, not one")
    return "\n".join(sorted(owners)), *licences.values()


def paragraph(files, copyright, licence, text):
    """Returns the paragraphs of a Debian copyright file for files with a licence."""
    body = "\n".join(f" {line.rstrip() or '.'}" for line in text.strip().splitlines())
    owners = "\n ".join(copyright.splitlines())
    return f"\nFiles: {files}\nCopyright: {owners}\nLicense: {licence}\n\nLicense: {licence}\n{body}\n"


def main(nvcc, target):
    root, target = Path(nvcc).resolve().parents[1], Path(target)
    eula, (owners, bsd) = agreement(root), notices(root)
    if target.is_dir():
        (target / "NVIDIA-EULA.txt").write_text(eula, encoding="utf-8")
        (target / "CUB-LICENSE.txt").write_text(f"{owners}\n\n{bsd}\n", encoding="utf-8")
        return
    runtime = re.search(r"Copyright .*NVIDIA.*", (root / "include/cuda_runtime_api.h").read_text(encoding="utf-8"))[0]
    with target.open("a", encoding="utf-8") as file:
        file.write(paragraph("libcudart_static.a libculibos.a", runtime, "NVIDIA-EULA", eula))
        file.write(paragraph("cub/*", owners, "BSD-3-Clause", bsd))


if __name__ == "__main__":
    main(*sys.argv[1:])
