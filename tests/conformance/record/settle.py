"""Makes finished cases from inputs: it runs the systems and the oracle, and explains every difference."""

from collections import defaultdict

from . import differences, oracle, systems, workers
from .format import Error, Ok
from .worker import NOT_EXPRESSED


def ask_systems(cases):
    """Returns {name: (source, answer, message)} of the cases with a system."""
    jobs = defaultdict(list)
    for case in cases:
        if case.profile in systems.OF_PROFILE:
            jobs[systems.OF_PROFILE[case.profile]].append(case)
    answers = {}
    for system, replies in workers.ask_all(jobs).items():
        answers |= {case.name: reply for case, reply in zip(jobs[system], replies)}
    return answers


def settle(cases, answers):
    """Returns the finished cases in the given order."""
    if len({case.name for case in cases}) != len(cases):
        raise SystemExit("case names are not unique")
    return without_messages(finish(case, *answers.get(case.name, (None, None))) for case in cases)


def without_messages(outcomes):
    """Returns the finished cases, or exits with the messages if there are any."""
    finished = list(outcomes)
    messages = [each for each in finished if isinstance(each, str)]
    if messages:
        raise SystemExit("\n".join(messages))
    return finished


def finish(case, source, answer, words=""):
    """Returns the finished case, or a message."""
    expect = oracle.answer(case)
    if answer in (None, NOT_EXPRESSED):
        return case.with_outcome(expect, "oracle", case.difference)
    if agree(answer, expect):
        return _stale(case) if case.difference else case.with_outcome(expect, source)
    found = case.difference or differences.find(case, answer, expect)
    if found is None:
        return f"{case.name}: the system says {_brief(answer)} {words}, the oracle {_brief(expect)}"
    return case.with_outcome(expect, source, found, answer)


def _stale(case):
    return f"{case.name}: {case.difference} is no difference any more"


def agree(answer, expect):
    if isinstance(answer, Error) or isinstance(expect, Error):
        return isinstance(answer, Error) and isinstance(expect, Error)
    return answer == expect


def _brief(outcome):
    if isinstance(outcome, Ok):
        return f"ok {outcome.dtype}{list(outcome.shape)} {outcome.data!r:.60}"
    return outcome if isinstance(outcome, str) else f"error {outcome.status or ''}"
