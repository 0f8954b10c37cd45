"""Plans: open extents, layouts, and rejected arguments."""

from __future__ import annotations

import array
import copy
import pickle
import re
from typing import Any

import numpy as np
import pytest

import libgather

TABLE = np.arange(24.0).reshape(4, 3, 2)


def torch_of(array: Any) -> Any:
    """Returns a torch tensor. A bound plan notifies torch of each write."""
    return pytest.importorskip("torch", reason="torch is not installed").tensor(array)


def test_open_tuples() -> None:
    plan = libgather.Plan(TABLE, libgather.Spec("int32", (None, 2)))
    for n in (0, 1, 5):
        indices = np.arange(2 * n, dtype="i4").reshape(n, 2) % 4
        assert (plan(TABLE, indices) == TABLE[indices]).all()
        out = np.empty(plan.output_shape(n))
        assert plan(TABLE, indices, out) is out and (out == TABLE[indices]).all()
    assert plan.output_shape() == (-1, 2, 3, 2)


def test_open_batch() -> None:
    plan = libgather.Plan(libgather.Spec("float64", (-1, 3)), libgather.Spec("int64", (-1, 2, 1)), 1, 1, nd=False)
    params, indices = np.arange(12.0).reshape(4, 3), np.arange(8).reshape(4, 2, 1) % 3
    expected = np.take_along_axis(params, indices[..., 0], 1)[..., None]
    assert (plan(params, indices) == expected).all()
    with pytest.raises(libgather.ShapeError) as caught:
        plan(params, indices[:3])
    assert (caught.value.operand, caught.value.value, caught.value.limit) == ("indices", 3, 4)


def test_gather_nd() -> None:
    plan = libgather.Plan(TABLE, libgather.Spec("int64", (-1, 2)), nd=True)
    indices = np.array([[3, 1], [0, 2]])
    assert (plan(TABLE, indices) == TABLE[indices[:, 0], indices[:, 1]]).all()
    with pytest.raises(libgather.RankError):
        libgather.Plan(TABLE, indices, 0, nd=True)


def test_gather_elements() -> None:
    params = TABLE[..., 0]
    plan = libgather.Plan(params, libgather.Spec("int64", (4, -1)), op="gather_elements")
    assert plan.output_shape() == (4, -1)
    for n in (0, 1, 5):
        indices = np.arange(4 * n).reshape(4, n) % 3
        expected = np.take_along_axis(params, indices, 1)
        assert (plan(params, indices) == expected).all()
        out = np.zeros((4, n))
        assert plan.bind(params, indices, out)() is out and (out == expected).all()
    turned = params.T[::-1]
    rows = libgather.Plan(turned, libgather.Spec("int32", (-1, 1)), 0, op="gather_elements", extents="broadcast")
    indices = np.array([[2], [-1]], "i4")
    with pytest.raises(libgather.IndexError) as caught:
        rows(turned, indices)
    assert (caught.value.position, caught.value.value, caught.value.limit) == (1, -1, 3)
    wrapped = libgather.Plan(turned, indices, 0, op="gather_elements", profile="numpy_raise", out=np.zeros((2, 4)))
    assert (wrapped(turned, indices) == np.take_along_axis(turned, indices, 0)).all()


def test_open_dim_of_gather_elements_is_shared() -> None:
    open_rows = libgather.Spec("float64", (-1, 3)), libgather.Spec("int64", (-1, 2))
    plan = libgather.Plan(*open_rows, op="gather_elements")
    params, indices = np.arange(12.0).reshape(4, 3), np.array([[2, 0], [1, 1], [0, 2], [2, 2]])
    assert (plan(params, indices) == np.take_along_axis(params, indices, 1)).all()
    with pytest.raises(libgather.ShapeError) as caught:
        plan(params, indices[:2])
    assert (caught.value.operand, caught.value.component, caught.value.limit) == ("indices", 0, 4)
    with pytest.raises(libgather.ShapeError, match="indices: dim 0 is -1"):
        libgather.Plan(params, open_rows[1], op="gather_elements")
    with pytest.raises(libgather.ShapeError, match="batch_dims"):
        libgather.Plan(*open_rows, 1, 1, op="gather_elements")


