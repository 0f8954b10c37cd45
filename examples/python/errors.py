"""Shows the meanings of an id out of bounds. An error names the position of the id, and the output is unchanged."""

import libgather

TABLE = [[0.0, 1.0], [10.0, 11.0], [20.0, 21.0], [30.0, 31.0]]


def show(what, row):
    print(f"{what}: {row[0]:g} {row[1]:g}")


try:
    libgather.gather(TABLE, [0, 4])
except libgather.IndexError as error:
    print(f"refused: id {error.value} at position {error.position}, of {error.limit} rows")
show("from the end", libgather.gather(TABLE, [0, -1], negative="wrap")[1])
show("clamped", libgather.gather(TABLE, [0, 9], bounds="clamp")[1])
show("filled", libgather.gather(TABLE, [0, 9], bounds="fill", fill_value=-1)[1])
