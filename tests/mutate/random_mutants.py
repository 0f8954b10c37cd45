"""Random mutants: every change that an operator makes to a line of code."""

import random
import re

from languages import CPP
from mutants import Mutant

# Changes that no test can detect, by file, old line and new line, with the reason. They do not run.
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
        "src/core/plan/build_dense.cpp",
        "return geometry.form == Form::slices && !geometry.has_batch_split && geometry.components > 0 &&",
        "return geometry.form == Form::slices && !geometry.has_batch_split && geometry.components >= 0 &&",
    ): "without components the indices are empty, and an empty tensor has no dense plan",
    (
        "src/core/os/os.cpp",
        "for (int32_t i = 0; i < 10; ++i) {",
        "for (int32_t i = 1; i < 10; ++i) {",
    ): "the clock is read after 9 instead of 10 tries",
    (
        "src/cpu/strings.cpp",
        "if (length > long_string || to_end - to < length + step || from_end - from < length + step) {",
        "if (length >= long_string || to_end - to < length + step || from_end - from < length + step) {",
    ): "both ways copy the same bytes",
    (
        "src/core/os/os_linux.cpp",
        "return online > 0 ? static_cast<int32_t>(online) : 1;",
        "return online >= 0 ? static_cast<int32_t>(online) : 1;",
    ): "no system has 0 processors online",
    (
        "src/cpu/hot_rows.cpp",
        "if (line.extent < sampled) return false;",
        "if (line.extent <= sampled) return false;",
    ): "both ways that it chooses from have the same result",
    (
        "src/cpu/move.cpp",
        "if (tuples <= few_tuples) return true;",
        "(void)(tuples <= few_tuples);",
    ): "both orders of the loops copy the same rows",
    (
        "src/cpu/move.cpp",
        "return inner.extent <= max_rows && job.plan.table_reach.high - job.plan.table_reach.low <= cached_bytes;",
        "return inner.extent <= max_rows && job.plan.table_reach.high + job.plan.table_reach.low <= cached_bytes;",
    ): "both orders of the loops copy the same rows",
    (
        "src/cpu/target.hpp",
        "Updates updates{0, 0, block.offsets(), from, span.tuples()};",
        "Updates updates{0, 1, block.offsets(), from, span.tuples()};",
    ): "a later line writes this field",
    (
        "src/cpu/parts.hpp",
        "pieces_ = split(longest, loop_ == Nest::the_line ? threads : std::min(longest, threads * pieces_per_thread));",
        "pieces_ = split(longest, loop_ != Nest::the_line ? threads : std::min(longest, threads * pieces_per_thread));",
    ): "the result does not depend on the number of parts",
    (
        "src/cpu/validate.cpp",
        "loop.indices = wrapping_multiply(loop.indices, -1);",
        ";",
    ): "reversed indices are then validated in the order of their positions, which is slower",
    (
        "src/cpu/tiers/scatter_rows.hpp",
        "if (count >= few) return for_elements<few>(rows, count);",
        "(void)(count >= few);",
    ): "one element at a time has the same result and is slower",
    (
        "src/cpu/tiers/rows.hpp",
        "for (int64_t at = 0; at < bytes; at += 64) prefetch(from + at);",
        "for (int64_t at = 1; at < bytes; at += 64) prefetch(from + at);",
    ): "a prefetch has no result",
    (
        "bindings/python/src/libgather/_missing.py",
        "if partition_ids([1], bordered(1, (0, 1)), False, request).place[0] >= 0:",
        "if partition_ids([2], bordered(1, (0, 1)), False, request).place[0] >= 0:",
    ): "any id above the only row has this effect",
    (
        "bindings/python/src/libgather/_missing.py",
        'return gather(module("numpy").zeros(1, dtype), [1], **named)',
        'return gather(module("numpy").zeros(1, dtype), [2], **named)',
    ): "any id above the only row has this effect",
    (
        "bindings/python/src/libgather/_kinds/lists.py",
        "return Memory._borrow(data, address(data), dtype, shape, None, False)",
        "return Memory._borrow(data, address(data), dtype, shape, None, True)",
    ): "it is a copy that is never written",
    (
        "bindings/python/src/libgather/_operations.py",
        'if out is None and request.bounds != "skip":',
        'if out is not None and request.bounds != "skip":',
    ): "the general path has the same result and is slower",
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
