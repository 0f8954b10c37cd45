"""Makes the part of docs/reliability.md about other systems from answers.json and docs/hostile.md."""

import json
import re
from collections import Counter, defaultdict
from pathlib import Path

ANSWERS = Path(__file__).with_name("answers.json")
WORDS = {"crash": "crash", "hang": "hang", "other": "another answer", "error": "error", "right": "right answer"}

HEAD = """
## The same inputs elsewhere

`python3 tests/peers --record` gives the inputs of [hostile.md](hostile.md) to other systems, each in a process of its
own. An empty cell means that the system has no call for the input.

- **right answer**: a correct result.
- **error**: an exception.
- **another answer**: a result that libgather does not return, not even with the profile of that system.
- **hang**: the call did not return within one minute.

If an input has several forms, the table shows the worst outcome and how many forms had it. The other systems do not
guarantee the outcomes that libgather guarantees, so the table does not rate them.

"""


def worst(answers):
    """Returns the cell of a system: the worst outcome among the forms of an input."""
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
    """Returns this part of the page, or an empty text if nothing has been recorded."""
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
    return "".join([*lines, "\nTotals of all forms:\n\n", *counts])
