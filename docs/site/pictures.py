"""Draws the operations and the policies as SVG: pictures.py FOLDER

Every number in a picture is the result of a call of the library. The style sheet of the site defines the colours.
"""

import sys
from pathlib import Path

import numpy as np

import libgather

CELL, HIGH, GAP = 44, 30, 26
UNTOUCHED = -1.0


class Drawing:
    """SVG shapes, and the width and height that they need."""

    def __init__(self):
        self.shapes, self.width, self.height = [], 0, 0

    def add(self, shape, right, bottom):
        self.shapes.append(shape)
        self.width, self.height = max(self.width, right), max(self.height, bottom)

    def text(self, x, y, words, kind="", anchor="middle"):
        self.add(f'<text x="{x}" y="{y}" class="{kind}" text-anchor="{anchor}">{words}</text>', x, y + 8)

    def cell(self, x, y, words, kind, title=""):
        shape = f'<rect x="{x}" y="{y}" width="{CELL}" height="{HIGH}" rx="3" class="{kind}"/>'
        self.add(f"<g><title>{title or words}</title>{shape}</g>", x + CELL, y + HIGH)
        self.text(x + CELL / 2, y + HIGH / 2 + 5, words, f"in-{kind}")

    def line(self, x, y, to_x, to_y, kind):
        middle = (x + to_x) / 2
        self.add(f'<path d="M{x} {y} C{middle} {y} {middle} {to_y} {to_x} {to_y}" class="{kind}"/>', to_x, to_y)

    def svg(self, about):
        width, height = self.width + 4, self.height + 4
        body = "".join(self.shapes)
        return (
            f'<svg class="picture" role="img" aria-label="{about}" viewBox="0 0 {width:.0f} {height:.0f}" '
            f'style="max-width:{width:.0f}px" xmlns="http://www.w3.org/2000/svg">{body}</svg>\n'
        )


def shown(value):
    """Returns the shortest text of a number."""
    return f"{value:g}"


def source_of(row, table):
    """Returns the number of the table's row with the same values, or None."""
    matches = [each for each in range(len(table)) if np.array_equal(table[each], row)]
    return matches[0] if matches else None


def kind_of(row, table):
    source = source_of(row, table)
    if source is not None:
        return f"row{source}"
    return "kept" if np.all(row == UNTOUCHED) else "filled"


def policy(negative, bounds, **options):
    """Returns a drawing of a gather of valid and invalid indices from a table of 4 rows."""
    table = np.array([[0, 1], [10, 11], [20, 21], [30, 31]], dtype=np.float32)
    indices = np.array([2, -1, 0, 6], dtype=np.int64)
    out = np.full((4, 2), UNTOUCHED, dtype=np.float32)
    problem = None
    try:
        libgather.gather(table, indices, out=out, negative=negative, bounds=bounds, **options)
    except libgather.IndexError as error:
        problem = error
    return drawn_lookup(table, indices, out, problem)


def drawn_lookup(table, indices, out, problem):
    drawing = Drawing()
    for x, words in ((0, "params"), (180, "indices"), (310, "out")):
        drawing.text(x, 14, words, "name", "start")
    top = 24
    for row, values in enumerate(table):
        for column, value in enumerate(values):
            drawing.cell(column * CELL, top + row * HIGH, shown(value), f"row{row}")
    for place, index in enumerate(indices):
        y = top + place * HIGH
        bad = problem is not None and place == problem.position
        drawing.cell(180, y, str(index), "bad" if bad else "index")
        kind = kind_of(out[place], table)
        if kind.startswith("row"):
            drawing.line(2 * CELL + 2, top + int(kind[3:]) * HIGH + HIGH / 2, 178, y + HIGH / 2, f"line line-{kind}")
            drawing.line(182 + CELL, y + HIGH / 2, 308, y + HIGH / 2, f"line line-{kind}")
        for column, value in enumerate(out[place]):
            drawing.cell(310 + column * CELL, y, "·" if kind == "kept" else shown(value), kind)
    below = top + len(table) * HIGH + 22
    if problem is not None:
        drawing.text(0, below, str(problem).split(": indices[")[0], "problem", "start")
    elif any(kind_of(row, table) == "kept" for row in out):
        drawing.text(0, below, "· is unchanged", "note", "start")
    return drawing


