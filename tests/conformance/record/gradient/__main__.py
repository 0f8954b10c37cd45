"""python -m record.gradient --write | --check"""

from collections import defaultdict
from dataclasses import replace

from .. import oracle as gathers
from .. import policy, profiles
from ..files import CASES, HEADER, finish, parser_of
from ..format import Error, Ok, dump
from ..scatter import __main__ as scatters
from ..scatter import oracle
from . import grid, systems

CASES_HEADER = HEADER.replace("record --write", "record.gradient --write")


def record():
    """Returns {path: text} of all generated files."""
    texts, complaints = defaultdict(list), []
    for case in grid.cases():
        finished = settle(case)
        if isinstance(finished, str):
            complaints.append(finished)
        else:
            texts[CASES / "gradient" / f"{case.profile}.txt"].append(dump(finished))
    if complaints:
        raise SystemExit("\n".join(complaints))
    return {path: CASES_HEADER + "".join(found) for path, found in texts.items()}


def settle(case):
    return scatters.settled(case, answer(case), *systems.ask(case))


def answer(case):
    """Returns the expected result. It is that of a scatter that adds to zeros.

    Indices have the same meaning as in the gather. The gradient rejects the same calls as the gather.
    """
    gather, profile = systems.gather_of(case), profiles.TABLE[case.profile]
    scatter = replace(
        case,
        op=grid.scatter_of(case.op),
        reduction="add",
        negative=profiles.negative_rule(gather.profile, gather.op, 0),
        bounds="skip" if profile.bounds == "fill" else profile.bounds,
        extents=policy.extents(gather) if gather.op == "gather_elements" else None,
    )
    added = oracle.answer(scatter)
    refused = gathers.answer(gather)
    if isinstance(added, Ok) and isinstance(refused, Error):
        return replace(refused, operand=oracle.OPERANDS.get(refused.operand, refused.operand))
    return added


if __name__ == "__main__":
    arguments = parser_of("record.gradient").parse_args()
    finish(record(), arguments.write)
