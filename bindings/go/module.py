"""Makes the Go module as it is published, with the sources of the library in it: module.py FOLDER

Writes FOLDER/gather-VERSION.zip, in the form that the go command defines for modules. cgo compiles what lies in the
folder of a package, and `go mod vendor` copies nothing else, so that each source there is written out with all that it
includes from this project.
"""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PLACES = [ROOT / "src", ROOT / "include"]
HEADER = ROOT / "include/gather/gather.h"
INCLUDE = re.compile(r'\s*#\s*include\s+["<]([\w./]+)[">]')


def version():
    """The release, as the header says it."""
    number = int(re.search(r"#define GTH_VERSION (\d+)", HEADER.read_text())[1])
    return f"{number // 1_000_000}.{number // 1000 % 1000}.{number % 1000}"


def module_path():
    return re.match(r"module (\S+)", (HERE / "go.mod").read_text())[1]


def included(line, beside):
    """The file of this project that a line includes, or None."""
    match = INCLUDE.match(line)
    candidates = [place / match[1] for place in [beside, *PLACES]] if match else []
    return next((path.resolve() for path in candidates if path.is_file()), None)


def written_out(path, seen):
    """The lines of a source, with every file of this project in the place of its first #include."""
    seen.add(path)
    for line in path.read_text().splitlines():
        inner = included(line, path.parent)
        if inner is None:
            if line.strip() != "#pragma once":
                yield line
        elif inner not in seen:
            yield from written_out(inner, seen)


def published(path):
    """What is published of a file of the module: it includes nothing from outside its folder."""
    text = path.read_text()
    if path.suffix == ".cc":
        return "\n".join([*written_out(path, set()), ""])
    if path.suffix in {".c", ".h"}:
        return text.replace("<gather/gather.h>", '"gather.h"')
    # Where these flags look, only a checkout has something.
    return re.sub(r" ?-I\$\{SRCDIR\}/\.\.\S+", "", re.sub(r"// #cgo C\w+FLAGS:( -I\$\{SRCDIR\}/\.\.\S+)+\n", "", text))


def files():
    """Those of the module alone: a folder with a go.mod of its own is another one."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "."],
        cwd=HERE,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    others = {path.parent for path in HERE.rglob("go.mod")} - {HERE}
    for name in sorted(filter(None, listed.split("\0"))):
        path = HERE / name
        if path.is_file() and path != Path(__file__).resolve() and not others & set(path.parents):
            yield path


def contents():
    """Pairs of a name and a text, in the order of the names."""
    texts = {str(path.relative_to(HERE)): published(path) for path in files()}
    texts |= {"gather.h": HEADER.read_text(), "LICENSE": (ROOT / "LICENSE").read_text()}
    return sorted(texts.items())


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    archive = folder / f"gather-{version()}.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as module:
        for name, text in contents():
            # The date is fixed: the same sources make the same archive.
            module.writestr(zipfile.ZipInfo(f"{module_path()}@v{version()}/{name}"), text, zipfile.ZIP_DEFLATED)
    print(archive)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
