"""Plans and contexts that are closed during calls of other threads, and subinterpreters that end."""

from __future__ import annotations

import builtins
import subprocess
import sys
from typing import Any

import pytest

import libgather

HAS_GIL = getattr(sys, "_is_gil_enabled", lambda: True)()

# This code runs in a new process, because an error would crash it or return wrong rows.
BESIDE = """
import sys, threading, time
import numpy as np
import libgather

sys.setswitchinterval(1e-5)
table = np.arange(60_000.0).reshape(1000, 3, 20)[:, :, ::2]
other = np.arange(8000.0).reshape(10, 50, 4, 4)[:, ::2, ::-1]
indices = np.arange(3000) % 1000
expected, wrong = table[indices], []

def calls(run):
    out = np.empty((3000, 3, 10))
    def work():
        for _ in range(30):
            try:
                if not (run(out) == expected).all():
                    wrong.append("other rows")
            except libgather.Error as error:
                if error.status_name != "GTH_E_HANDLE" or "has been closed" not in str(error):
                    wrong.append(repr(error))
                return
    return threading.Thread(target=work)

for _ in range(60):
    {make}
    threads = [calls(run) for _ in range(3)]
    for thread in threads:
        thread.start()
    time.sleep(0.001)
    closed.close()
    # New objects reuse the memory of the released ones.
    new = [libgather.Plan(other, libgather.Spec("int64", (-1,))) for _ in range(20)]
    for thread in threads:
        thread.join()
    try:
        run(np.empty((3000, 3, 10)))
    except libgather.Error as error:
        assert error.status_name == "GTH_E_HANDLE", error
    else:
        wrong.append("a call after close()")
print(*sorted(set(wrong)), sep="\\n")
"""
PLAN = "plan = libgather.Plan(table, libgather.Spec('int64', (-1,)){context})"
FORMS = {
    "plan": (PLAN, "plan", "lambda out: plan(table, indices, out)"),
    "plan, new result": (PLAN, "plan", "lambda out: plan(table, indices)"),
    "plan, other arrays": (PLAN, "plan", "lambda out: plan(libgather.Tensor(table), indices, out)"),
    "bound plan": (PLAN, "plan", "lambda out: plan.bind(table, indices, out)()"),
    "context of a plan": (PLAN, "context", "lambda out: plan(table, indices, out)"),
    "context": ("pass", "context", "lambda out: libgather.gather(table, indices, out=out, context=context)"),
    "context, other arrays": (
        "pass",
        "context",
        "lambda out: np.asarray(libgather.gather(libgather.Tensor(table), indices, context=context))",
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_close_during_calls(form: str) -> None:
    made, closed, run = FORMS[form]
    lines = ["context = libgather.Context(threads=1)"] if closed == "context" else []
    lines.append(made.format(context=", context=context" if closed == "context" else ""))
    make = "\n    ".join([*lines, f"closed = {closed}", f"run = {run}"])
    result = subprocess.run(
        [sys.executable, "-c", BESIDE.replace("{make}", make)], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert not result.stdout.strip()


def test_closed_context_and_plan_are_refused_by_all_users() -> None:
    context = libgather.Context(threads=1)
    params, indices, out = bytearray(b"abc"), bytearray([2]), bytearray(1)
    plan = libgather.Plan(params, indices, context=context)
    bound = plan.bind(params, indices, out)
    assert bound() == b"c"
    context.close()
    for call in (bound, lambda: plan(params, indices, out), lambda: plan(params, indices), context.sync):
        with pytest.raises(libgather.Error, match="context: it has been closed"):
            call()
    plan.close()
    for call in (bound, lambda: plan(params, indices, out), plan.output_shape):
        with pytest.raises(libgather.Error, match="plan: it has been closed"):
            call()


INTERPRETERS = """
try:
    import _interpreters as interpreters
    new = lambda: interpreters.create("legacy")
except ImportError:
    import _xxsubinterpreters as interpreters
    new = lambda: interpreters.create(isolated=False)
import sys
code = "import sys; sys.path[:] = " + repr(sys.path) + '''
import libgather
out = bytearray(1)
try:
    libgather.gather(b"abc", bytes([9]), out=out)
except libgather.IndexError as error:
    assert error.value == 9, error
else:
    raise AssertionError("no error")
assert libgather.gather(b"abc", bytes([2]), out=out) == b"c"
'''
{before}
first, second = new(), new()
for one in (first, second):
    failed = interpreters.run_string(one, code)
    assert not failed, failed
interpreters.destroy(first)
failed = interpreters.run_string(second, code)
assert not failed, failed
interpreters.destroy(second)
exec(code)
"""


@pytest.mark.parametrize("before", ["", "exec(code)"], ids=["others alone", "this one first"])
def test_interpreters_share_nothing(before: str) -> None:
    """An interpreter must not use objects of another interpreter that has ended."""
    code = INTERPRETERS.replace("{before}", before)
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    if HAS_GIL:
        assert result.returncode == 0, result.stdout + result.stderr
    else:  # cffi does not support subinterpreters in a Python without a GIL
        assert "_low does not support loading in subinterpreters" in result.stderr


def test_star_import_hides_no_builtin() -> None:
    """A star import hides no builtin name."""
    names: dict[str, Any] = {}
    exec("from libgather import *", names)
    assert "gather" in names and names["Tensor"] is libgather.Tensor
    assert not {name for name in names if not name.startswith("__")} & {*dir(builtins)}
    assert libgather.IndexError is not IndexError
