"""Fails if a page of this project names a missing file, in a link or in backticks.

It also fails if a list of Python packages pins a release that its lock file does not have.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = [
    *ROOT.glob("*.md"),
    *ROOT.glob("docs/*.md"),
    *ROOT.glob("examples/*.md"),
    *ROOT.glob("src/**/*.md"),
    *ROOT.glob("tests/**/README.md"),
]

# The folders to which a path in backticks may be relative, in addition to the folder of the page.
BASES = [ROOT, ROOT / "src"]
FOLDERS = {path.name for base in BASES for path in base.iterdir() if path.is_dir()}
OUR_FOLDERS = ("src", "tests", "include", "bindings", "docs", "examples", ".ci")

# The endings of sources. A file of this kind without a folder must be somewhere in the project.
SOURCE = re.compile(r"[\w-]+\.(?:cpp|hpp|h|cu|py|sh|go|rs|java)")
FILES_OF_READERS = {"NAME.cpp", "example.cpp"}


def links(text):
    """Returns the targets of links inside the project."""
    targets = (target.partition("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", text))
    return {target for target in targets if target and "://" not in target}


def paths(text):
    """Returns the texts in backticks that begin with the name of a folder and a slash."""
    spans = re.findall(r"`([\w./-]+)`", text)
    return {span for span in spans if "/" in span and span.split("/")[0] in (FOLDERS | {".."}) - {"build"}}


def sources(text):
    """Returns the names of sources in backticks that have no folder."""
    return {span for span in re.findall(r"`([\w.-]+)`", text) if SOURCE.fullmatch(span)}


def missing(page, names):
    text = page.read_text()
    gone = {target for target in links(text) if not (page.parent / target).exists()}
    gone |= {path for path in paths(text) if not any((base / path).exists() for base in [*BASES, page.parent])}
    return gone | (sources(text) - names - FILES_OF_READERS)


def pins(path):
    """Returns the releases that a list of Python packages pins."""
    return set(re.findall(r"^([\w.-]+)(?:\[\w+\])?==(\S+)", path.read_text(), re.MULTILINE))


def unlocked():
    """Returns the pins that are missing in a lock file, with its name."""
    locks = [ROOT / ".ci" / "requirements-lint.lock", ROOT / "bindings" / "python" / "requirements-wheels.lock"]
    return [(path.name, pin) for path in locks for pin in sorted(pins(path.with_suffix(".txt")) - pins(path))]


def main():
    names = {path.name for folder in OUR_FOLDERS for path in (ROOT / folder).rglob("*.*")}
    gone = [f"{page.relative_to(ROOT)}: there is no {path}" for page in PAGES for path in sorted(missing(page, names))]
    gone += [
        f"{name}: write it again, because {package}=={release} is missing" for name, (package, release) in unlocked()
    ]
    for line in gone:
        print(line)
    return bool(gone)


if __name__ == "__main__":
    sys.exit(main())
