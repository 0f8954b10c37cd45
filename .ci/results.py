"""The results of the steps of the long run. Each step has a file in .ci/results, which tests/reliability.py reads.

A file has lines "KEY: VALUE", an empty line, and the lines of the log that state the result. `digest` is the SHA-256
digest of all others, so that a figure is not changed by hand.
"""

import hashlib
import re
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / ".ci" / "results"


@dataclass(frozen=True)
class Result:
    fields: dict
    lines: str

    @property
    def day(self):
        return self.fields["date"].split()[0]


def digest(fields, lines):
    return hashlib.sha256(f"{head(fields)}\n{lines}".encode()).hexdigest()


def head(fields):
    return "".join(f"{key}: {value}\n" for key, value in fields.items())


def output(*words):
    return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()


# The folders whose sources a result is about.
PARTS = ("include", "src", "bindings")
# Those of the library itself.
LIBRARY = ("include", "src")


def trees():
    """Returns git's digests of the folders of sources. Unlike that of a commit, a rebase keeps them."""
    return {part: output("git", "rev-parse", f"HEAD:{part}")[:12] for part in PARTS}


def trees_in(text):
    """Returns the digests in a text of `sources`."""
    return {part: tree for tree, part in re.findall(rf"\b([0-9a-f]{{12}}) of ({'|'.join(PARTS)})\b", text)}


def changed(before, after):
    """Returns how many files differ between two results of `trees`, by folder. Returns None if git has no such tree."""
    counts = {}
    for part in filter(before.get, PARTS):
        words = ("git", "diff", "--name-only", before[part], after[part])
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            return None
        counts[part] = len(done.stdout.splitlines())
    return counts


def files_digest():
    """Returns a digest of all sources and tests in the folder, including changes that are not committed."""
    names = output("git", "ls-files", "--cached", "--others", "--exclude-standard", "tests", *PARTS)
    total = hashlib.sha256()
    for name in sorted(names.splitlines()):
        path = ROOT / name
        if path.is_file():
            total.update(f"{name}\n{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return total.hexdigest()


def sources():
    """Returns the version of the library, and git's digests of its sources."""
    number = int(re.search(r"#define GTH_VERSION (\d+)", (ROOT / "include/gather/gather.h").read_text())[1])
    version = f"{number // 1000000}.{number // 1000 % 1000}.{number % 1000}"
    committed = ", ".join(f"{tree} of {part}" for part, tree in trees().items())
    modified = " with changes" if output("git", "status", "--porcelain", "--", *PARTS) else ""
    return f"{version}, git trees {committed}{modified}"


def now():
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())


def earlier_lines(step, version):
    """Returns the lines of the last result of a step if it passed with this version of the library, without changes."""
    last = read(step)
    if not last or last.fields["result"] != "passed" or "with changes" in last.fields["version"] + version:
        return ""
    before, after = trees_in(last.fields["version"]), trees_in(version)
    return last.lines if all(before.get(part) == after.get(part) for part in LIBRARY) else ""


def write(step, fields, lines):
    FOLDER.mkdir(exist_ok=True)
    signed = fields | {"digest": digest(fields, lines)}
    (FOLDER / f"{step}.txt").write_text(f"{head(signed)}\n{lines}")


def read(step):
    """Returns the last result of a step, or None."""
    try:
        first, _, lines = (FOLDER / f"{step}.txt").read_text().partition("\n\n")
    except FileNotFoundError:
        return None
    fields = dict(line.split(": ", 1) for line in first.splitlines())
    if fields.pop("digest") != digest(fields, lines):
        raise SystemExit(f".ci/results/{step}.txt: the digest is not that of the other lines")
    return Result(fields, lines)
