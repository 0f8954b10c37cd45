"""Reads the public declarations of the bindings and of gather.hpp. Returns the parameters by name.

Names are written as users write them: `gather`, `Tensor.zeros`, `Options::axis`, `Context.Sync`. A type or a property
has None instead of parameters.
"""

import ast
import re

# ------------------------------------------------------------------------------------------------------------ Python


def parameters(function):
    """Returns the names of a function's parameters, without self and cls."""
    arguments = function.args
    names = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    names += [a.arg for a in (arguments.vararg, arguments.kwarg) if a]
    return [name for name in names if name not in ("self", "cls")]


def python(folder):
    """Returns the names of libgather.__all__, and the members of its classes and their bases."""
    paths = sorted([*folder.glob("*.py*"), *folder.glob("_*/*.py")])
    trees = [ast.parse(path.read_text()) for path in paths if path.suffix in (".py", ".pyi")]
    nodes = [node for tree in trees for node in tree.body]
    classes = {node.name: node for node in nodes if isinstance(node, ast.ClassDef)}
    functions = {node.name: node for node in nodes if isinstance(node, ast.FunctionDef)}
    package = ast.parse((folder / "__init__.py").read_text())
    public = next(
        ast.literal_eval(node.value)
        for node in package.body
        if isinstance(node, ast.Assign) and node.targets[0].id == "__all__"
    )
    surface = {
        f"_abi.{node.name}": parameters(node)
        for node in ast.parse((folder / "_abi.pyi").read_text()).body
        if isinstance(node, ast.FunctionDef)
    }
    for name in public:
        if name in functions:
            surface[name] = parameters(functions[name])
        elif name in classes:
            surface[name] = None
            members(classes[name], classes, name, surface)
    return surface


def members(node, classes, name, surface):
    for base in node.bases:
        if isinstance(base, ast.Name) and base.id in classes:
            members(classes[base.id], classes, name, surface)
    for member in node.body:
        if not isinstance(member, ast.FunctionDef):
            continue
        if member.name == "__init__":
            surface[name] = parameters(member)
        elif any(isinstance(d, ast.Name) and d.id == "property" for d in member.decorator_list):
            surface[f"{name}.{member.name}"] = None
        else:
            surface[f"{name}.{member.name}"] = parameters(member)


# -------------------------------------------------------------------------------------------------------------- Rust

IMPL = re.compile(r"^impl\b(?:<[^{]*?>)?\s+(?:(?P<trait>[\w:]+)(?:<[^{]*?>)?\s+for\s+)?(?P<type>\w+)")
TYPE = re.compile(r"^\s*pub (?:struct|enum|trait) (\w+)")
# The first rule of a macro, and an invocation at the beginning of a line.
MACRO = re.compile(r"(?ms)^macro_rules! (\w+) \{\n    \((.*?)\) => \{(.*?)^    [)*]*\};")
INVOCATION = re.compile(r"(?ms)^(\w+)! \{\n(.*?)^\}")
FUNCTION = re.compile(r"^(?P<indent>\s*)(?P<public>pub )?(?:const )?(?:unsafe )?(?:extern \"C\" )?fn (?P<name>\w+)")


def rust(folder):
    """Returns types, functions and methods. Methods of traits are included. A private function is module::name."""
    sources = {path: re.sub(r"//[^\n]*", "", path.read_text()) for path in sorted(folder.rglob("*.rs"))}
    macros = {name: (pattern, body) for text in sources.values() for name, pattern, body in MACRO.findall(text)}
    surface = {}
    for path, source in sources.items():
        text = expanded(source.partition("#[cfg(test)]")[0], macros)
        impl = None
        for match in re.finditer(r"(?m)^.*$", text):
            line = match.group()
            if found := IMPL.match(line):
                impl = found
            elif line.startswith("}"):
                impl = None
            elif found := TYPE.match(line):
                surface.setdefault(found[1], None)
            if found := FUNCTION.match(line):
                if impl is not None and found["indent"]:
                    if found["public"] or impl["trait"]:
                        surface[f"{impl['type']}::{found['name']}"] = after(text, match.start() + found.end())
                else:
                    name = found["name"] if found["public"] else f"{path.stem}::{found['name']}"
                    surface[name] = after(text, match.start() + found.end())
    return surface


