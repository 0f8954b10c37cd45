"""The contenders of a cell except the peers: the limits of the device, and the library."""

from .rounds import Contender

MEMCPY, COPY, PROBE = "device-to-device copy", "copy by 16 bytes a thread", "random reads"
CLAMP, ERROR, PARTIAL = "clamp", "error", "partial"
BOUNDS = {CLAMP: 3, ERROR: 1, PARTIAL: 6}  # GTH_BOUNDS_*
SAME_CLAMP, SAME_ERROR = "gather of the same rows, clamp", "gather of the same rows, error"
HOST_WAYS = {"time_plan": "plan run", "time_call": "one call"}
GRAINS = (32, 64, 256, 1024)


def copies(library, clock, cell, operands):
    """A copy of as many bytes as the cell moves."""
    for name, copy in ((MEMCPY, library.copy), (COPY, library.copy_by_16)):

        def run(times, copy=copy):
            copy(operands.out, operands.source, cell.copied, times)

        yield Contender(name, "limit", run, clock)


def probe(library, clock, cell, operands, grain, name=PROBE):
    accesses = cell.probed(grain) // grain

    def run(times):
        library.probe(operands.table, cell.table, grain, accesses, times)

    return Contender(name, "limit", run, clock)


def all_probes(library, clock, cell, operands):
    for grain in GRAINS:
        yield probe(library, clock, cell, operands, grain, f"{PROBE} of {grain} B")


class Gather:
    """A gather of the library with the operands of a cell."""

    def __init__(self, library, cell, operands, is_nd, bounds):
        lead = [extent for extent in (cell.batch, cell.outer) if extent > 1]
        indices_shape = ([cell.batch] if cell.batch > 1 else []) + [cell.n // cell.batch]
        self._library = library
        self._out = operands.out
        self.handle = library.new_gather(
            operands.params,
            [*lead, *(cell.dims if is_nd else [cell.size]), cell.row],
            operands.indices if is_nd else operands.rows,
            cell.index_bytes,
            [*indices_shape, cell.depth] if is_nd else indices_shape,
            operands.out,
            is_nd=is_nd,
            axis=len(lead),
            batch_dims=int(cell.batch > 1),
            bounds=BOUNDS[bounds],
        )

    def run(self, times):
        self._library.run_gather(self.handle, times)

    def time_on_host(self, way, times):
        return self._library.host_seconds(way, self.handle, times)

    def result(self):
        """Returns address and owner of the result after a successful call."""
        self._library.take_error()
        return self._out, self

    def once(self):
        self.run(1)
        return self.result()

    def release(self):
        self._library.release_gather(self.handle)


def gathers(library, cell, operands):
    """Returns {name: gather} of the library for a cell."""
    is_nd = cell.depth > 0
    kinds = {bounds: (is_nd, bounds) for bounds in BOUNDS}
    if is_nd and cell.way != "host":
        kinds |= {SAME_CLAMP: (False, CLAMP), SAME_ERROR: (False, ERROR)}
    return {name: Gather(library, cell, operands, *kind) for name, kind in kinds.items()}


def enqueued(gathers, clock):
    for name, gather in gathers.items():
        yield Contender(name, "ours", gather.run, clock, gather.once)


def on_host(gathers):
    """Returns both ways to call each gather, measured by host time."""
    for name, gather in gathers.items():
        for way, title in HOST_WAYS.items():

            def clock(run, times, gather=gather, way=way):
                return gather.time_on_host(way, times)

            def once(gather=gather, way=way):
                gather.time_on_host(way, 1)
                return gather.result()

            yield Contender(f"{title}, {name}", "ours", None, clock, once)
