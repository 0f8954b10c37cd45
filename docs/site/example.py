"""A Sphinx directive that shows a program of examples/ in tabs, one for each language, and its output."""

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList

LANGUAGES = {
    "C": ("c", "examples/c/{}.c"),
    "C++": ("cpp", "examples/cpp/{}.cpp"),
    "Rust": ("rust", "examples/rust/src/bin/{}.rs"),
    "Python": ("python", "examples/python/{}.py"),
    "Go": ("go", "examples/go/{}/main.go"),
    "Java": ("java", "examples/java/{capital}.java"),
}


class Example(Directive):
    """The directive ``{example} NAME``."""

    required_arguments = 1

    def run(self):
        name = self.arguments[0]
        lines = ["::::{tab-set}", ":sync-group: language", ""]
        for title, (lexer, path) in LANGUAGES.items():
            file = f"/tree/{path.format(name, capital=name.capitalize())}"
            lines += [f":::{{tab-item}} {title}", f":sync: {lexer}", ""]
            lines += [f"```{{literalinclude}} {file}", f":language: {lexer}", "```", ":::", ""]
        lines += ["::::", "", f"```{{literalinclude}} /tree/examples/output/{name}.txt", ":language: text", "```", ""]
        parent = nodes.Element()
        self.state.nested_parse(StringList(lines, self.state_machine.document["source"]), self.content_offset, parent)
        return parent.children


def setup(app):
    app.add_directive("example", Example)
    return {"parallel_read_safe": True}
