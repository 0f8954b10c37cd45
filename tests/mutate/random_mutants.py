"""Random mutants: every change that an operator makes to a line of code."""

import random
import re

from languages import CPP
from mutants import Mutant

# Changes that no test can detect, by file, old line and new line, with the reason.
EQUIVALENT = {
    (
        "src/cpu/indices.cpp",
        "if (!is_inside(value, component.size)) value = value < 0 && signed_values ? 0 : component.size - 1;",
        "if (!is_inside(value, component.size)) value = value <= 0 && signed_values ? 0 : component.size - 1;",
    ): "0 is valid in every dim with elements, and empty dims have been rejected",
    (
        "src/core/plan/short.cpp",
        "!set_components(dims, result, &params_bytes)) {",
        "set_components(dims, result, &params_bytes)) {",
    ): "the general path has the same result and is slower",
    (
        "src/core/plan/build_dense.cpp",
        "*reach = {offset, 0, 0, 0, false};",
        "*reach = {offset, 0, 1, 0, false};",
    ): "the next line writes this field",
    (
        "src/core/os/os_linux.cpp",
        "return online > 0 ? static_cast<int32_t>(online) : 1;",
        "return online >= 0 ? static_cast<int32_t>(online) : 1;",
    ): "no system has 0 processors online",
    (
        "bindings/python/src/libgather/_kinds/lists.py",
        "return Memory._borrow(data, address(data), dtype, shape, None, False)",
        "return Memory._borrow(data, address(data), dtype, shape, None, True)",
    ): "it is a copy that is never written",
    (
        "bindings/python/src/libgather/_memory.py",
        "below = sum(-stride * (extent - 1) for stride, extent in zip(strides, shape, strict=True) if stride < 0)",
        "below = sum(-stride * (extent - 1) for stride, extent in zip(strides, shape, strict=True) if stride <= 0)",
    ): "a dim of stride 0 adds 0",
    (
        "bindings/python/src/libgather/_memory.py",
        "below = sum(-stride * (extent - 1) for stride, extent in zip(strides, shape, strict=True) if stride < 0)",
        "below = sum(-stride * (extent - 1) for stride, extent in zip(strides, shape, strict=True) if stride < 1)",
    ): "a dim of stride 0 adds 0",
    (
        "bindings/python/src/libgather/_updates.py",
        "return Memory._borrow(keep, data + offset, dtype, shape, (*(0,) * lead, *kept), readonly=True)",
        "return Memory._borrow(keep, data + offset, dtype, shape, (*(0,) * lead, *kept), readonly=False)",
    ): "updates are never written",
    (
        "bindings/python/src/libgather/_join.py",
        'if rows.dtype.isbuiltin == 1 and rows.dtype.kind in "biufc":',
        'if rows.dtype.isbuiltin != 1 and rows.dtype.kind in "biufc":',
    ): "the general path has the same result and is slower",
    (
        "bindings/python/src/libgather/_operations.py",
        "None, None, None, False",
        "None, None, None, True",
    ): "a gather has no target, so it does not read inplace",
    (
        "bindings/python/src/libgather/_operations.py",
        "extents, None, None, False",
        "extents, None, None, True",
    ): "a gather has no target, so it does not read inplace",
    (
        "bindings/python/src/libgather/_scatters.py",
        "negative, bounds, None, profile, opset, threads, context, None, False,",
        "negative, bounds, None, profile, opset, threads, context, None, True,",
    ): "a scatter runs on the CPU, where sync has no effect",
    (
        "bindings/python/src/libgather/scatter_plan.py",
        "self._planned = self._made_ready(False, False, *(spec._dtype for spec in self._specs))",
        "self._planned = self._made_ready(False, True, *(spec._dtype for spec in self._specs))",
    ): "only a plan that makes new results reads this argument",
    (
        "bindings/python/src/libgather/_kinds/arrow.py",
        'return getattr(value, "ndim", 0) == 1 and hasattr(value, "__len__")',
        'return getattr(value, "ndim", 1) == 1 and hasattr(value, "__len__")',
    ): "other sequences have the same result on the fast path",
    (
        "bindings/python/src/libgather/_kinds/arrow.py",
        "return kind.from_arrays(codes, params.dictionary, ordered=params.type.ordered, safe=False)",
        "return kind.from_arrays(codes, params.dictionary, ordered=params.type.ordered, safe=True)",
    ): "the codes are valid, so a check of them has no effect",
    (
        "bindings/python/src/libgather/_elements.py",
        'value = value.item() if hasattr(value, "item") and getattr(value, "ndim", 1) == 0 else value',
        'value = value.item() if hasattr(value, "item") and getattr(value, "ndim", 2) == 0 else value',
    ): "neither number is 0",
    (
        "bindings/python/src/libgather/_operation.py",
        '__slots__ = ("default_axis", "has_axis", "has_rows", "is_gradient", "name", "number", "roles", "written")',
        "pass",
    ): "operations are internal, and nothing sets other attributes",
}


def random_mutants(root, seed, only, language=CPP):
    """Returns random mutants in an order that depends on the seed."""
    found = []
    for name in language.files(root):
        if re.search(only, name):
            found += mutants_of(name, (root / name).read_text(), language)
    random.Random(seed).shuffle(found)
    return found


def is_quoted(code, at):
    """Returns whether a position is inside a string literal."""
    return code[:at].count('"') % 2 == 1


def mutants_of(name, text, language):
    for number, line in language.lines(text):
        code, mark, comment = line.partition(language.comment)
        for pattern, replacement in language.operators:
            for match in re.finditer(pattern, code):
                if is_quoted(code, match.start()):
                    continue
                changed = code[: match.start()] + match.expand(replacement) + code[match.end() :]
                yield Mutant(name, number, line, changed + mark + comment)
