"""A plugin of pytest. It records which lines of a package each test executes, or runs chosen tests in a given order.

LINES_OF names the folder of the package, and LINES_TO the file that receives the record: for each test that passes, its
time in seconds, and its lines by file. The test "" has the lines outside functions, which each import executes.
CHOSEN_TESTS names a file with the tests to run. If some fail, the file then has only these.
"""

import inspect
import json
import os
import signal
import sys
import threading
from collections import defaultdict
from pathlib import Path

PACKAGE, RECORD, CHOSEN = (os.environ.get(name) for name in ("LINES_OF", "LINES_TO", "CHOSEN_TESTS"))
PATIENCE = 130  # the seconds of a test
lines = defaultdict(lambda: defaultdict(set))  # by test and file
seconds, failed = {"": 0.0}, set()
running = ""


def enter(frame, _event, _argument):
    return record(frame, "line", None) if frame.f_code.co_filename.startswith(PACKAGE) else None


def record(frame, event, _argument):
    if event == "line":
        test = running if frame.f_code.co_flags & inspect.CO_OPTIMIZED else ""
        lines[test][frame.f_code.co_filename].add(frame.f_lineno)
    return record


if RECORD:
    threading.settrace(enter)
    sys.settrace(enter)


def pytest_runtest_logstart(nodeid):
    global running
    running = nodeid
    if CHOSEN:
        signal.alarm(PATIENCE)  # ends the process


def pytest_runtest_logreport(report):
    seconds[report.nodeid] = seconds.get(report.nodeid, 0) + report.duration
    failed.update([] if report.passed else [report.nodeid])


def pytest_collection_modifyitems(items):
    if CHOSEN:
        order = {name: place for place, name in enumerate(json.loads(Path(CHOSEN).read_text()))}
        items[:] = sorted((item for item in items if item.nodeid in order), key=lambda item: order[item.nodeid])


def pytest_sessionfinish():
    if CHOSEN and failed:
        Path(CHOSEN).write_text(json.dumps([*failed]))
    if RECORD:
        sys.settrace(None)
        passed = {test: time for test, time in seconds.items() if test not in failed}
        relative = {
            test: {os.path.relpath(file, PACKAGE): sorted(found) for file, found in lines[test].items()}
            for test in passed
        }
        Path(RECORD).write_text(json.dumps({test: [time, relative[test]] for test, time in passed.items()}))
