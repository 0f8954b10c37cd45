"""Makes a shell script of the steps that pages tell their reader: readme.py PAGE:SECTION...

A section has the name of its heading and ends at the next heading. Programs are written to files. Blocks of `sh` are
commands, which run in order in one shell. The last one must print the block of `text`, once for each
program that it runs.
"""

import itertools
import re
import sys

FILES = {"c": "example.c", "cpp": "example.cpp", "go": "main.go", "rust": "src/main.rs", "python": "example.py"}
RUNS = re.compile(r"\./example|go run|cargo run|python3? example.py")


def sections(text):
    """Pairs of a heading and the lines below it; a line in a block is no heading."""
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
    """Pairs of a language and the text of its block."""
    rest = iter(lines)
    for line in rest:
        if line.startswith("```"):
            yield line[3:], "\n".join(itertools.takewhile(lambda each: each != "```", rest))


def save(path, text):
    folder = f"mkdir -p {path.rpartition('/')[0]}\n" if "/" in path else ""
    return f"{folder}cat >{path} <<'END OF FILE'\n{text}\nEND OF FILE"


def section(place):
    """The lines of PAGE:SECTION."""
    page, _, title = place.partition(":")
    with open(page) as file:
        return dict(sections(file.read()))[title]


def script(places):
    wanted = list(itertools.chain.from_iterable(blocks(section(place)) for place in places))
    expected = next(text for language, text in wanted if language == "text")
    *commands, last = [text for language, text in wanted if language == "sh"]
    programs = [save(FILES[language], text) for language, text in wanted if language in FILES]
    outputs = "\n".join([expected] * len(RUNS.findall(last)))
    result = f'work=$PWD\n{{ # in this shell: what it exports stays\n{last}\n}} >"$work/printed.txt"\ncd "$work"'
    steps = [*programs, *commands, result, save("expected.txt", outputs), "diff -u expected.txt printed.txt"]
    return "\n".join(["set -eux", *steps, ""])


if __name__ == "__main__":
    print(script(sys.argv[1:]), end="")