@pytest.mark.parametrize("op", ["gather", "gather_elements"])
def test_check_validates_indices(op: str) -> None:
    table = np.arange(12.0).reshape(4, 3)
    plan = libgather.Plan(table, libgather.Spec("int64", (-1, 3)), 0, op=op)  # type: ignore[arg-type]
    good, bad = np.array([[3, 0, 1], [2, 2, 0]]), np.array([[3, 0, 1], [2, 4, 0]])
    plan.check(good)
    plan.check(good[:0])
    for judge in (plan.check, lambda indices: plan(table, indices)):
        with pytest.raises(libgather.IndexError) as caught:
            judge(bad)
        assert (caught.value.position, caught.value.value, caught.value.limit) == (4, 4, 4)
    for wrong, kind in (
        (good.astype("i4"), libgather.DTypeError),
        (good[0], libgather.RankError),
        (good[:, :2], libgather.ShapeError),
        (good[::-1], libgather.ShapeError),
    ):
        with pytest.raises(kind):
            plan.check(wrong)
    libgather.Plan(table, bad, 0, op=op, bounds="clamp").check(bad)  # type: ignore[arg-type]
    plan.close()
    with pytest.raises(libgather.Error, match="plan: it has been closed"):
        plan.check(good)


def test_operations_by_name() -> None:
    indices = np.array([[3, 1], [0, 2]])
    named = libgather.Plan(TABLE, indices, op="gather_nd", nd=True)
    assert (named(TABLE, indices) == TABLE[indices[:, 0], indices[:, 1]]).all()
    assert libgather.Plan(TABLE, indices, op="gather").output_shape() == (2, 2, 3, 2)
    for ask in (libgather.Plan, libgather.output_shape):
        with pytest.raises(libgather.OptionError, match="op 'take' is none of gather, gather_nd, gather_elements"):
            ask(TABLE, indices, op="take")
        for op in ("gather", "gather_elements"):
            with pytest.raises(libgather.OptionError, match=f"op is '{op}', but nd is gather_nd"):
                ask(TABLE, indices, op=op, nd=True)


def test_layouts() -> None:
    params, indices = TABLE[::-1, :, ::-1], np.array([[3, 1], [0, 2]])[:, ::-1]
    out = np.zeros((2, 3, 2, 2)).transpose(0, 3, 1, 2)
    plan = libgather.Plan(params, indices, out=out)
    assert plan(params, indices, out) is out and (out == params[indices]).all()
    assert (plan.bind(params, indices, out)() == params[indices]).all()
    with pytest.raises(libgather.ShapeError, match="strides"):
        plan(TABLE, indices, out)
    with pytest.raises(libgather.ShapeError, match="strides"):
        libgather.Plan(TABLE, np.array([1]))(params, np.array([1]), np.zeros((1, 3, 2)))


def test_arrays_that_differ_from_the_plan_are_refused() -> None:
    plan = libgather.Plan(TABLE, libgather.Spec("int64", (-1,)))
    good, out = np.array([1, 2]), np.zeros((2, 3, 2))
    for arguments, kind, operand in (
        ((TABLE.astype("f"), good, out), libgather.DTypeError, "params"),
        ((TABLE, good.astype("i4"), out), libgather.DTypeError, "indices"),
        ((TABLE, good, np.zeros((2, 3, 2), "f")), libgather.DTypeError, "out"),
        ((TABLE[:3], good, out), libgather.ShapeError, "params"),
        ((TABLE, good[None], out), libgather.RankError, "indices"),
        ((TABLE, good, out[:1]), libgather.ShapeError, "out"),
    ):
        with pytest.raises(kind) as caught:
            plan(*arguments)
        assert caught.value.operand == operand
        if operand != "out" or kind is not libgather.ShapeError:
            with pytest.raises(kind):
                plan.bind(*arguments)
    out.setflags(write=False)
    for call in (plan, plan.bind):
        with pytest.raises(libgather.Error) as caught:
            call(TABLE, good, out)
        assert caught.value.status_name == "GTH_E_READONLY"
    with pytest.raises(libgather.Error):
        libgather.Plan(libgather.Spec("float32", (-1, -1)), good)
    with pytest.raises(libgather.Error):
        libgather.Plan(["a"], [0])
    other_order = TABLE.astype(TABLE.dtype.newbyteorder())
    with_fill = libgather.Plan(other_order, good, fill_value=1.5)
    with pytest.raises(libgather.DTypeError, match=r"out: dtype .* is of another byte order than the machine"):
        with_fill(other_order, good, out.astype(other_order.dtype))


