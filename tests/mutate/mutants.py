"""A mutant: one place of the sources that is changed."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    file: str
    line: int  # from 1; 0: found by its text
    old: str
    new: str
    promise: str = ""
    needs_nvcc: bool = False

    def apply(self, text):
        if not self.line:
            if text.count(self.old) != 1:
                raise SystemExit(f"{self.file}: not there, or more than once: {self.old!r}")
            return text.replace(self.old, self.new)
        lines = text.split("\n")
        lines[self.line - 1] = self.new
        return "\n".join(lines)

    def __str__(self):
        where = f"{self.file}:{self.line}" if self.line else self.file
        return f"{where}: {self.promise or self.old.strip()}  ->  {self.new.strip() or '(nothing)'}"
