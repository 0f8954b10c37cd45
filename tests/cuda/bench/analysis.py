"""Computes values from measurements: medians over rounds, and ratios within each round."""

import statistics

from .contenders import COPY, MEMCPY, PROBE


def spread(values):
    """Returns (first quartile, median, third quartile)."""
    if len(values) == 1:
        return values[0], values[0], values[0]
    return tuple(statistics.quantiles(values, n=4, method="inclusive"))


class Measured:
    """A cell and its results."""

    def __init__(self, cell, found):
        self.cell = cell
        self.absent = found["absent"]
        self.wrong = found["wrong"]
        self._found = found

    def names(self, role):
        return [name for name, other in self._found["roles"].items() if other == role]

    def has(self, *names):
        return all(name in self._found["times"] for name in names)

    def seconds(self, name):
        return spread(self._found["times"][name])

    def median(self, name):
        return self.seconds(name)[1]

    def ratio(self, name, other):
        """Returns the time of one contender relative to another."""
        times = self._found["times"]
        return statistics.median(a / b for a, b in zip(times[name], times[other], strict=True))

    # ---- bandwidths

    def moved(self, sector=None):
        """Returns the moved bytes: the indices, the output, and the rows or the sectors that contain them."""
        read = {None: self.cell.output, 32: self._found["sectors_32"] * 32, 64: self._found["sectors_64"] * 64}
        return self.cell.tuples_bytes + self.cell.output + read[sector]

    def speed(self, name, sector=None):
        return self.moved(sector) / self.median(name)

    def copy(self):
        """Returns the faster of the two copies."""
        return min((MEMCPY, COPY), key=self.median)

    def copy_speed(self):
        return 2 * self.cell.copied / self.median(self.copy())

    def probe_speed(self, name=PROBE, grain=None):
        return self.cell.probed(grain or self.cell.grain) / self.median(name)

    def shares(self, name):
        """Returns the share of the limit by round: the speed in sectors over the lower speed of a copy and of random
        reads."""
        return [self.moved(32) / seconds / min(copy, probe) for seconds, copy, probe in self._rounds(name)]

    def share(self, name):
        return statistics.median(self.shares(name))

    def _rounds(self, name):
        times = self._found["times"]
        for seconds, copy, probe in zip(times[name], times[self.copy()], times[PROBE], strict=True):
            yield seconds, 2 * self.cell.copied / copy, self.cell.probed(self.cell.grain) / probe

    # ---- peers

    def leads(self, name):
        """Returns {peer: its time relative to the library}."""
        return {peer: self.ratio(peer, name) for peer in self.names("peer")}
