"""Fails if a file states another release than gather.h."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Each pattern must match at least once, and the match must be the release. README.md and docs/install.md may state only
# its first two numbers.
STATED = {
    "bindings/rust/Cargo.toml": r'^version = "(.+)"',
    "bindings/rust/gather/Cargo.toml": r'^gather-sys = \{ version = "(.+?)"',
    "bindings/rust/Cargo.lock": r'^name = "gather(?:-sys)?"\nversion = "(.+)"',
    "bindings/rust/gather-sys/README.md": r"`gather` from release (\S+) on",
    "bindings/python/pyproject.toml": r'^version = "(.+)"|"libgather-cuda==(.+)"',
    "bindings/python/cuda/pyproject.toml": r'^version = "(.+)"|"libgather==(.+)"',
    "bindings/java/pom.xml": r"<artifactId>libgather</artifactId>\n  <version>(.+)<",
    "bindings/java/README.md": r"<artifactId>libgather</artifactId>\n  <version>(.+)<",
    "MODULE.bazel": r'^    version = "(.+)"',
    "src/package/conda/recipe.yaml": r"^  version: (\d\S*)",
    "src/package/meson/meson.build": r"version: '(\d\S*?)', meson_version",
    "src/package/nix/default.nix": r'version = "(.+)"',
    "src/package/vcpkg/vcpkg.json": r'"version": "(.+)"',
    "README.md": r"^\*\*Status\.\*\* (\d+\.\d+)",
    "docs/install.md": r"find_package\(gather (\S+) CONFIG|(?:libgather(?:1|1-cuda|-dev)?|gather)[_/-](\d+\.\d+\.\d+)",
}


def release():
    number = int(re.search(r"#define GTH_VERSION (\d+)", (ROOT / "include/gather/gather.h").read_text())[1])
    return f"{number // 1_000_000}.{number // 1000 % 1000}.{number % 1000}"


def wrong(name, pattern, right):
    matches = re.finditer(pattern, (ROOT / name).read_text(), re.MULTILINE)
    found = {next(filter(None, match.groups())) for match in matches} or {"nowhere"}
    short = {right[: right.rindex(".")]} if name in ("README.md", "docs/install.md") else set()
    return [f"{name}: {each}, but gather.h states {right}" for each in sorted(found - short - {right})]


def main():
    right = release()
    lines = [line for name, pattern in STATED.items() for line in wrong(name, pattern, right)]
    print("\n".join(lines or [f"{right} in {len(STATED) + 1} files"]))
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main())
