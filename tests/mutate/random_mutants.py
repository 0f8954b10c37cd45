"""Random mutants: every change that an operator makes to a line of code."""

import random
import re
from pathlib import Path

from mutants import Mutant

FOLDERS = ("src/core", "src/api", "src/cpu")

# Changes that no test can notice, by file, line and what it becomes, with the reason.
EQUIVALENT = {
    (
        "src/cpu/indices.cpp",
        "if (!is_inside(value, component.size)) value = value < 0 && signed_values ? 0 : component.size - 1;",
        "if (!is_inside(value, component.size)) value = value <= 0 && signed_values ? 0 : component.size - 1;",
    ): "0 is inside every dim that has an element, and an empty one was refused before",
    (
        "src/core/short.cpp",
        "!set_components(dims, result, &params_bytes)) {",
        "set_components(dims, result, &params_bytes)) {",
    ): "the short way is left, and the general one answers the same, only later",
    (
        "src/core/os_linux.cpp",
        "return online > 0 ? static_cast<int32_t>(online) : 1;",
        "return online >= 0 ? static_cast<int32_t>(online) : 1;",
    ): "no system has 0 processors online",
}


def swap(a, b):
    return (
        (rf"(?<=[\w)\]]) {re.escape(a)} (?=[\w(*&-])", f" {b} "),
        (rf"(?<=[\w)\]]) {re.escape(b)} (?=[\w(*&-])", f" {a} "),
    )


OPERATORS = (
    *swap("<", "<="),
    *swap(">", ">="),
    *swap("==", "!="),
    *swap("&&", "||"),
    *swap("+", "-"),
    *swap("*", "+"),
    *swap("+=", "-="),
    (r"\bmin\b(?=[<({])", "max"),
    (r"\bmax\b(?=[<({])", "min"),
    (r"\btrue\b", "false"),
    (r"\bfalse\b", "true"),
    (r"(?<=[ (])0(?=[;,)])", "1"),
    (r"(?<=[ (])1(?=[;,)])", "2"),
    (r"!(?=[a-z(])", ""),
    (r"^(\s*(?:\} else )?if )\((?!int32_t status)(.*)\) (?=return|\{|continue|break|\w)", r"\1(!(\2)) "),
    (r"^(\s*)if \(int32_t status = (.*)\) return status;$", r"\1(void)(\2);"),
    (r"^(\s*)if \(\(status = (.*)\)\) return status;$", r"\1status = 0;"),
    (r"^(\s*)if \((.*)\) return .*;$", r"\1(void)(\2);"),
    (r"^(\s+)[a-z_:]+(?:(?:\.|->)[a-z_]+)*(?:\(.*\)| [-+*|&]?= .*);$", r"\1;"),
)
# Tiers that no test on this processor runs.
FLAGS = re.search(r"^flags\s*:(.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
OF_OTHER_PROCESSORS = {
    f"src/cpu/tiers/{tier}.cpp"
    for tier, flag in (("neon", "asimd"), ("avx2", "avx2"), ("avx512", "avx512vl"))
    if not FLAGS or flag not in FLAGS[1].split()
}
# Declarations, tables, what only the compiler reads, and what tells the processor of memory that is wanted soon.
NO_CODE = re.compile(
    r"^.*__builtin_prefetch|^\s*(//|#|static_assert|using|template|namespace|\}|$|\S+:$|constexpr|const |typedef)"
)


def random_mutants(root, seed, only):
    """In an order that the seed decides."""
    found = []
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*.[ch]pp")):
            name = str(path.relative_to(root))
            if not re.search(only, name) or name in OF_OTHER_PROCESSORS:
                continue
            for number, line in enumerate(path.read_text().split("\n"), 1):
                if NO_CODE.match(line):
                    continue
                code, slashes, comment = line.partition("  //")
                for pattern, replacement in OPERATORS:
                    for match in re.finditer(pattern, code):
                        changed = code[: match.start()] + match.expand(replacement) + code[match.end() :]
                        found.append(Mutant(name, number, line, changed + slashes + comment))
    random.Random(seed).shuffle(found)
    return found