@pytest.mark.parametrize("operand", ["params", "indices", "updates"])
def test_bound_plan_refuses_arrays_that_it_would_copy(operand: str) -> None:
    """Later changes of the array would have no effect. Each single call converts it."""
    target, indices = TABLE.copy(), np.array([2, 0])
    given = {"params": TABLE, "indices": indices, "updates": TABLE[indices]}
    given[operand] = given[operand].astype(given[operand].dtype.newbyteorder())
    gather, scatter = libgather.Plan(TABLE, indices), libgather.ScatterPlan(target, indices)
    assert (gather(given["params"], given["indices"]) == TABLE[indices]).all()
    assert (scatter(target, given["indices"], given["updates"]) == TABLE).all()
    binds = {
        "params": lambda: gather.bind(given["params"], given["indices"], TABLE[indices]),
        "updates": lambda: scatter.bind(target, given["indices"], given["updates"]),
    }
    for bind in binds.values() if operand == "indices" else [binds[operand]]:
        with pytest.raises(libgather.DTypeError, match=f"{operand}: dtype >.8 must be converted before") as caught:
            bind()
        assert caught.value.operand == operand


def test_bound_plan_moves_equal_elements_of_any_byte_order() -> None:
    target, updates = np.zeros((4, 2), ">i4"), np.array([[1, 2]], ">i4")
    bound = libgather.ScatterPlan(target, np.array([3])).bind(target, np.array([3]), updates)
    updates[0, 1] = 7
    assert bound()[3].tolist() == [1, 7]


def test_bound_plan_reads_the_current_values() -> None:
    params, indices, out = array.array("d", [1, 2, 3]), array.array("q", [0, 0]), array.array("d", [0, 0])
    bound = libgather.Plan(params, indices).bind(params, indices, out)
    assert bound().tolist() == [1, 1] and bound.out is out
    indices[1] = 2
    params[2] = 9
    assert bound().tolist() == [1, 9]
    indices[0] = 3
    with pytest.raises(libgather.IndexError):
        bound()
    assert out.tolist() == [1, 9]
    with pytest.raises(BufferError):
        params.append(1)  # the plan holds the memory


@pytest.mark.parametrize("kind", [np.asarray, memoryview], ids=["numpy", "memoryview"])
def test_reversed_indices_are_checked(kind: Any) -> None:
    """The memory before and after the indices contains values out of bounds. They must not be read."""
    room = np.full((8, 6), 99)
    ids = room[3:5, 2:4]
    ids[...] = [[0, 1], [2, 3]]
    for backwards in (ids[::-1], ids[:, ::-1], ids[::-1, ::-1]):
        plan = libgather.Plan(np.zeros(4), backwards)
        plan.check(kind(backwards))
        backwards[1, 0] += 50
        with pytest.raises(libgather.IndexError) as caught:
            plan.check(kind(backwards))
        assert (caught.value.index, caught.value.value) == ((1, 0), backwards[1, 0])
        backwards[1, 0] -= 50


