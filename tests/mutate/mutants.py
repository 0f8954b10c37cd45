"""A mutant: a change of one place in the sources."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    file: str
    line: int  # from 1; 0: `old` is the text to replace
    old: str
    new: str
    promise: str = ""
    needs_nvcc: bool = False
    by_fuzzing: bool = False  # only the fuzz targets may detect it

    def apply(self, text):
        if not self.line:
            if text.count(self.old) != 1:
                raise SystemExit(f"{self.file}: the text does not occur exactly once: {self.old!r}")
            return text.replace(self.old, self.new)
        lines = text.split("\n")
        lines[self.line - 1] = self.new
        return "\n".join(lines)

    def lines(self, text):
        """Returns the numbers of the lines that it changes in the text of its file."""
        first = self.line or text[: text.index(self.old)].count("\n") + 1
        return range(first, first + self.old.rstrip("\n").count("\n") + 1)

    def __str__(self):
        where = f"{self.file}:{self.line}" if self.line else self.file
        return f"{where}: {self.promise or self.old.strip()}  ->  {self.new.strip() or '(nothing)'}"
