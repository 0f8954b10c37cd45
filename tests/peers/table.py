"""What other systems did, as a part of docs/reliability.md, from answers.json and docs/hostile.md."""

import json
import re
from collections import Counter, defaultdict
from pathlib import Path

ANSWERS = Path(__file__).with_name("answers.json")
WORDS = {"crash": "crash", "hang": "hang", "other": "another answer", "error": "error", "right": "right answer"}

HEAD = """
## The same inputs elsewhere

Each of these systems was given what it has words for of [hostile.md](hostile.md), in a process of its own, by
`python3 tests/peers --record`. An error is an exception; another answer is one where libgather, in the profile of its
name, gives another or none; a hang did not end within a minute. Where an input has several forms, the worst is shown,
with how many did that. It is no judgement of what these systems are for: most of them promise less.

"""


def worst(answers):
    """What stands in a cell, of the forms of one input."""
    asked = [answer for answer in answers if answer[0] != "unable"]
    for did, word in WORDS.items():
        found = [words for outcome, words in asked if outcome == did]
        if not found:
            continue
        told = sorted({words for words in found if words}) if did in ("crash", "other") else []
        of = f" ({len(found)} of {len(asked)})" if len(found) < len(asked) else ""
        return word + (f": {', '.join(told)}" if told else "") + of
    return ""


def table(page):
    """The whole part; nothing where nothing has been recorded."""
    if not ANSWERS.exists():
        return ""
    stored = json.loads(ANSWERS.read_text())
    by_entry = defaultdict(lambda: defaultdict(list))
    for system, told in stored.items():
        for name, answer in told["answers"].items():
            by_entry[name.split(":")[0]][system].append(answer)
    names = [told["version"] for told in stored.values()]
    lines = [HEAD, f"| | Input | libgather | {' | '.join(names)} |\n", "|---" * (3 + len(names)) + "|\n"]
    for number, given, outcome in re.findall(r"^\| ([A-H]\d+) \|([^|]*)\|([^|]*)\|", page, re.MULTILINE):
        cells = [worst(by_entry[number][system]) for system in stored]
        if any(cells):
            lines.append(f"| {number} |{given}|{outcome}| {' | '.join(cells)} |\n")
    counts = []
    for told in stored.values():
        count = Counter(outcome for outcome, _ in told["answers"].values())
        parts = [f"{word} {count[did]}" for did, word in WORDS.items()]
        counts.append(f"- {told['version']}: {', '.join(parts)}\n")
    return "".join([*lines, "\nIn all, with every form counted:\n\n", *counts])
