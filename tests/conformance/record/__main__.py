"""python -m record --write | --check"""

from . import differences, elements_grid, grid, named, settle
from .files import HERE, finish, parser_of
from .named import onnx
from .recordings import files_of


def cases():
    yield from named.cases()
    yield from grid.cases()
    yield from elements_grid.cases()


def record():
    """Returns {path: text} of all generated files."""
    found = list(cases())
    finished = settle.settle(found, settle.ask_systems(found))
    files = files_of("gather", "record", finished)
    files[HERE / "differences.md"] = differences.report(finished)
    return files


if __name__ == "__main__":
    arguments = parser_of("record").parse_args()
    finish({onnx.NODE_TESTS: onnx.published()}, arguments.write)
    finish(record(), arguments.write)
