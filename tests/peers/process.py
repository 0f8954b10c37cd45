"""Hostile surroundings: another process that writes to indices, forks, signals and exits."""

import mmap
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
from inputs import expect, given, table

RACE_SECONDS = 5
PATIENCE = 30


def flip(indices, stop, parent):
    """Writes invalid and valid values alternately, until it has to stop or its parent has ended."""
    at = 0
    while not stop[0] and os.getppid() == parent:
        for bad in (2**40, 20, 1000, -(2**40)):
            at = (at + 7919) % len(indices)
            indices[at] = bad
            indices[at] = 3


@given("G1")
def writer_flips_indices(system):
    rows, width, n = 16, 64, 4000
    shared = np.frombuffer(mmap.mmap(-1, 8 * (n + 1)), np.int64)  # with children too
    indices, stop = shared[:n], shared[n:]
    indices[:] = 3
    params, asked = system.array(table(rows, width)), system.array(indices)
    parent = os.getpid()
    writer = os.fork()
    if writer == 0:
        try:
            flip(indices, stop, parent)
        finally:
            os._exit(0)
    try:
        end, foreign = time.monotonic() + RACE_SECONDS, 0
        while time.monotonic() < end and not foreign:
            try:
                out = system.gather(params, asked)
            except Exception:  # the invalid index was used
                continue
            foreign += not (np.all(out[:, :1] == out) and np.isin(out[:, 0], np.arange(1, rows + 1)).all())
    finally:
        stop[0] = 1
        os.waitpid(writer, 0)
    expect(not foreign, "rows from other memory")


def large(system):
    """Runs a gather that is large enough for several threads."""
    params = table(64, 256)
    indices = np.arange(60000) % 64
    rows = system.gather(system.array(params), system.array(indices))
    expect(np.array_equal(rows[-64:], params[indices[-64:]]), "other rows")


@given("G2")
def fork_with_a_live_pool(system):
    large(system)
    child = os.fork()
    if child == 0:
        try:
            signal.alarm(PATIENCE)
            large(system)
            os._exit(0)
        except BaseException:
            os._exit(1)
    _, state = os.waitpid(child, 0)
    if os.WIFSIGNALED(state) and os.WTERMSIG(state) == signal.SIGALRM:
        os.kill(os.getpid(), signal.SIGALRM)  # it hangs, and is reported as a hang
    expect(state == 0, f"the child ends with {os.waitstatus_to_exitcode(state)}")
    large(system)


@given("G6")
def alarm_every_100_microseconds(system):
    counted = []
    signal.signal(signal.SIGUSR1, lambda *_: counted.append(1))
    stop = threading.Event()

    def interrupt():
        while not stop.wait(0.0001):
            os.kill(os.getpid(), signal.SIGUSR1)

    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        end = time.monotonic() + 2
        while time.monotonic() < end:
            large(system)
    finally:
        stop.set()
        thread.join()
    expect(counted, "no signals")


def exit_while_busy(system):
    def work():
        while True:
            large(system)

    threading.Thread(target=work, daemon=True).start()
    time.sleep(0.2)
    sys.exit(0)


@given("G9")
def exit_while_the_pool_is_busy(system):
    worker = Path(__file__).with_name("worker.py")
    name = type(system).__name__.lower()
    for _ in range(3):
        code = subprocess.run(
            [sys.executable, worker, name, "--exit"], stderr=subprocess.DEVNULL, timeout=300
        ).returncode
        expect(code == 0, f"the program ends with {code}")