def expanded(text, macros):
    """Appends the expansions of the macros that define functions or types to a source without comments."""
    parts = [text]
    for name, entries in INVOCATION.findall(text):
        if name in macros:
            pattern, body = macros[name]
            variables = re.findall(r"\$(\w+):ident", pattern)
            parts += [expansion(body, variables, values) for values in entries_of(entries)]
    return "\n".join(parts)


def entries_of(text):
    """Yields the identifiers of each entry of an invocation: `NAME { first, second }`, or `kind name: Type, other;`."""
    if "{" not in text:
        yield from re.findall(r"(\w+) (\w+): \w+[,;]", text)
        return
    for name, names in re.findall(r"(\w+) \{([^{}]*)\}", text):
        yield name, *(each.strip() for each in names.split(","))


def expansion(body, variables, values):
    for variable, value in zip(variables, values, strict=False):
        body = re.sub(rf"\${variable}\b", value, body)
    lines = body.split("\n")
    indent = min(
        (len(line) - len(line.lstrip()) for line in lines if line.strip() and not line.startswith("$(")), default=0
    )
    return "\n".join(line[indent:] for line in lines)


def after(text, start):
    """Returns the names of the parameters in the first parentheses after a function's name and its generics."""
    depth = 0
    while text[start] != "(" or depth:
        depth += {"<": 1, ">": -1}.get(text[start], 0) if text[start - 1] != "-" else 0
        start += 1
    return [name for name in names_in(text, start) if name != "self"]


def names_in(text, start):
    """Returns the first word of each parameter in the parentheses that open at `start`."""
    words = (re.match(r"\s*(?:&\s*)?(?:'\w+\s+)?(?:mut\s+)?(\w+)", part) for part in parts_of(text, start))
    return [word[1] for word in words if word]


def parts_of(text, start):
    """Returns the text of each parameter in the parentheses that open at `start`."""
    depth, end, part, parts = 0, start, "", []
    while True:
        letter = text[end]
        depth += (letter in "([{<") - (letter in ")]}" or (letter == ">" and text[end - 1] != "-"))
        if depth == 0 or (letter == "," and depth == 1):
            parts.append(part)
            part = ""
        elif end > start:
            part += letter
        if depth == 0:
            return parts
        end += 1


# ---------------------------------------------------------------------------------------------------------------- Go

DECLARED = re.compile(
    r"(?m)^(?:func (?:\(\w* ?\*?(?P<type>\w+)(?:\[[^\]]*\])?\) )?(?P<name>\w+)(?:\[[^\]]*\])?(?=\()"
    r"|type (?P<own>[A-Z]\w*))"
)


def go(folder):
    """Returns types, functions and methods. A name with a small first letter is private to the package."""
    surface = {}
    for path in sorted(folder.glob("*.go")):
        if path.name.endswith("_test.go"):
            continue
        text = re.sub(r"(?m)//[^\n]*", "", path.read_text())
        for found in DECLARED.finditer(text):
            if found["own"]:
                surface[found["own"]] = None
            else:
                name = f"{found['type']}.{found['name']}" if found["type"] else found["name"]
                surface[name] = names_in(text, found.end())
    return surface


# -------------------------------------------------------------------------------------------------------------- Java

MEMBER = re.compile(
    r"(?m)^(?P<indent> *)public (?:static |final |sealed |abstract )*"
    r"(?:(?:class|enum|interface) (?P<type>\w+)|record (?P<record>\w+)(?=\()"
    r"|(?:<[^>]*> )?[\w<>\[\]?. ]+ (?P<name>\w+)(?=\())"
)


