"""For each language: the files to change, the operators, and the lines that are not code."""

import ast
import re
from dataclasses import dataclass
from pathlib import Path


def swap(a, b):
    return (
        (rf"(?<=[\w)\]]) {re.escape(a)} (?=[\w(*&-])", f" {b} "),
        (rf"(?<=[\w)\]]) {re.escape(b)} (?=[\w(*&-])", f" {a} "),
    )


COMPARISONS = (*swap("<", "<="), *swap(">", ">="), *swap("==", "!="))
SUMS = (*swap("+", "-"), *swap("*", "+"), *swap("+=", "-="))
LITERALS = (
    (r"\btrue\b", "false"),
    (r"\bfalse\b", "true"),
    (r"(?<=[ (])0(?=[;,)])", "1"),
    (r"(?<=[ (])1(?=[;,)])", "2"),
)
LEAST_AND_MOST = ((r"\bmin\b(?=[<({])", "max"), (r"\bmax\b(?=[<({])", "min"))
SHARED = (*COMPARISONS, *swap("&&", "||"), *SUMS, *LEAST_AND_MOST, *LITERALS)
NOT = (r"(?<=[ (])!(?=[a-z(])", "")
BITS = ((r"(?<=[ (])-(?=[a-z(])", ""), *swap("<<", ">>"), *swap("|", "&"))
CALL = r"[a-z_:]+(?:(?:\.|->)[a-z_]+)*"

OF_CPP = (
    *SHARED,
    (r"!(?=[a-z(])", ""),
    (r"^(\s*(?:\} else )?if )\((?!int32_t status)(.*)\) (?=return|\{|continue|break|\w)", r"\1(!(\2)) "),
    (r"^(\s*)if \(int32_t status = (.*)\) return status;$", r"\1(void)(\2);"),
    (r"^(\s*)if \(\(status = (.*)\)\) return status;$", r"\1status = 0;"),
    (r"^(\s*)if \((?!int32_t status)(.*)\) return .*;$", r"\1(void)(\2);"),
    (rf"^(\s+){CALL}(?:\(.*\)| [-+*|&]?= .*);$", r"\1;"),
)
OF_RUST = (
    *SHARED,
    NOT,
    (r"^(\s*(?:\} else )?if )(?!let )(.*) \{$", r"\1!(\2) {"),
    (rf"^(\s+){CALL}\(.*\)\??;$", r"\1;"),
    (r"^(\s+)(?:[\w.]+|\*\(.*\)|\([\w., ]+\)) [-+*|&]?= .*;$", r"\1;"),
    (r"^(\s+)return (?:Err|Ok)\(.*\);$", r"\1;"),
    (r"^(\s+\w+: )(?!ptr::null|\w+::new|.*fn\(|self\.kind)[a-zA-Z].*(?:\)|\.[a-z_]+),$", r"\1Default::default(),"),
    (r"(?<=[ (\[])Some\((?:[^()]|\([^()]*\))*\)(?! =| if)", "None"),
    *BITS,
    (r"\.is_some\(\)", ".is_none()"),
    (r"\.is_none\(\)", ".is_some()"),
    (r"\.rev\(\)", ""),
)
OF_GO = (
    *SHARED,
    NOT,
    (r"^(\s*(?:\} else )?if )((?!.*:=).*) \{$", r"\1!(\2) {"),
    (r"^(\s+)(?:defer )?[A-Za-z.]+\(.*\)$", r"\1"),
    (r"(?<=return )nil\b(?=, )", "nil, nil //"),
)
OF_JAVA = (
    *SHARED,
    NOT,
    (r"^(\s*(?:\} else )?if )\((.*)\) \{$", r"\1(!(\2)) {"),
    (r"^(\s+)(?!return |throw )[\w.]+\(.*\);$", r"\1;"),
    (r"^(\s+)[\w.]+(?:\[.*\])? [-+*|&]?= .*;$", r"\1;"),
    (r"^(\s+)throw .*;$", r"\1;"),
    (r"(?<=return )(?!null;)[^;]+(?=;)", "null"),
    *BITS,
)
OF_PYTHON = (
    *COMPARISONS,
    *SUMS,
    *swap("and", "or"),
    (r"(?<!for \w)(?<=[\w)\]]) in (?=[\w(])", " not in "),
    (r" not in (?=[\w(])", " in "),
    (r"(?<=[\w)\]]) is (?!not )(?=[\w(])", " is not "),
    (r" is not (?=[\w(])", " is "),
    (r"\bTrue\b", "False"),
    (r"\bFalse\b", "True"),
    (r"(?<=[ (\[])0(?=[,)\]:]|$)", "1"),
    (r"(?<=[ (\[])1(?=[,)\]:]|$)", "2"),
    (r"\bmin(?=\()", "max"),
    (r"\bmax(?=\()", "min"),
    (r"(?<=[ (])not (?!in )", ""),
    (r"^(\s*(?:el)?if )(.*):$", r"\1not (\2):"),
    (r"^(\s+)raise .*$", r"\1pass"),
    (r"^(\s+)return (?!None$).+[\w)\]]$", r"\1return None"),
    (r"^(\s+)[a-z_]+(?:\.[a-z_]+)*(?:\(.*\)| [-+*|&]?= .*[\w)\]])$", r"\1pass"),
)

