"""Prints a shell script with the steps of documentation pages: readme.py PAGE:SECTION...

A section is named by its heading and ends at the next heading. The script writes the programs of the sections to
files. It runs the `sh` blocks in order in one shell. The last `sh` block must print the `text` block once for each
program that it runs.
"""

import itertools
import re
import sys

FILES = {"c": "example.c", "cpp": "example.cpp", "go": "main.go", "rust": "src/main.rs", "python": "example.py"}
RUNS = re.compile(r"\./example|go run|cargo run|python3? example.py")


def sections(text):
    """Yields each heading with the lines below it. Lines in a code block are not headings."""
    title, lines, inside = "", [], False
    for line in text.splitlines():
        inside ^= line.startswith("```")
        if not inside and re.match(r"#+ ", line):
            yield title, lines
            title, lines = line.lstrip("# "), []
        else:
            lines.append(line)
    yield title, lines


def blocks(lines):
    """Yields the language and the text of each code block."""
    rest = iter(lines)
    for line in rest:
        if line.startswith("```"):
            yield line[3:], "\n".join(itertools.takewhile(lambda each: each != "```", rest))


def save(path, text):
    folder = f"mkdir -p {path.rpartition('/')[0]}\n" if "/" in path else ""
    return f"{folder}cat >{path} <<'END OF FILE'\n{text}\nEND OF FILE"


def section(place):
    """Returns the lines of PAGE:SECTION."""
    page, _, title = place.partition(":")
    with open(page) as file:
        return dict(sections(file.read()))[title]


def script(places):
    wanted = list(itertools.chain.from_iterable(blocks(section(place)) for place in places))
    expected = next(text for language, text in wanted if language == "text")
    *commands, last = [text for language, text in wanted if language == "sh"]
    programs = [save(FILES[language], text) for language, text in wanted if language in FILES]
    outputs = "\n".join([expected] * len(RUNS.findall(last)))
    result = f'work=$PWD\n{{ # no subshell, so that exports remain\n{last}\n}} >"$work/printed.txt"\ncd "$work"'
    steps = [*programs, *commands, result, save("expected.txt", outputs), "diff -u expected.txt printed.txt"]
    return "\n".join(["set -eux", *steps, ""])


if __name__ == "__main__":
    print(script(sys.argv[1:]), end="")