def grid(drawing, x, y, values, kinds, name):
    """Draws a matrix under its name and shape. Returns the x of its right edge."""
    values = np.asarray(values)
    drawing.text(x, y + 14, f"{name} {list(values.shape)}", "name", "start")
    flat = values.reshape(-1, values.shape[-1]) if values.ndim else values.reshape(1, 1)
    for row, line in enumerate(flat):
        for column, value in enumerate(line):
            drawing.cell(x + column * CELL, y + 24 + row * HIGH, shown(value), kinds(row, column))
    return x + max(flat.shape[1] * CELL, 110)


def operation(call, params, indices, owner):
    """Draws params, indices and the result. A cell has the colour of the index that selects it."""
    drawing = Drawing()
    result = call(params, indices)
    numbers = {value: owner(place) for place, value in np.ndenumerate(result)}
    right = grid(drawing, 0, 0, params, lambda r, c: numbers.get(params[r, c], "plain"), "params")
    right = grid(drawing, right + GAP, 0, indices, lambda r, c: owner(indices_place(indices, r, c)), "indices")
    flat = result.reshape(-1, result.shape[-1])
    places = list(np.ndindex(result.shape))
    grid(drawing, right + GAP, 0, result, lambda r, c: owner(places[r * flat.shape[1] + c]), "out")
    return drawing


def indices_place(indices, row, column):
    return (column,) if indices.ndim == 1 else (row, column)


def tuples(indices):
    """Draws a gather_nd. Both components of a tuple have the colour of the tuple."""
    drawing = Drawing()
    result = libgather.gather_nd(MATRIX, indices)
    numbers = {value: f"row{place}" for place, value in enumerate(result)}
    right = grid(drawing, 0, 0, MATRIX, lambda r, c: numbers.get(MATRIX[r, c], "plain"), "params")
    right = grid(drawing, right + GAP, 0, indices, lambda r, c: f"row{r}", "indices")
    grid(drawing, right + GAP, 0, result, lambda r, c: f"row{c}", "out")
    return drawing


def written(reduction):
    """Draws a scatter of three rows. A row of the result has the colour of the last update that was applied to it."""
    drawing = Drawing()
    indices, updates = np.array([3, 0, 3]), np.array([[1, 2, 3], [4, 5, 6], [7, 8, 9]])
    result = libgather.scatter(MATRIX, indices, updates, reduction=reduction)
    last = {int(index): position for position, index in enumerate(indices)}
    right = grid(drawing, 0, 0, MATRIX, lambda r, c: "plain", "target")
    right = grid(drawing, right + GAP, 0, indices[:, None], lambda r, c: f"row{r}", "indices")
    right = grid(drawing, right + GAP, 0, updates, lambda r, c: f"row{r}", "updates")
    grid(drawing, right + GAP, 0, result, lambda r, c: f"row{last[r]}" if r in last else "plain", "result")
    return drawing


MATRIX = np.array([[0, 1, 2], [10, 11, 12], [20, 21, 22], [30, 31, 32]])

PICTURES = {
    "policy-error": lambda: policy("reject", "error"),
    "policy-wrap": lambda: policy("wrap", "error"),
    "policy-fill": lambda: policy("wrap", "fill"),
    "policy-clamp": lambda: policy("wrap", "clamp"),
    "policy-modulo": lambda: policy("reject", "modulo"),
    "policy-skip": lambda: policy("wrap", "skip"),
    "gather-rows": lambda: operation(libgather.gather, MATRIX, np.array([3, 0]), lambda place: f"row{place[0]}"),
    "gather-columns": lambda: operation(
        lambda p, i: libgather.gather(p, i, 1), MATRIX, np.array([2, 0]), lambda place: f"row{place[-1]}"
    ),
    "gather-nd": lambda: tuples(np.array([[3, 2], [0, 1]])),
    "gather-elements": lambda: operation(
        lambda p, i: libgather.gather_elements(p, i, 1),
        MATRIX,
        np.array([[2], [0], [1], [1]]),
        lambda place: f"row{place[0]}",
    ),
    "scatter": lambda: written("none"),
    "scatter-add": lambda: written("add"),
}


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in PICTURES.items():
        (folder / f"{name}.svg").write_text(draw().svg(name.replace("-", " ")))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
