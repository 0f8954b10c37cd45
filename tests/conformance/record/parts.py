"""The computed cases of all parts, from the calls, the oracle and the recorded answers."""

from . import __main__ as gathers
from . import differences, settle
from .bags import __main__ as bags
from .bags import differences as bag_differences
from .files import HERE, place_of
from .format import dump
from .gradient import __main__ as gradients
from .packed import __main__ as packed
from .recordings import Recordings
from .scatter import __main__ as scatters
from .scatter import differences as scatter_differences

PARTS = {"gather": gathers, "scatter": scatters, "gradient": gradients, "bags": bags}


def cases(writes):
    """Yields the folder, the profile and the text of each case.

    Then compares the pages of differences with the cases, or writes them.
    """
    found = {}
    for name, part in PARTS.items():
        recordings = Recordings(name)
        found[name] = [part.settle(case, recordings.ask) for case in part.cases()]
        recordings.finish()
    for name, finished in found.items():
        for case in settle.without_messages(finished):
            yield place_of(case) if name == "gather" else f"cases/{name}", case.profile, dump(case)
    yield from packed.texts(Recordings("packed"))
    pages = {
        "differences.md": differences.report(found["gather"]),
        "scatter_differences.md": scatter_differences.report(found["scatter"]),
        "bag_differences.md": scatter_differences.report(found["bags"], bag_differences.TABLE, bag_differences.HEADER),
    }
    for name, text in pages.items():
        if writes:
            (HERE / name).write_text(text)
        elif (HERE / name).read_text() != text:
            raise SystemExit(f"tests/conformance/{name} is old: python3 tests/conformance/derive.py --write")
