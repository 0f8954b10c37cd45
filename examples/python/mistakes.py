"""Makes each mistake in Python and prints a line with the fields of its error."""

import numpy as np

import libgather
from libgather import Plan, Spec, gather, gather_nd, scatter

OPERANDS = [None, "params", "indices", "out", "options", "context", "plan", "tensor", "target", "updates"]
TABLE = np.array([[0, 1], [10, 11], [20, 21], [30, 31]], "f4")
THREE = np.array([0, 1, 2])


def line(mistake, call, *arguments, **options):
    try:
        call(*arguments, **options)
    except libgather.Error as error:
        fields = (OPERANDS.index(error.operand), error.component, error.position, error.value, error.limit)
        print(mistake, error.status_name, *fields, sep="\t")
    else:
        print(f"{mistake}\tGTH_OK")


def main():
    line("an index above the range", gather, TABLE, np.array([0, 4, -1]))
    line("a negative index", gather, TABLE, np.array([0, -1]))
    line("an index below -size with negative = wrap", gather, TABLE, np.array([-5]), negative="wrap")
    line("an axis outside the rank", gather, TABLE, np.array([0, 1]), axis=2)
    line("batch_dims above the rank of indices", gather, TABLE, np.array([0, 1]), batch_dims=2)
    line("tuples with more components than dims", gather_nd, TABLE, np.array([[0, 0, 0]]))
    line("indices of float32", gather, TABLE, np.array([0], "f4"))

    line("an output of another shape", gather, TABLE, THREE, out=np.empty((2, 2), "f4"))
    line("an output of another rank", gather, TABLE, THREE, out=np.empty(6, "f4"))
    line("an output of another dtype", gather, TABLE, THREE, out=np.empty((3, 2), "i4"))
    both = TABLE.copy()
    line("an output that overlaps params", gather, both, THREE, out=both[:3])
    read_only = np.empty((3, 2), "f4")
    read_only.setflags(write=False)
    line("a read-only output", gather, TABLE, THREE, out=read_only)

    plan = Plan(TABLE, Spec("int64", (-1,)))
    plan.close()
    line("a run of a released plan", plan, TABLE, np.array([0, 1]), np.empty((2, 2), "f4"))

    two, rows = np.array([0, 1]), np.zeros((2, 2), "f4")
    line("a scatter with an index above the range", scatter, both, np.array([0, 4]), rows, inplace=True)
    line("a scatter with bounds = fill", scatter, both, two, rows, inplace=True, bounds="fill")
    line("updates of another shape", scatter, both, two, TABLE[:3], inplace=True)
    line("updates of another dtype", scatter, both, two, np.zeros((2, 2), "i4"), inplace=True)
    line("updates that overlap the target", scatter, both, two, both[:2], inplace=True)
    read_only = TABLE.copy()
    read_only.setflags(write=False)
    line("a read-only target", scatter, read_only, two, rows, inplace=True)


if __name__ == "__main__":
    main()
