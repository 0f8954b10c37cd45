"""Starts the workers and collects the results of the systems."""

import pickle
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .format import ABORT, HANG
from .worker import RISKY

HERE = Path(__file__).resolve().parent


def ask_all(jobs):
    """Returns {system: [(source, result, message)]} for {system: cases}. Two systems run at a time."""
    with ThreadPoolExecutor(2) as pool:
        futures = {system: pool.submit(_ask, system, cases) for system, cases in jobs.items()}
        return {system: future.result() for system, future in futures.items()}


def _ask(system, cases):
    answers, _ = _run(system, cases)
    if len(answers) != len(cases):
        raise RuntimeError(f"{system} died of {cases[len(answers)].name}: mark it as risky")
    return [
        _ask_isolated(system, case, answer[0]) if answer[1] == RISKY else answer for case, answer in zip(cases, answers)
    ]


def _ask_isolated(system, case, source):
    answers, status = _run(system, [case], "--isolated")
    if answers:
        return answers[0]
    return source, HANG if status == -signal.SIGALRM else ABORT, ""


def _run(system, cases, *options):
    """Returns the results that a worker sent before it ended, and the way in which it ended."""
    command = [sys.executable, "-m", f"{HERE.name}.worker", system, *options]
    with tempfile.TemporaryFile() as stdout:
        worker = subprocess.run(
            command, input=pickle.dumps(cases), stdout=stdout, stderr=subprocess.DEVNULL, cwd=HERE.parent
        )
        stdout.seek(0)
        return list(_load_all(stdout)), worker.returncode


def _load_all(file):
    while True:
        try:
            yield pickle.load(file)
        except EOFError:
            return
