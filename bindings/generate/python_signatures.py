"""The options of Python's functions: the types of their keywords, and the keywords that a function does not have yet.

A person writes the keywords and the docstrings of a function. For a new option, the generator adds the keyword, the
argument of the Request and the entry of the docstring to each function whose operations have the option.
"""

import ast
import re

from header import ROOT, between, capital, comment, marks

PACKAGE = ROOT / "bindings/python/src/libgather"
TYPED, PUBLIC = PACKAGE / "_base/signature_types.py", PACKAGE / "types.py"
KEYWORDS, TYPE_MARKS = marks("#", "keywords"), marks("#", "types")

# The options whose value in Python is not that of the field: the name, and how options_reader.h reads it.
OTHERS = {"fill": ("fill_value", "FILL"), "initial": ("include_self", "FLAG")}
# The types of values in options_reader.h: the type in Python, and the default.
TYPES = {
    "CHOICE": ("t.{} | None", "None"),
    "DTYPE": ("t.OutDType | None", "None"),
    "COUNT": ("int | None", "None"),
    "INT32": ("int | None", "None"),
    "GIVEN": ("int | None", "None"),
    "INT64": ("int", "0"),
    "FILL": ("t.Any", "None"),
    "FLAG": ("bool", "True"),
}
# The kinds of operations that have the options of a column, and the options that functions of a kind do not have.
KINDS = {
    "every": ("gather", "scatter", "gradient", "bags"),
    "scatters": ("scatter",),
    "adders": ("scatter", "gradient", "bags"),
    "bags": ("bags",),
}
WITHOUT = {"scatter": {"fill"}, "gradient": {"fill"}, "bags": {"opset", "extents", "bag_format", "bag_count"}}
# Functions have these options as positional parameters.
POSITIONAL = {"axis", "batch_dims"}
# The functions and classes that are not named as an operation: the file, the kind, and the options that they lack.
FUNCTIONS = {
    "Plan": ("gather_plan.py", "gather", set()),
    "ScatterPlan": ("scatter_plan.py", "scatter", set()),
    "scatter_positions": ("scatter_positions.py", "scatter", {"accumulate", "order"}),
}
FILES = {"gather": "gathers.py", "scatter": "scatters.py", "gradient": "gradients.py", "bags": "bags.py"}
# The keywords of each kind of functions, with those that are no options.
TYPED_KEYWORDS = {
    "Switches": ("gather", "all gathers", {}, {"context": "Any", "stream": "Any", "sync": "bool"}),
    "BagSwitches": (
        "bags",
        "gather_bags",
        dict.fromkeys(("offsets", "starts", "lengths", "segments"), "Any") | {"count": "int | None", "weights": "Any"},
        {"context": "Any", "stream": "Any", "sync": "bool"},
    ),
    "ScatterSwitches": (
        "scatter",
        "all scatters",
        {},
        {"inplace": "bool", "context": "Any", "stream": "Any", "sync": "bool"},
    ),
}


def field(option):
    """Returns the name of an option in Python, and how options_reader.h reads it."""
    return OTHERS.get(option.name, (option.name, option.type.upper()))


def typed(option, kind=None):
    """Returns the type of an option in the functions of a kind."""
    special = option.name == "bounds" and kind == "scatter"
    return "t.ScatterBounds | None" if special else TYPES[field(option)[1]][0].format(option.type_name)


def options_of(kind, is_paired, options):
    """Returns the options that are keywords of the functions of a kind."""
    without = POSITIONAL | WITHOUT.get(kind, set()) | (set() if is_paired else {"extents"})
    return [each for each in options if kind in KINDS[each.kinds] and each.name not in without]


def keywords(options):
    """Returns the classes of keywords for type checkers."""
    parts = []
    for name, (kind, functions, first, last) in TYPED_KEYWORDS.items():
        names = {field(each)[0]: typed(each, kind).replace("t.", "") for each in options_of(kind, False, options)}
        lines = "".join(f"    {key}: {value}\n" for key, value in (first | names | last).items())
        parts.append(f'class {name}(TypedDict, total=False):\n    """The keywords of {functions}."""\n\n{lines}')
    return "\n\n".join([*parts, ""])


