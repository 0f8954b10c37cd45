"""The device's memory: one piece for each role, which all cells share, so that none is allocated between them."""


class Arena:
    """Memory that grows to what is asked of it, and then holds nothing known."""

    def __init__(self, library):
        self._library = library
        self.address = 0
        self.size = 0

    def reserve(self, size):
        """Whether it is new memory now."""
        if size <= self.size:
            return False
        if self.address:
            self._library.free(self.address)
        self.address, self.size = 0, 0
        self.address = self._library.new_memory(size)
        self.size = size
        return True


class Memory:
    def __init__(self, library):
        self._library = library
        self.table, self.rows, self.tuples, self.out, self.source = (Arena(library) for _ in range(5))

    def reserve(self, cells):
        """Enough of everything but tables for all of these cells."""
        self.rows.reserve(max(cell.n * cell.index_bytes for cell in cells))
        self.tuples.reserve(max((cell.tuples_bytes for cell in cells if cell.depth), default=0))
        self.out.reserve(max(max(cell.output, cell.copied) for cell in cells))
        self.source.reserve(max(cell.copied for cell in cells))

    def reserve_table(self, cell, before_growing):
        size = (max(cell.table, cell.params_bytes) + cell.offset + 63) // 64 * 64
        if size > self.table.size:
            before_growing()
        if self.table.reserve(size):
            self._library.fill(self.table.address, size)


class Operands:
    """Where the operands of a cell lie. `rows` are the numbers of the rows, which are gather's indices, and what
    gather_nd's tuples say in components."""

    def __init__(self, memory, cell):
        self.params = memory.table.address + cell.offset
        self.rows = memory.rows.address
        self.indices = memory.tuples.address if cell.depth else memory.rows.address
        self.out = memory.out.address
        self.source = memory.source.address
        self.table = memory.table.address
