"""Prints gather.h with its chapters and plain comments marked as documentation for doxygen: doxygen_filter.py FILE

A chapter begins with a comment of dashes and a name. Further lines of the comment describe the chapter. A plain comment
on its own lines documents the next declaration. A plain comment at the end of a line documents that line. gather.hpp is
printed unchanged.
"""

import re
import sys

CHAPTER = re.compile(r"^/\* -{9,} (\w[\w ]*?)( \*/)?$", re.MULTILINE)


def anchor(name):
    return re.sub(r"\W+", "_", name).lower()


def chapters(text):
    """Returns the names of the chapters."""
    return [match[1] for match in CHAPTER.finditer(text)]


def set_apart(lines):
    """Marks indented lines of a comment, such as tables and formulas, as verbatim."""
    inside = False
    for line in lines:
        indented = re.match(r"\s*\*\s{3,}\S", line) is not None
        if indented != inside:
            yield " * @verbatim" if indented else " * @endverbatim"
            inside = indented
        yield line


def c(text):
    """Returns the text of gather.h with chapters as groups and comments as documentation."""
    has_chapter = is_heading = False
    kept = []
    for line in text.splitlines():
        if match := CHAPTER.match(line):
            kept += ["/** @} */"] * has_chapter + [f"/** @defgroup {anchor(match[1])} {match[1]}"]
            has_chapter = is_heading = True
        else:
            kept.append(line)
        if is_heading and line.endswith("*/"):
            if not match:
                kept[-1] = line.removesuffix("*/").rstrip()
            kept.append(" * @{ */")
            is_heading = False
    end = max(index for index, line in enumerate(kept) if line == "#ifdef __cplusplus")
    kept.insert(end, "/** @} */")
    text = re.sub(r"<([A-Z]+)>", r"\1", "\n".join(kept))  # a placeholder is no markup

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