def java(folder):
    """Returns public types and methods.

    If several methods have one name, the method with the most parameters counts. Methods of a base that is not public
    count as those of its classes.
    """
    surface, bases = {}, {}
    for path in sorted(folder.glob("*.java")):
        text = re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text(), flags=re.DOTALL)
        if base := re.search(rf"class {path.stem} extends (\w+)", text):
            bases[path.stem] = base[1]
        nested = None
        for found in MEMBER.finditer(text):
            own = found["type"] or found["record"]
            if own:
                nested = f"{path.stem}.{own}" if found["indent"] else None
            owner = nested if nested and (own or len(found["indent"]) == 4) else path.stem
            name = owner if own else f"{owner}.{found['name']}"
            taken = None if found["type"] else java_names(text, found.end())
            if name not in surface or len(taken or ()) > len(surface[name] or ()):
                surface[name] = taken
            for component in taken if found["record"] else ():
                surface[f"{owner}.{component}"] = None
    hidden = {base for base in bases.values() if base not in surface}
    for name in [name for name in surface if name.split(".")[0] in hidden]:
        base, method = name.split(".")
        surface |= {f"{each}.{method}": surface[name] for each in bases if bases[each] == base}
        del surface[name]
    return surface


def java_names(text, start):
    """Returns the last word of each parameter in the parentheses that open at `start`."""
    depth, end = 0, start
    while True:
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        end += 1
        if depth == 0:
            break
    parts = re.sub(r"<[^<>]*>", "", text[start + 1 : end - 1]).split(",")
    return [part.split()[-1] for part in parts if part.strip()]


# --------------------------------------------------------------------------------------------------------------- C++

CPP_CLASS = re.compile(r"^(?:class|struct|enum class) (\w+)(?: : (?:public )?(\w+)[^{;]*)? ?\{")
CPP_OBJECT = re.compile(r"^(?:inline|static) constexpr (?:detail::)?(\w+)(?:<.*>)? (\w+)\{")
CPP_FUNCTION = re.compile(r"^(?!static_assert)(?:[\w\[][^=(;]*?)?(operator\(\)|(?<![\w:~])[A-Za-z_]\w*)(?=\()")


def cpp(header):
    """Returns types, functions, methods and constants of a header. A function object has the parameters of its calls.

    A class has those of its constructor, and the members of its base. If several functions have one name, the one with
    the most parameters counts. The layout of clang-format is expected: members of a class have an indent of two.
    """
    text = header.read_text().replace("}  // namespace detail", "namespace gather {")
    text = re.sub(r"(?m)//[^\n]*|^#.*(?:\\\n.*)*|^ *template .*", "", text)
    surface, owner, is_private, is_detail = {}, "", False, False
    for match in re.finditer(r"(?m)^.*$", text):
        line = match.group()
        if line.startswith("}"):
            owner = ""
        elif line.startswith("namespace "):
            is_detail = line.startswith("namespace detail")
        elif line.startswith((" private:", " public:")):
            is_private = line.startswith(" private:")
        elif found := CPP_CLASS.match(line):
            inherited = [name for name in surface if name.startswith(f"{found[2]}::")]
            surface |= {f"{found[1]}::{name.partition('::')[2]}": surface[name] for name in inherited}
            surface[found[1]] = None
            owner, is_private = "" if line.endswith("};") else f"{found[1]}::", False
        elif (is_private if owner else is_detail) or line != ("  " if owner else "") + line.lstrip():
            continue
        elif found := CPP_OBJECT.match(line.lstrip()):
            surface[owner + found[2]] = surface[f"{found[1]}::operator()"]
        elif found := CPP_FUNCTION.match(line.lstrip()):
            name = owner + found[1] if owner != f"{found[1]}::" else found[1]
            taken = cpp_names(text, match.start() + len(line) - len(line.lstrip()) + found.end())
            if len(taken) >= len(surface.get(name) or ()):
                surface[name] = taken
    return surface


def cpp_names(text, start):
    """Returns the last word of each parameter in the parentheses that open at `start`, without default values."""
    words = (re.search(r"(\w+)\s*$", part.partition("=")[0]) for part in parts_of(text, start))
    return [word[1] for word in words if word]