@pytest.mark.parametrize("refcheck", [True, False])
def test_held_arrays_cannot_be_resized(refcheck: bool) -> None:
    """This holds for the bases of views too. NumPy can resize the arrays again after the holder has been deleted."""

    def cannot_be_resized(*held: np.ndarray) -> None:
        for one in held:
            with pytest.raises(ValueError, match="cannot resize"):
                one.resize(1_000_000, refcheck=refcheck)

    params, ids, out = np.arange(4.0), np.array([3, 1, 0, 2]), np.zeros(9)
    view = out[1:5]
    bound: Any = libgather.Plan(params, ids).bind(params, ids, view)
    cannot_be_resized(params, ids, out)
    assert bound() is view and out.tolist() == [0, 3, 1, 0, 2, 0, 0, 0, 0]
    bound = libgather.ScatterPlan(params, ids).bind(params, ids, memoryview(out)[:4])
    cannot_be_resized(params, ids, out)
    assert bound().tolist() == [1, 3, 0, 0]
    del bound, view
    for freed in (params, ids, out):
        freed.resize(1_000_000, refcheck=False)
    words, counts = np.arange(4).astype("m8[s]"), np.arange(4)
    tensors = libgather.Tensor(counts), libgather.Tensor(memoryview(counts)), libgather.Tensor(words.view("i8"))
    cannot_be_resized(counts, words)
    del tensors
    counts.resize(9, refcheck=False)


@pytest.mark.parametrize(
    ("op", "shape", "options", "at", "axis"),
    [
        ("gather", (2, 3), {"axis": 1}, (1, 2), 1),
        ("gather", (2, 3), {"axis": -1}, (1, 2), 2),
        ("gather", (2, 4, 2), {"axis": 2, "batch_dims": 1}, (1, 3, 0), 2),
        ("gather", (2, 4, 2), {"batch_dims": -2}, (1, 0, 1), 1),
        ("gather_nd", (5, 2), {}, (3, 1), 1),
        ("gather_nd", (2, 4, 2), {"batch_dims": 1}, (1, 2, 0), 1),
        ("gather_elements", (2, 5, 2), {"axis": 1}, (1, 4, 1), 1),
    ],
)
@pytest.mark.parametrize("kind", [np.asarray, torch_of], ids=["numpy", "torch"])
def test_error_of_a_bound_plan_has_the_place_of_the_index(
    kind: Any, op: Any, shape: tuple[int, ...], options: dict[str, Any], at: tuple[int, ...], axis: int
) -> None:
    params, indices = np.zeros((2, 3, 2)), np.zeros(shape, "i8")
    operands = [kind(params), kind(indices)]
    plan = libgather.Plan(*operands, op=op, **options)
    out = kind(np.zeros(plan.output_shape()))
    bound = plan.bind(*operands, out)
    assert bound() is out
    operands[1][at] = 9
    calls = (bound, lambda: plan(*operands), lambda: plan(*operands, out), lambda: plan.check(operands[1]))
    for call in calls:
        with pytest.raises(libgather.IndexError, match=f"is 9, .*: indices{re.escape(str(list(at)))}, axis") as caught:
            call()
        assert (caught.value.index, caught.value.axis, caught.value.value) == (at, axis, 9)


def test_new_results() -> None:
    plan = libgather.Plan(TABLE, libgather.Spec("int64", (-1,)))
    result = plan(TABLE, np.array([3, 1]))
    assert type(result) is np.ndarray and result.flags.owndata and (result == TABLE[[3, 1]]).all()
    scalar = libgather.Plan(np.arange(3.0), libgather.Spec("int64", ()))
    assert scalar(np.arange(3.0), 2) == 2 and type(scalar(np.arange(3.0), np.array(2))) is np.float64
    skipping = libgather.Plan(TABLE, libgather.Spec("int64", (-1,)), bounds="skip")
    junk = [np.full((2, 3, 2), 7.0) for _ in range(50)]
    del junk
    assert (skipping(TABLE, np.array([9, 1])) == np.stack([np.zeros((3, 2)), TABLE[1]])).all()
    turned = libgather.Plan(TABLE, libgather.Spec("int64", (2,)), out=np.zeros((3, 2, 2)).transpose(1, 0, 2))
    out = np.zeros((3, 2, 2)).transpose(1, 0, 2)
    assert turned(TABLE, [2, 0], out) is out and (out == TABLE[[2, 0]]).all()
    with pytest.raises(libgather.IndexError):
        plan(TABLE, [0, 4])
    with pytest.raises(libgather.DTypeError):
        libgather.Plan(TABLE, libgather.Spec("int32", (-1,)))(TABLE, [0])


