"""Marks the chapters and the plain comments of gather.h as documentation for doxygen: doxygen_filter.py FILE

A chapter is a line of dashes around its name. A plain comment documents what follows it, or what it ends. gather.hpp is
passed on unchanged.
"""

import re
import sys


def anchor(name):
    return re.sub(r"\W+", "_", name).lower()


def chapters(text):
    """The names that stand between dashes."""
    return re.findall(r"^/\* -{9,} (.+) \*/$", text, re.MULTILINE)


def set_apart(lines):
    """Indented lines of a comment, such as tables and formulas, as they are."""
    inside = False
    for line in lines:
        indented = re.match(r"\s*\*\s{3,}\S", line) is not None
        if indented != inside:
            yield " * @verbatim" if indented else " * @endverbatim"
            inside = indented
        yield line


def c(text):
    """Chapters are groups; a comment at the beginning of a line is about what follows, any other about what it ends."""
    chapters = 0
    kept = []
    for line in text.splitlines():
        match = re.match(r"/\* -{9,} (.+) \*/$", line)
        if match:
            kept += ["/** @} */"] * (chapters > 0) + [f"/** @defgroup {anchor(match[1])} {match[1]}", " * @{ */"]
            chapters += 1
        else:
            kept.append(line)
    end = max(index for index, line in enumerate(kept) if line == "#ifdef __cplusplus")
    kept.insert(end, "/** @} */")
    text = re.sub(r"<([A-Z]+)>", r"\1", "\n".join(kept))  # a placeholder, no markup

    def comment(match):
        before, body = match[1], match[2]
        lines = list(set_apart(body.split("\n")))
        if any("@verbatim" in line for line in lines) and not any("@endverbatim" in line for line in lines):
            lines[-1:] = [lines[-1].rstrip().removesuffix("*/").rstrip(), " * @endverbatim */"]
        return before + ("/**<" if before.strip() else "/**") + "\n".join(lines)

    return re.sub(r"^([^\n]*?)/\*(?![*])(.*?\*/)", comment, text, flags=re.DOTALL | re.MULTILINE)


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        source = file.read()
    print(source if sys.argv[1].endswith(".hpp") else c(source))