# Tiers that this processor cannot run, and the sources of other systems.
FLAGS = re.search(r"^flags\s*:(.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
OF_OTHER_MACHINES = (
    r"_macos\.cpp",
    *(
        rf"src/cpu/tiers/{tier}\.cpp"
        for tier, flag in (("neon", "asimd"), ("avx2", "avx2"), ("avx512", "avx512f"))
        if not FLAGS or flag not in FLAGS[1].split()
    ),
)


@dataclass(frozen=True)
class Language:
    patterns: tuple  # patterns of file names
    excluded: str  # a regular expression of file names
    operators: tuple
    no_code: str  # a regular expression of lines
    comment: str

    def files(self, root):
        """Returns the names of the files, relative to the root."""
        found = sorted(str(path.relative_to(root)) for pattern in self.patterns for path in root.glob(pattern))
        return [name for name in found if not re.search(self.excluded, name) and not is_generated(root / name)]

    def lines(self, text):
        """Yields the numbers, from 1, and the text of the lines that are code. The tests end a source of Rust."""
        text = text.partition("#[cfg(test)]")[0]
        hidden = unused_lines(text) if self.operators is OF_PYTHON else set()
        for number, line in enumerate(text.split("\n"), 1):
            if number not in hidden and not re.match(self.no_code, line):
                yield number, line


def is_generated(path):
    return "Generated from gather.h by ./dev generate: do not edit" in path.read_text()


def unused_lines(text):
    """Returns the numbers of the lines of strings that are statements, and of code that only type checkers use."""
    unused = (node for node in ast.walk(ast.parse(text)) if is_docstring(node) or is_for_type_checkers(node))
    return {number for node in unused for number in range(node.lineno, node.end_lineno + 1)}


def is_docstring(node):
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def is_for_type_checkers(node):
    if isinstance(node, ast.FunctionDef):
        return any(name_of(decorator) == "overload" for decorator in node.decorator_list)
    named = node.test if isinstance(node, ast.If) else node.targets[0] if isinstance(node, ast.Assign) else None
    return name_of(named) == "TYPE_CHECKING"


def name_of(node):
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", None)


NOTHING = r"(?!)"
# Not code: declarations, tables, lines that only the compiler uses, and prefetches.
CPP = Language(
    ("src/core/**/*.[ch]pp", "src/api/**/*.[ch]pp", "src/execution/**/*.[ch]pp", "src/cpu/**/*.[ch]pp"),
    "|".join(OF_OTHER_MACHINES),
    OF_CPP,
    r"^.*__builtin_prefetch|^\s*(//|#|static_assert|using|template|namespace|\}|$|\S+:$|constexpr|const |typedef)",
    "  //",
)
# Modules for other frameworks are excluded, because their tests need these frameworks.
PYTHON = Language(
    ("bindings/python/src/libgather/**/*.py",),
    r"/(dask|jax|onnx|ray|tf|torch)/|/_arrays/(jax_|tensorflow_|torch_|cupy_|frames|cuda_interface)\.py"
    r"|/(constants|torch_dynamo|gradients|missing_rows|device_outputs|cuda_streams)\.py|/jax_programs/",
    OF_PYTHON,
    r"^\s*(#|@|from|import|def |class |else:|try:|$)|.*: t?\.?TypeAlias",
    "  #",
)
RUST = Language(
    ("bindings/rust/gather/src/**/*.rs",),
    NOTHING,
    OF_RUST,
    r"^\s*(//|#|use |mod |pub (mod|use|type|enum|struct|trait)|impl|const |type |where|(pub.* )?(unsafe )?fn |\}|$)",
    "  //",
)
GO = Language(
    ("bindings/go/*.go",),
    r"_test\.go|without_cgo\.go|constants\.go",
    OF_GO,
    r"^\s*(//|package|import|func |type |const |var |\}|\)|$)",
    " // ",
)
JAVA = Language(
    ("bindings/java/src/main/java/**/*.java",),
    NOTHING,
    OF_JAVA,
    r"^\s*(//|/?\*|@|import |package |[a-z ]*\b(class|interface|enum|record) |\}|\)|$)",
    " // ",
)
OF_BINDINGS = {"python": PYTHON, "rust": RUST, "go": GO, "java": JAVA}