def test_switches() -> None:
    plan = libgather.Plan(TABLE, libgather.Spec("int64", (-1,)), bounds="fill", fill_value=-1.0, negative="wrap")
    assert (plan(TABLE, np.array([9, -1])) == np.stack([np.full((3, 2), -1.0), TABLE[3]])).all()
    with pytest.raises(libgather.IndexError):
        libgather.Plan(TABLE, libgather.Spec("int64", (-1,)), context=libgather.Context(threads=2))(
            TABLE, np.array([9])
        )


def test_plans_of_buffers_run_in_c(monkeypatch: pytest.MonkeyPatch) -> None:
    indices = np.array([9, 1])
    plan = libgather.Plan(TABLE, indices, fill_value=-1.0)
    monkeypatch.setattr(libgather.Plan, "_run", None)
    assert (plan(TABLE, indices) == [np.full((3, 2), -1.0), TABLE[1]]).all()


def test_shapes() -> None:
    assert libgather.output_shape((4, 3), (2, 5), axis=1) == (4, 2, 5)
    assert libgather.output_shape(TABLE, np.array([1, 2]), axis=-1) == (4, 3, 2)
    assert libgather.output_shape((-1, 3), (-1, 2), 1, 1) == (-1, 2)
    assert libgather.output_shape((3,), ()) == ()
    assert libgather.output_shape((4, -1), (4, 9), op="gather_elements") == (4, 9)
    assert libgather.output_shape((4, 3), (2, 3), 0, op="gather_elements") == (2, 3)
    assert libgather.output_shape((4, 3), (1, 5), op="gather_elements", extents="broadcast") == (4, 5)
    assert libgather.output_shape((4, 3), (1, 5), op="gather_elements", profile="torch") == (1, 5)
    with pytest.raises(libgather.ShapeError):
        libgather.output_shape((4, 3), (1, 5), op="gather_elements")
    with pytest.raises(libgather.RankError):
        libgather.output_shape((4, 3), (4,), op="gather_elements")
    with pytest.raises(libgather.RankError):
        libgather.output_shape((4, 3), (2,), axis=2)
    with pytest.raises(libgather.DTypeError):
        libgather.output_shape(("a",), (1,))
    with pytest.raises(libgather.ShapeError):
        libgather.output_shape((2**70,), (1,))
    for bad in ("float33", 3, None):
        with pytest.raises((libgather.DTypeError, libgather.Error)):
            libgather.Plan(libgather.Spec(bad, (3,)), np.array([1]))


# ------------------------------------------------------------------------------------------------------ of scatters


def test_scatters_with_open_tuples() -> None:
    plan = libgather.ScatterPlan(TABLE, libgather.Spec("int32", (None, 2)), reduction="add")
    assert plan.updates_shape() == (-1, 2, 3, 2)
    for n in (0, 1, 5):
        indices = np.arange(2 * n, dtype="i4").reshape(n, 2) % 4
        updates = np.ones(plan.updates_shape(n))
        expected = TABLE.copy()
        np.add.at(expected, indices, updates)
        for given in (updates, updates.tolist() if n else updates):
            target = TABLE.copy()
            assert plan(target, indices, given) is target and (target == expected).all()


