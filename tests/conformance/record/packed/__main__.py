"""python -m record.packed --write | --check"""

import zlib
from collections import defaultdict

from ..files import HEADER, RECORDED, finish, parser_of
from ..format import Crc, Ok, dump, outcome_text
from ..recordings import digest_of
from ..settle import without_messages
from . import bitsandbytes, formula, gguf, mldtypes, ort, torch

FAMILIES = {
    "gguf": gguf,
    "ort": ort,
    "torch": torch,
    "ml_dtypes": mldtypes,
    "bitsandbytes": bitsandbytes,
    "formula": formula,
}
#: Larger answers are recorded as digests.
MOST_BYTES = 8192
NAN = {"float32": 0x7FC00000, "float16": 0x7E00, "bfloat16": 0x7FC0}


def cases():
    for family in FAMILIES.values():
        yield from family.cases()


def record():
    """Returns {path: text} of all generated files."""
    lines = defaultdict(list)
    for case in without_messages(settle(case, ask) for case in cases()):
        lines[family_of(case)].append(f"{case.name} {digest_of(case)} {case.source} {outcome_text(case.expect)}\n")
    header = HEADER.format("record.packed")
    return {RECORDED / "packed" / f"{name}.txt": header + "".join(found) for name, found in lines.items()}


def texts(recordings):
    """Yields the folder, the family and the text of each case. Only C++ runs those that have a digest."""
    for case in without_messages(settle(case, recordings.ask) for case in cases()):
        yield f"{'grid' if isinstance(case.expect, Crc) else 'cases'}/packed", family_of(case), dump(case)
    recordings.finish()


def family_of(case):
    return case.name.split("/")[0]


def settle(case, ask):
    """Returns the finished case, or a message."""
    source, answer = ask(case)
    if answer is None:
        return f"{case.name} has no recorded answer, so record it"
    return case.with_outcome(answer, source)


def ask(case):
    """Returns (source, outcome) of the system. Each NaN has the same bytes."""
    import numpy as np

    source, found = FAMILIES[family_of(case)].ask(case)
    memory = np.ascontiguousarray(found).view(np.uint32 if found.itemsize == 4 else np.uint16).copy()
    memory[np.isnan(found.astype(np.float32))] = NAN[case.params.dtype]
    data = memory.tobytes()
    if len(data) <= MOST_BYTES:
        return source, Ok(case.params.dtype, found.shape, data)
    return source, Crc(case.params.dtype, found.shape, zlib.crc32(data))


if __name__ == "__main__":
    finish(record(), parser_of("record.packed").parse_args().write)
