"""The recorded answers of the systems. Calls are computed, so a line has only a digest of its call."""

import hashlib
import re
from collections import defaultdict

from .files import HEADER, RECORDED
from .format import Error, dump, outcome_text, parse_outcome


def digest_of(case):
    """Returns a digest of the call."""
    call = re.split("^(?:difference|system|expect) ", dump(case).rstrip("\n") + "\n", maxsplit=1, flags=re.MULTILINE)[0]
    return hashlib.sha256(call.encode()).hexdigest()[:8]


class Recordings:
    """The answers of the files of a folder. Each of them is used once."""

    def __init__(self, folder):
        self.lines = {}
        for path in sorted((RECORDED / folder).glob("*.txt")):
            for line in path.read_text().splitlines():
                if not line.startswith("#"):
                    name, answer = line.split(" ", 1)
                    self.lines[name] = answer

    def ask(self, case):
        """Returns (source, outcome) of the system, or (None, None)."""
        line = self.lines.pop(case.name, None)
        if line is None:
            return None, None
        digest, system, version, answer = line.split(" ", 3)
        if digest != digest_of(case):
            raise SystemExit(f"{case.name}: the call is no longer the recorded one, so record it again")
        return f"{system} {version}", parse_outcome(answer)

    def finish(self):
        if self.lines:
            raise SystemExit(f"{next(iter(self.lines))}: no case has this recorded answer, so record again")


def files_of(folder, module, finished):
    """Returns {path: text} of the recorded answers."""
    lines = defaultdict(list)
    for case in finished:
        if case.source != "oracle":
            answer = case.system or case.expect
            text = outcome_text(Error() if isinstance(answer, Error) else answer)
            lines[case.profile].append(f"{case.name} {digest_of(case)} {case.source} {text}\n")
    header = HEADER.format(module)
    return {RECORDED / folder / f"{profile}.txt": header + "".join(found) for profile, found in lines.items()}
