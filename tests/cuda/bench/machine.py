"""Measures cells on one device."""

import time

from . import cases, contenders
from .library import DeviceError, extents
from .memory import Memory, Operands
from .peers import explain
from .rounds import Contender, side_by_side

POISON = 0xA5
# A round of host times takes microseconds, so more rounds are run.
HOST_ROUNDS = 9


class Machine:
    def __init__(self, library, sizes, peers, rounds):
        self._library = library
        self._sizes = sizes
        self._peers = peers
        self._rounds = rounds
        self._memory = Memory(library)

    def reserve(self, cells):
        self._memory.reserve(cells)

    def measure(self, cell):
        """Returns the results as JSON. The result of every contender is checked before it is timed."""
        self._memory.reserve_table(cell, self._release_peers_memory)
        operands = Operands(self._memory, cell)
        self._make_data(cell, operands)
        of_32, of_64 = self._library.sectors()
        found = {"key": cell.key, "sectors_32": of_32, "sectors_64": of_64}
        found |= {"absent": {}, "wrong": {}, "wrong_ours": []}
        gathers = {} if cell.section == "limits" else contenders.gathers(self._library, cell, operands)
        try:
            field = self._field(cell, operands, gathers, found)
            field = [each for each in field if self._is_right(cell, operands, each, found)]
            found["times"] = self._time(cell, field, found)
            found["roles"] = {each.name: each.role for each in field if each.name in found["times"]}
            self._library.take_error()
        finally:
            for gather in gathers.values():
                gather.release()
        return found

    def _release_peers_memory(self):
        for peer in self._peers:
            peer.release_memory()

    def _make_data(self, cell, operands):
        distribution = cases.DISTRIBUTIONS.index(cell.distribution)
        self._library.make_indices(operands.rows, cell.index_bytes, cell.n, cell.size, distribution)
        if cell.depth:
            self._library.split_indices(
                operands.indices, operands.rows, cell.index_bytes, cell.n, cell.depth, extents(cell.dims)
            )
        self._library.set_geometry(
            operands.rows,
            cell.index_bytes,
            cell.batch,
            cell.outer,
            cell.size,
            cell.n // cell.batch,
            cell.row,
            cell.offset,
        )
        self._library.synchronize()

    # ---- the contestants

    def _field(self, cell, operands, gathers, found):
        device = self._on_device
        if cell.section == "limits":
            return [
                *contenders.copies(self._library, device, cell, operands),
                *contenders.all_probes(self._library, device, cell, operands),
            ]
        if cell.way == "host":
            return [*contenders.on_host(gathers), *self._peers_field(cell, operands, self._on_host, found)]
        field = [*contenders.copies(self._library, device, cell, operands), *contenders.enqueued(gathers, device)]
        if cell.way == "queue":
            field.append(contenders.probe(self._library, device, cell, operands, cell.grain))
        return field + self._peers_field(cell, operands, device, found)

    def _peers_field(self, cell, operands, clock, found):
        field = []
        for peer in self._peers:
            try:
                field += peer.contenders(cell, operands, clock)
            except Exception as reason:  # any error that prevents another library from being measured
                found["absent"][peer.name] = explain(reason)
        return field

    # ---- clocks: each returns the seconds of one of `times` runs

    def _on_device(self, run, times):
        """Measures between two events on the stream."""
        self._library.begin()
        run(times)
        return self._library.elapsed() / times

    def _on_host(self, run, times):
        """Measures the host time of enqueueing."""
        self._library.synchronize()
        begin = time.perf_counter()
        run(times)
        seconds = time.perf_counter() - begin
        self._library.synchronize()
        return seconds / times

    # ---- results

    def _is_right(self, cell, operands, contender, found):
        """Returns whether the result is correct, so that the contender may be timed."""
        if not contender.once:
            return True
        self._library.set_bytes(operands.out, POISON, cell.output)
        self._library.synchronize()
        try:
            address, owner = contender.once()
        except Exception as reason:
            if contender.role == "ours":
                raise
            found["absent"][contender.name] = explain(reason)
            return False
        wrong = self._library.wrong_bytes(address)
        del owner  # it must exist until its result has been checked
        if wrong:
            found["wrong"][contender.name] = wrong
            found["wrong_ours"] += [contender.name] * (contender.role == "ours")
        return not wrong

    # ---- timing

    def _time(self, cell, field, found):
        if cell.way == "graph":
            return self._time_graphs(field, found)
        if cell.way == "host":
            for contender in field:
                contender.calls = self._sizes.calls_on_host
            return side_by_side(field, HOST_ROUNDS * self._rounds, 0)
        return side_by_side(field, self._rounds, self._sizes.batch_seconds)

    def _time_graphs(self, field, found):
        graphs = {}
        try:
            for contender in field:
                self._capture(contender, graphs, found)
            replays = [self._replay(each, graphs[each.name]) for each in field if each.name in graphs]
            return side_by_side(replays, self._rounds, self._sizes.batch_seconds / self._sizes.calls_in_graph)
        finally:
            self._library.synchronize()
            for graph in graphs.values():
                self._library.destroy_graph(graph)

    def _capture(self, contender, graphs, found):
        """Returns a graph of a few calls, or None for a peer that cannot be captured."""
        reason = None
        self._library.begin_capture()
        try:
            contender.run(self._sizes.calls_in_graph)
        except Exception as failure:
            reason = failure
        # A capture must also be ended after a failure.
        try:
            graphs[contender.name] = self._library.captured()
        except DeviceError as failure:
            reason = reason or failure
        if not reason:
            return
        if contender.role != "peer":
            raise reason
        found["absent"][contender.name] = f"under capture: {explain(reason)}"
        if contender.name in graphs:
            self._library.destroy_graph(graphs.pop(contender.name))

    def _replay(self, contender, graph):
        calls = self._sizes.calls_in_graph

        def clock(run, times):
            return self._on_device(run, times) / calls

        return Contender(contender.name, contender.role, lambda times: self._library.launch(graph, times), clock)
