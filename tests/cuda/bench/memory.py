"""The device memory. All cells share one block for each role, so nothing is allocated between cells."""


class Arena:
    """Memory that grows to the requested size. Its content is then undefined."""

    def __init__(self, library):
        self._library = library
        self.address = 0
        self.size = 0

    def reserve(self, size):
        """Returns whether the memory was allocated again."""
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
        """Allocates enough of everything except tables for all of these cells."""
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
    """The memory of the operands of a cell. `rows` are the row numbers, which are the indices of gather. The tuples of
    gather_nd select the same rows by components."""

    def __init__(self, memory, cell):
        self.params = memory.table.address + cell.offset
        self.rows = memory.rows.address
        self.indices = memory.tuples.address if cell.depth else memory.rows.address
        self.out = memory.out.address
        self.source = memory.source.address
        self.table = memory.table.address
