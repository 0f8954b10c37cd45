"""Reads the declarations of gather.h."""

import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEADER = ROOT / "include/gather/gather.h"

# Sizes of C types. Pointers and types of functions have 8 bytes.
SIZES = {"int32_t": 4, "uint32_t": 4, "int64_t": 8, "uint64_t": 8, "char": 1, "float": 4}


@dataclass(frozen=True)
class Constant:
    name: str
    value: int
    comment: str  # the text after it, or ""


@dataclass(frozen=True)
class Field:
    name: str
    type: str  # "pointer" for every pointer
    count: int
    offset: int

    @property
    def bytes(self):
        return self.count * SIZES.get(self.type, 8)


@dataclass(frozen=True)
class Struct:
    name: str
    fields: tuple[Field, ...]
    size: int


@dataclass(frozen=True)
class Function:
    result: str
    name: str
    parameters: tuple[str, ...]


def without_comments(text):
    return re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL).replace("\\\n", " ")


def words(text):
    return " ".join(text.replace("\n *", " ").split())


def declarations(text):
    """Returns the types and functions of the header, without comments and directives."""
    text = re.sub(r"^#ifdef __cplusplus\n.*?^#endif\n", "", without_comments(text), flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).replace("GTH_API ", "").replace("GTH_EXPORT ", "")
    text = re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE)
    return re.sub(r"\n{2,}", "\n\n", text).strip()


def capital(text):
    return text[0].upper() + text[1:]


def sentence(text):
    """Returns a comment as a sentence. A name as its first word stays as it is."""
    first = text.split()[0].rstrip(":")
    return (capital(text) if first.isalpha() else text) + ("" if text.endswith(".") else ".")


def comment(text, before):
    """Returns a text as lines of at most 120 columns that begin with `before`."""
    lines = textwrap.wrap(text, 120 - len(before), break_on_hyphens=False, break_long_words=False)
    return "".join(f"{before}{line}\n" for line in lines)


def marks(before, part):
    """Returns the lines around a part that is written by a generation."""
    return [f"{before} {edge} of the {part} that ./dev generate writes.\n" for edge in ("Begin", "End")]


def between(text, begin, end, new):
    """Returns a text with a new part between two marks."""
    before, rest = text.split(begin)
    return before + begin + new + end + rest.split(end)[1]


class Header:
    """The constants, structs and functions, in the order of the header."""

    def __init__(self, text):
        self.text = text
        self.declarations = declarations(text)
        found = re.findall(
            r"^#define (GTH_\w+) *(?:\\\n)? *(-?\d+)(?:[ \t]*/\*\*?<?((?:(?!\*/).)*)\*/)?[ \t]*$",
            text,
            re.DOTALL | re.MULTILINE,
        )
        self.constants = [Constant(name, int(value), words(comment)) for name, value, comment in found]
        self.numbers = {each.name: each.value for each in self.constants}
        bodies = re.findall(r"typedef struct (gth_\w+) \{(.*?)\} \1;", self.declarations, flags=re.DOTALL)
        self.structs = [self.struct(name, body) for name, body in bodies]
        self.functions = self.find_functions()
        if not (self.constants and self.structs and self.functions):
            raise ValueError("the header has no declarations")

    def find_functions(self):
        text = re.sub(r"typedef .*?;|\{.*?\}", "", self.declarations, flags=re.DOTALL)
        found = re.findall(r"^((?:const )?\w+ \*?)(gth_\w+)\((.*?)\);", text, flags=re.DOTALL | re.MULTILINE)
        return [
            Function(result, name, () if parameters == "void" else tuple(words(p) for p in parameters.split(",")))
            for result, name, parameters in found
        ]

    def struct(self, name, body):
        fields, end, widest = [], 0, 1
        for line in filter(None, (part.strip() for part in body.split(";"))):
            field, count = re.fullmatch(r".*?(\w+)(?:\[(\w+)\])?", line, flags=re.DOTALL).groups()
            kind = type_of(line)
            size = SIZES.get(kind, 8)
            count = 1 if count is None else int(self.numbers.get(count, count))
            end = -(-end // size) * size
            fields.append(Field(field, kind, count, end))
            end += size * count
            widest = max(widest, size)
        return Struct(name, tuple(fields), -(-end // widest) * widest)

    def operands(self):
        """Returns the names of the operands of gth_request."""
        request = next(struct for struct in self.structs if struct.name == "gth_request")
        return {field.name for field in request.fields if field.type == "pointer"} - {"options"}

    def above(self):
        """Returns the comments that are one paragraph above a constant, but not those of groups."""
        comment = r"/\*\*(?!<|\n \* @name)((?:(?!\*/|\n \*\n).)*)\*/\n"
        found = re.findall(comment + r"#define (GTH_\w+)", self.text, flags=re.DOTALL)
        return {name: words(text) for text, name in found}


def type_of(declaration):
    """Returns the type of `const int32_t name`: a type of C, or "pointer"."""
    if "*" in declaration or declaration.split()[0].endswith("_fn"):
        return "pointer"
    kind = declaration.replace("const ", "").split()[0]
    if kind not in SIZES:
        raise ValueError(f"the type of {declaration!r} is not known")
    return kind
