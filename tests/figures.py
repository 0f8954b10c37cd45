"""Fails if a page states another figure than the source of this figure."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIMITS = "src/core/base/limits.hpp"
LAUNCHES = "src/cuda/launch_limits.hpp"
HEADER = "include/gather/gather.h"
PYTHON, RUST, GO, JAVA = (f"bindings/{name}" for name in ("python", "rust", "go", "java"))


def constant(name):
    """Returns the pattern of an integer constant in a source."""
    return rf"\b{name} = ([\d'_]+)[;,]"


def conformance():
    """Returns the numbers of cases: all, the recorded ones, those of every language, and the recorded ones of these."""
    rows = [line.split() for line in read("tests/conformance/digests.txt").splitlines()[1:]]
    ours = [row for row in rows if row[3].startswith("cases/")]
    return [sum(int(row[column]) for row in part) for part in (rows, ours) for column in (1, 2)]


def packed_references():
    """Returns the minor release of each system that has answered the cases of packed rows."""
    files = sorted((ROOT / "tests/conformance/recorded/packed").iterdir())
    releases = dict(re.findall(r"^\S+ \S+ (\w+) (\d+\.\d+)", "".join(map(Path.read_text, files)), re.MULTILINE))
    return [releases[name] for name in ("gguf", "onnxruntime", "torch", "ml_dtypes", "bitsandbytes")]


def capabilities(path, pattern):
    """Returns a function: the compute capabilities with machine code, and those with PTX, of a list in a file."""

    def found():
        names = re.findall(r"(\d+)(\d)(-real)?", re.search(pattern, read(path))[1])
        ptx = [f"{major}.{minor}" for major, minor, real in names if not real]
        return [listed([f"{major}.{minor}" for major, minor, _ in names]), listed(ptx)]

    return found


def listed(words):
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def heap_of_java():
    """Returns the most index values and mebibytes of one use of the heap."""
    indices, shift = groups(
        f"{JAVA}/src/main/java/io/libgather/Heap.java", r"INDICES = (\d+);.* ROW_BYTES = 1 << (\d+);"
    )
    return [indices, 2 ** (int(shift) - 20)]


# The oldest versions that work.
OLDEST_PYTHON = (f"{PYTHON}/pyproject.toml", r'^requires-python = ">=(.+?)"')
OLDEST_RUST = (f"{RUST}/Cargo.toml", r'^rust-version = "(.+?)"')
OLDEST_GO = (f"{GO}/go.mod", r"^go (\S+)")
OLDEST_JAVA = (f"{JAVA}/pom.xml", r"<maven.compiler.release>(\d+)<")
OLDEST_CMAKE = ("CMakeLists.txt", r"^cmake_minimum_required\(VERSION (\S+)\)")

# For each figure: the page, a pattern, and the source of its groups. The source is a function, or a file and a pattern.
# White space in the page is one space.
FIGURES = [
    (
        "README.md",
        r"are (\S+) conformance cases, and (\S+) of them are recorded .* runs (\S+) cases, which include (\S+) of",
        conformance,
    ),
    (
        "README.md",
        r"one thread of an AMD EPYC \(Zen 3\), it ran \[(\S+) random requests\]\S+ (\S+) times as fast as",
        (
            "docs/performance-requests.md",
            r"AMD EPYC, family 25, model 1\.\n1 thread\(s\), .* of (\d+) requests .*mean of the ratios is\s(\S+)\. ",
        ),
    ),
    (
        "docs/when.md",
        r"On a Zen 3, libgather .* as NumPy and torch in (\d+) of (\d+) gathers and (\d+) of (\d+) scat",
        (
            "docs/performance.md",
            r"^## AMD EPYC, family 25, model 1$.*?peer in (\d+) of (\d+) cells.*?### Scat.*?peer in (\d+) of (\d+)",
        ),
    ),
    ("docs/platforms.md", r"Clang (\d+) builds", (".ci/hardening.sh", r"command -v clang-(\d+)")),
    ("docs/platforms.md", r"zig (\S+) builds", (f"{PYTHON}/requirements-wheels.txt", r"^ziglang==(\d+\.\d+)")),
    ("docs/platforms.md", r"at most (\d+) dims", (HEADER, r"^#define GTH_MAX_NDIM (\d+)")),
    (
        "docs/packed.md",
        r"gguf (\S+), ONNX Runtime (\S+), torch (\S+), ml_dtypes (\S+) and bitsandbytes (\S+)\. ",
        packed_references,
    ),
    ("docs/columns.md", r"nested up to (\d+) levels", ("src/columns/type.cpp", constant("max_depth"))),
    (
        "docs/columns.md",
        r"more than (\S+) rows and a",
        (f"{PYTHON}/src/libgather/_arrays/frames.py", r"^SHORT = (\S+)"),
    ),
    ("docs/columns.md", r"less than a (\d+)th", (f"{PYTHON}/src/libgather/_arrays/selection.py", r"PIECE = (\d+)")),
    ("docs/architecture.md", r"at most (\S+) rows from dense", (LIMITS, constant("short_tuples"))),
    (
        "docs/architecture.md",
        r"at most (\d+) bags and (\d+) ids",
        (LIMITS, r"short_bags = (\d+), short_bag_ids = (\d+)"),
    ),
    (
        "docs/cuda.md",
        r"On (\S+) the last section's steps ran on one H100 with CUDA (\S+), torch (\S+) and CuPy (\d+\.\d+)",
        (
            "docs/performance-cuda.md",
            r"one run of (\S+)\.\n.* H100 .*driver cuda \| (\S+) .*torch \| (\d+\.\d+).*CuPy \| (\d+\.\d+)",
        ),
    ),
    ("docs/cuda.md", r"Up to (\S+) index values", (LAUNCHES, constant("validated_inside"))),
    ("docs/cuda.md", r"\| (\S+) lines or more", (LAUNCHES, constant("few_lines"))),
    ("docs/cuda.md", r"up to (\S+) slices of updates", (LAUNCHES, constant("most_few"))),
    ("docs/cuda.md", r"group of up to (\d+) threads", (LAUNCHES, constant("most_lanes_of_row"))),
    ("docs/cuda.md", r"Slices with (\d+) updates", (LAUNCHES, constant("least_long"))),
    ("docs/cuda.md", r"groups of (\d+)\.", ("src/cuda/device_context.hpp", constant("count"))),
    ("docs/cuda.md", r"need glibc (\S+) or", ("tests/cuda/CMakeLists.txt", r"glibc\.sh (\S+)")),
    ("docs/cuda.md", r"at most (\d+) minutes", ("tests/cuda/quarter/quarter.py", r'"--minutes".* default=(\d+)')),
    (
        "docs/install.md",
        r"compute capability (\S+, .*?), and PTX of (\S+) for",
        capabilities(".ci/packages.sh", r"CUDAARCHS='(.*)'"),
    ),
    ("docs/install.md", r"must support CUDA (\d+\.\d+)", ("src/cuda/requirements.txt", r"_nvcc==(\d+\.\d+)")),
    ("docs/install.md", r"CPython (\S+) and newer", OLDEST_PYTHON),
    (
        "docs/install.md",
        r"manylinux \(glibc (\d+)\.(\d+)\)",
        (f"{PYTHON}/wheels.py", r'"manylinux_(\d+)_(\d+)_x86_64"'),
    ),
    ("docs/install.md", r"needs CMake (\d+)\.(\d+)", ("CMakePresets.json", r'"major": (\d+), "minor": (\d+)')),
    (
        "docs/install.md",
        r"cmake_minimum_required\(VERSION (\S+)\)",
        OLDEST_CMAKE,
    ),
    ("docs/install.md", r"\*\*Meson (\S+)\*\*", ("src/package/meson/meson.build", r"meson_version: '>=(.+?)'")),
    ("docs/install.md", r'"rules_cc", version = "(\S+)"', ("MODULE.bazel", r'"rules_cc", version = "(\S+)"')),
    (
        "docs/tensorflow-java.md",
        r"tensorflow-core-api` (\S+)\. ",
        (f"{JAVA}/src/tensorflow/pom.xml", r"core-api</.*?<version>(.+?)<"),
    ),
    ("docs/site/devices.md", r"nvcc (\S+) or newer", ("src/cuda/toolkit.cmake", r"^set\(oldest_nvcc (\S+)\)")),
    (
        "docs/site/devices.md",
        r"compute capability (\S+, .*?), and PTX of (.*?)\. ",
        capabilities("src/cuda/toolkit.cmake", r"set\(CMAKE_CUDA_ARCHITECTURES (.*)\)"),
    ),
    ("docs/site/devices.md", r"record of (\d+) bytes", (HEADER, r"The struct always has (\d+) bytes")),
    (
        "docs/site/memory.md",
        r"up to (\d+) bytes for each slice",
        (HEADER, r"allocates up to (\d+) bytes for each slice"),
    ),
    ("docs/site/start.md", r"need Rust (\S+) or", OLDEST_RUST),
    ("docs/site/start.md", r"needs Go (\S+) and", OLDEST_GO),
    ("docs/site/start.md", r"needs Java (\d+) and", OLDEST_JAVA),
    (f"{RUST}/gather/README.md", r"needs Rust (\S+) or", OLDEST_RUST),
    (f"{RUST}/gather/README.md", r"CMake (\S+) or", OLDEST_CMAKE),
    (
        f"{RUST}/gather/README.md",
        r"arrow (\d+),",
        (f"{RUST}/gather/Cargo.toml", r'^arrow-array = \{ version = "(.+?)"'),
    ),
    (
        f"{RUST}/gather/README.md",
        r"ndarray (\d\S+),",
        (f"{RUST}/gather/Cargo.toml", r'^ndarray = \{ version = "(.+?)"'),
    ),
    (
        f"{RUST}/gather-sys/README.md",
        r"CMake (\S+) or",
        OLDEST_CMAKE,
    ),
    (f"{RUST}/gather-sys/README.md", r"be below (\S+)\. ", (f"{RUST}/gather-sys/build.rs", r'TOO_NEW: &str = "(.+?)"')),
    (f"{GO}/README.md", r"needs Go (\S+) or", OLDEST_GO),
    (f"{JAVA}/README.md", r"needs Java (\d+) or", OLDEST_JAVA),
    (f"{JAVA}/README.md", r"On Java (\d+) to (\d+)", (f"{JAVA}/test.sh", r"jdk\.sh (\d+) (\d+) java")),
    (f"{JAVA}/README.md", r"a JDK (\d+) or", (f"{JAVA}/test.sh", r"jdk\.sh (\d+)\)")),
    (f"{JAVA}/README.md", r"at most (\S+) slices and (\d+) MiB", heap_of_java),
    (f"{JAVA}/README.md", r"of (\d+) arenas", (f"{JAVA}/src/main/java/io/libgather/Table.java", constant("ARENAS"))),
    (f"{PYTHON}/README.md", r"CPython (\S+) and newer", OLDEST_PYTHON),
    (
        f"{PYTHON}/README.md",
        r"Its only dependency is (\w+)",
        (f"{PYTHON}/pyproject.toml", r'^dependencies = \["(\w+)>=\d+"\]$'),
    ),
    (
        f"{PYTHON}/README.md",
        r"limited API of Python (\S+),",
        OLDEST_PYTHON,
    ),
    (
        f"{PYTHON}/README.md",
        r"for torch (\S+) and (\S+)\. ",
        (f"{PYTHON}/wheels_torch.py", r'^VERSIONS = "(\d+\.\d+)\.\d+", "(\d+\.\d+)'),
    ),
    (
        f"{PYTHON}/README.md",
        r"At most (\d+) contexts",
        (f"{PYTHON}/src/libgather/_memory/default_contexts.py", r"^LIMIT = (\d+)"),
    ),
    (f"{PYTHON}/README.md", r"one row of (\d+) floats", (f"{PYTHON}/bench.py", r"np\.ones\(\(1000, (\d+)\)")),
    (
        f"{PYTHON}/README.md",
        r"has (\S+) rows of (\d+) floats",
        (f"{PYTHON}/bench_training.py", r"^TABLE, DIM = (\d+), (\d+)"),
    ),
]


def read(path):
    return (ROOT / path).read_text()


def groups(path, pattern):
    match = re.search(pattern, read(path), re.MULTILINE | re.DOTALL)
    return match.groups() if match else [f"not in {path}"]


def plain(figures):
    """Returns the figures as texts without the separators of thousands."""
    return [re.sub(r"(?<=\d)[,'_](?=\d)", "", str(figure)) for figure in figures]


def wrong(page, pattern, source):
    """Returns what the page states, and what the source has, if they differ."""
    right = plain(source() if callable(source) else groups(*source))
    stated = [plain(match.groups()) for match in re.finditer(pattern, re.sub(r"\s+", " ", read(page)))] or ["nothing"]
    return [f"{page}: {figures}, but its source has {right}" for figures in stated if figures != right]


def wrong_ratios(page):
    """Returns the ratios of a page, "TIME / TIME = RATIO", that cannot be those of their rounded times."""
    rows = re.findall(r"([\d.]+) / ([\d.]+) = ([\d.]+)", read(page))
    texts = [(f"{page}: {' / '.join(row[:2])} is not {row[2]}", *map(float, row)) for row in rows]
    return [
        text
        for text, first, second, ratio in texts
        if not (first - 0.05) / (second + 0.05) - 0.0051 < ratio < (first + 0.05) / (second - 0.05) + 0.0051
    ]


def main():
    lines = [line for figure in FIGURES for line in wrong(*figure)] + wrong_ratios("docs/columns.md")
    print("\n".join(lines or [f"{len(FIGURES)} figures"]))
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main())
