"""Makes the published Go module, which contains the sources of the library: module.py FOLDER [--proxy]

Writes FOLDER/gather-VERSION.zip in the format that the go command defines for modules. With --proxy, FOLDER/proxy has
the module as the files of a module proxy. `go get` finds it if GOPROXY is the address of this folder, or if the host of
the module path serves a page with <meta name="go-import" content="PATH mod ADDRESS">.

cgo compiles only the files in the folder of a package, and `go mod vendor` copies only these. So each #include of a
file of this project is replaced with the text of that file.
"""

import json
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.append(str(ROOT / "src/package/bundle"))

from bundle import written_out  # noqa: E402 - it is in the folder above

HEADER = ROOT / "include/gather/gather.h"


def version():
    """Returns the release number from the header."""
    number = int(re.search(r"#define GTH_VERSION (\d+)", HEADER.read_text())[1])
    return f"{number // 1_000_000}.{number // 1000 % 1000}.{number % 1000}"


def module_path():
    return re.match(r"module (\S+)", (HERE / "go.mod").read_text())[1]


def published(path):
    """Returns the published text of a file of the module. It includes no file outside its folder."""
    text = path.read_text()
    if path.suffix == ".cc":
        return "\n".join([*written_out(path, set()), ""])
    if path.suffix in {".c", ".h"}:
        return text.replace("<gather/gather.h>", '"gather.h"')
    # The folders of these flags exist only in a checkout.
    return re.sub(r" ?-I\$\{SRCDIR\}/\.\.\S+", "", re.sub(r"// #cgo C\w+FLAGS:( -I\$\{SRCDIR\}/\.\.\S+)+\n", "", text))


def files():
    """Yields the files of the module. A subfolder with its own go.mod is another module."""
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
    """Returns pairs of a name and a text, sorted by name."""
    texts = {str(path.relative_to(HERE)): published(path) for path in files()}
    texts |= {"gather.h": HEADER.read_text(), "LICENSE": (ROOT / "LICENSE").read_text()}
    return sorted(texts.items())


def write_proxy(folder, archive):
    """Writes the files that `go help goproxy` describes."""
    versions = folder / module_path() / "@v"
    versions.mkdir(parents=True, exist_ok=True)
    name = f"v{version()}"
    (versions / "list").write_text(f"{name}\n")
    (versions / f"{name}.info").write_text(json.dumps({"Version": name}))
    (versions / f"{name}.mod").write_text((HERE / "go.mod").read_text())
    shutil.copyfile(archive, versions / f"{name}.zip")


def main(folder, proxy):
    folder.mkdir(parents=True, exist_ok=True)
    archive = folder / f"gather-{version()}.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as module:
        for name, text in contents():
            # ZipInfo has a fixed date, so the same sources make the same archive.
            module.writestr(zipfile.ZipInfo(f"{module_path()}@v{version()}/{name}"), text, zipfile.ZIP_DEFLATED)
    if proxy:
        write_proxy(folder / "proxy", archive)
    print(archive)


if __name__ == "__main__":
    main(Path(sys.argv[1]), "--proxy" in sys.argv[2:])
