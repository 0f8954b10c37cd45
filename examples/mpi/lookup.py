"""Gathers from a table that is split over all ranks. Each rank gets the rows of its ids with two calls of Alltoallv.

mpirun -n 3 python lookup.py
"""

import traceback

import numpy as np
from mpi4py import MPI

import libgather

ROWS, COLUMNS, IDS = 1000, 4, 500
world = MPI.COMM_WORLD
rank, ranks = world.rank, world.size


def starts(counts):
    return np.concatenate([[0], np.cumsum(counts)[:-1]])


def lookup(table, ids):
    # Assigns each id to the rank that stores its row. An invalid id fails here, before this rank sends a message.
    parts = libgather.partition(ids, ROWS, shards=ranks)

    # Exchanges the number of requested rows, and the row numbers.
    sent, wanted = parts.counts, np.empty(ranks, np.int64)
    world.Alltoall(sent, wanted)
    local = np.empty(wanted.sum(), np.int64)
    world.Alltoallv([parts.local, sent, starts(sent), MPI.INT64_T], [local, wanted, starts(wanted), MPI.INT64_T])

    # One gather reads the rows for all ranks. The rows are sent back. A scatter puts them into the order of the ids.
    answers, rows = libgather.gather(table, local), np.empty((len(ids), COLUMNS), np.float32)
    world.Alltoallv(
        [answers, wanted * COLUMNS, starts(wanted) * COLUMNS, MPI.FLOAT],
        [rows, sent * COLUMNS, starts(sent) * COLUMNS, MPI.FLOAT],
    )
    return libgather.scatter(np.empty_like(rows), parts.order, rows)


def main():
    # Rank r stores one block of rows. Row i contains i, i, i, i.
    block = -(-ROWS // ranks)
    numbers = np.arange(min(ROWS, rank * block), min(ROWS, (rank + 1) * block), dtype=np.float32)
    table = np.repeat(numbers[:, None], COLUMNS, axis=1)
    ids = (np.arange(IDS) ** 2 + 31 * np.arange(IDS) + 17 * rank) % ROWS
    wrong = world.allreduce(int((lookup(table, ids) != ids[:, None]).sum()))
    if rank == 0:
        print(f"{IDS} rows a rank, {wrong} numbers wrong")


try:
    main()
except BaseException:
    # The other ranks wait for this one, and Python's exit would wait for them.
    traceback.print_exc()
    world.Abort(1)
