"""python -m record.gradient --write | --check"""

from dataclasses import replace

from .. import oracle as gathers
from .. import policy, profiles
from ..files import finish, parser_of
from ..format import Error, Ok
from ..recordings import files_of
from ..scatter import __main__ as scatters
from ..scatter import oracle
from ..settle import without_messages
from . import grid

cases = grid.cases


def record():
    """Returns {path: text} of all generated files."""
    return files_of("gradient", "record.gradient", without_messages(settle(case, ask) for case in cases()))


def settle(case, ask):
    """Returns the finished case, or a message."""
    return scatters.settled(case, answer(case), *ask(case))


def ask(case):
    from . import systems

    return scatters.outcome_of(*systems.ask(case))


def answer(case):
    """Returns the expected result: the result of a scatter that adds to zeros.

    Indices have the same meaning as in the gather. The gradient rejects the same calls as the gather.
    """
    gather, profile = grid.gather_of(case), profiles.TABLE[case.profile]
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
    finish(record(), parser_of("record.gradient").parse_args().write)