def test_scatter_plan_refuses_other_arrays() -> None:
    target, indices, updates = np.zeros((4, 3)), np.array([2, 0]), np.ones((2, 3))
    plan = libgather.ScatterPlan(target, libgather.Spec("int64", (-1,)))
    refused: list[tuple[tuple[object, object, object], type[Exception], str]] = [
        ((target.astype("f4"), indices, updates), TypeError, "target"),
        ((target, indices.astype("i4"), updates), TypeError, "indices"),
        ((target, indices, updates.astype("f4")), TypeError, "updates"),
        ((target[:3], indices, updates), ValueError, "target"),
        ((target[0], indices, updates), ValueError, "target"),
        ((target, indices, updates[:1]), ValueError, "updates"),
        ((target, indices, updates[:, :2]), ValueError, "updates"),
        ((target.T[:3].T, indices, updates[::-1]), ValueError, "updates"),
        ((target.tolist(), indices, updates), ValueError, "target"),
        ((None, indices, updates), TypeError, "target"),
        ((target, None, updates), TypeError, "indices"),
        ((target, indices, None), TypeError, "updates"),
    ]
    for arguments, kind, operand in refused:
        for call in (plan, plan.bind):
            with pytest.raises(kind) as caught:
                call(*arguments)
            assert isinstance(caught.value, libgather.Error) and caught.value.operand == operand, arguments
    assert (target == 0).all()
    adding = libgather.ScatterPlan(target, indices, reduction="add")
    for dtype in ("M8[s]", target.dtype.newbyteorder()):
        for call in (adding, adding.bind):
            with pytest.raises(libgather.DTypeError, match="is only moved, reduction 'add' needs numbers"):
                call(target.astype(dtype), indices, updates.astype(dtype))
    with pytest.raises(libgather.UnsupportedError):
        libgather.ScatterPlan(["a"], indices)
    with pytest.raises(libgather.OptionError, match="op 'gather' is none of scatter, scatter_nd, scatter_elements"):
        libgather.ScatterPlan(target, indices, op="gather")  # type: ignore[arg-type]
    assert repr(plan) == (
        "libgather.ScatterPlan(Spec('float64', (-1, 3)), Spec('int64', (-1,))) -> Spec('float64', (4, 3))"
    )


def test_scatters_can_be_copied_pickled_and_closed() -> None:
    layout = libgather.Spec("float64", (2, 3), (0, 8))
    target, indices = np.zeros((3, 4)), np.array([[1], [9], [0]])
    plan = libgather.ScatterPlan(target, indices, 1, 1, bounds="skip", reduction="max")
    again = pickle.loads(pickle.dumps(plan))
    assert copy.copy(plan) is plan and copy.deepcopy(plan) is plan and repr(again) == repr(plan)
    updates = np.array([[5.0], [6.0], [7.0]])
    assert (again(target, indices, updates) == [[0, 5, 0, 0], [0] * 4, [7, 0, 0, 0]]).all()
    strided = libgather.ScatterPlan(np.zeros((4, 3)), np.array([0, 1]), updates=layout)
    repeated = np.broadcast_to(np.array([1.0, 2, 3]), (2, 3))
    again = pickle.loads(pickle.dumps(strided))
    assert again(np.zeros((4, 3)), np.array([0, 1]), repeated)[:2].tolist() == repeated.tolist()
    with pytest.raises(libgather.ShapeError, match="updates: other strides"):
        again(np.zeros((4, 3)), np.array([0, 1]), repeated.copy())
    bound = plan.bind(target, indices, updates)
    with plan:
        plan.check(indices)
    for use in (bound, plan.updates_shape, lambda: plan(target, indices, updates)):
        with pytest.raises(libgather.ClosedError, match="plan"):
            use()
    with libgather.Context() as context:
        held = libgather.ScatterPlan(target, indices, 1, 1, bounds="skip", context=context)
        assert held(target, indices, updates) is target
        with pytest.raises(TypeError, match="cannot be pickled"):
            pickle.dumps(held)


def test_bound_scatters() -> None:
    target, indices, updates = np.zeros(4), np.array([1, 1]), np.array([1.0, 2.0])
    bound = libgather.ScatterPlan(target, indices, reduction="add").bind(target, indices, updates)
    assert bound.out is target and bound() is target and target.tolist() == [0, 3, 0, 0]
    indices[0], updates[1] = 3, 5
    assert bound().tolist() == [0, 8, 0, 1]
    indices[1] = 4
    with pytest.raises(libgather.IndexError) as caught:
        bound()
    assert caught.value.index == (1,) and target.tolist() == [0, 8, 0, 1]
