"""python -m record --write | --check"""

from . import differences, elements_grid, grid, named
from . import settle as settling
from .files import HERE, finish, parser_of
from .named import onnx
from .recordings import files_of


def cases():
    yield from named.cases()
    yield from grid.cases()
    yield from elements_grid.cases()


def settle(case, ask):
    """Returns the finished case, or a message."""
    return settling.finish(case, *ask(case))


def record():
    """Returns {path: text} of all generated files."""
    found = list(cases())
    finished = settling.settle(found, settling.ask_systems(found))
    files = files_of("gather", "record", finished)
    files[HERE / "differences.md"] = differences.report(finished)
    return files


if __name__ == "__main__":
    arguments = parser_of("record").parse_args()
    finish({onnx.NODE_TESTS: onnx.published()}, arguments.write)
    finish(record(), arguments.write)