def public(text):
    """Returns the list of the types that a module defines or exports again."""
    names = set(re.findall(r"^(?:class )?(\w+)(?: = |\()", text, re.MULTILINE)) - {"FunctionT"}
    names |= set(re.findall(r"import (\w+) as \1$", text, re.MULTILINE))
    ordered = sorted(names, key=lambda name: (name[0].islower(), name))
    return "__all__ = [\n" + "".join(f'    "{name}",\n' for name in ordered) + "]\n"


def described(option):
    """Returns the text of an option with the names of Python."""
    text = re.sub(r"\{GTH_[A-Z]+_(\w+)\}", lambda match: f'``"{match[1].lower()}"``', option.full_text)
    return capital(re.sub(r"\{(\w+)\}", r":func:`\1`", text))


def listed(table):
    """Yields the name, the file and the options of each function."""
    for each in table.operations:
        yield each.name, FILES[each.kind], options_of(each.kind, each.form == "paired", table.options)
    for name, (file, kind, without) in FUNCTIONS.items():
        yield name, file, [each for each in options_of(kind, True, table.options) if each.name not in without]


def found(tree, name):
    """Returns the definition of a function and the node with its docstring, or None before the function exists."""
    for node in tree.body:
        if getattr(node, "name", None) != name:
            continue
        if isinstance(node, ast.ClassDef):
            return next(each for each in node.body if getattr(each, "name", None) == "__init__"), node
        if ast.get_docstring(node):
            return node, node
    return None


def entries(lines, node):
    """Yields the first line, the end and the names of each argument that a docstring describes."""
    first, end = node.body[0].lineno - 1, node.body[0].end_lineno
    indent = " " * (node.col_offset + 8)
    starts = [i for i in range(first, end) if re.match(rf"{indent}\w[\w, ]*:( |$)", lines[i])]
    for i in starts:
        stop = next((k for k in range(i + 1, end) if not lines[k].startswith(f"{indent}    ")), end)
        yield i, stop, re.split(r",\s+", lines[i].split(":")[0].strip())


def added_to_docstring(lines, node, option, names):
    """Returns the lines to replace for an option. Other docstrings refer to that of another function."""
    options = [each for each in entries(lines, node) if names & set(each[2])]
    first, stop, together = next((each for each in options if "negative" in each[2]), (0, 0, []))
    name, indent = field(option)[0], " " * (node.col_offset + 8)
    if not together:
        return []
    if len(together) == 1:
        first = stop = options[-1][1]
        entry = f"{name}: {described(option)}"
    else:
        entry = " ".join(line.strip() for line in lines[first:stop]).replace(":", f", {name}:", 1)
    text = comment(entry, indent).splitlines(keepends=True)
    return [(first, stop, [text[0], *(f"    {line}" for line in text[1:])])]


def inserted(node, text):
    """Returns the lines to replace for a line after that of a node."""
    return node.end_lineno, node.end_lineno, [f"{' ' * node.col_offset}{text}\n"]


def completed(text, name, options):
    """Returns the text of a file in which a function has all its options."""
    names = {field(each)[0] for each in options}
    for option in options:
        if not (defined := found(ast.parse(text), name)):
            return text
        function, documented = defined
        lines, added = text.splitlines(keepends=True), field(option)[0]
        arguments = function.args
        if added in {each.arg for each in (*arguments.args, *arguments.kwonlyargs)}:
            continue
        last = [each for each in arguments.kwonlyargs if each.arg in names][-1]
        edits = [inserted(last, f"{added}: {typed(option)} = {TYPES[field(option)[1]][1]},")]
        for call in ast.walk(function):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "Request":
                last = [each for each in call.keywords if each.arg in names][-1]
                edits.append(inserted(last, f"{added}={added},"))
        edits += added_to_docstring(lines, documented, option, names)
        for first, stop, new in sorted(edits, reverse=True):
            lines[first:stop] = new
        text = "".join(lines)
    return text


def files(table):
    texts = {TYPED: between(TYPED.read_text(), *KEYWORDS, keywords(table.options))}
    for name, file, options in listed(table):
        path = PACKAGE / "_operations" / file
        texts[path] = texts.get(path) or path.read_text()
        if re.search(rf"^(def|class) {name}\(", texts[path], re.MULTILINE):  # a person writes that of a new operation
            texts[path] = completed(texts[path], name, options)
    return texts
