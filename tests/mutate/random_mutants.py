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
        "!set_components(dims, result, &table_bytes)) {",
        "set_components(dims, result, &table_bytes)) {",
    ): "the general path has the same result and is slower",
    (
        "src/core/plan/build_dense.cpp",
        "*reach = {offset, 0, 0, 0, false};",
        "*reach = {offset, 0, 1, 0, false};",
    ): "the next line writes this field",
    (
        "src/core/plan/build_dense.cpp",
        "return geometry.operation->form == Form::slices && !geometry.has_batch_split && geometry.components > 0 &&",
        "return geometry.operation->form == Form::slices && !geometry.has_batch_split && geometry.components >= 0 &&",
    ): "without components the indices are empty, and an empty tensor has no dense plan",
    (
        "src/core/os/os.cpp",
        "for (int32_t i = 0; i < 10; ++i) {",
        "for (int32_t i = 1; i < 10; ++i) {",
    ): "the clock is read after 9 instead of 10 tries",
    (
        "src/cpu/string_gather.cpp",
        "if (length > long_string || to_end - to < length + step || from_end - from < length + step) {",
        "if (length >= long_string || to_end - to < length + step || from_end - from < length + step) {",
    ): "both ways copy the same bytes",
    (
        "src/core/os/os_linux.cpp",
        "int32_t fewer(int32_t a, int32_t b) { return a == 0 || (b > 0 && b < a) ? b : a; }",
        "int32_t fewer(int32_t a, int32_t b) { return a == 0 || (b > 0 && b <= a) ? b : a; }",
    ): "the result is the same if both numbers are equal",
    (
        "src/cpu/kernels.cpp",
        "if (is_supported_by_tier && n > max_scalar_tuples) {",
        "if (is_supported_by_tier && n >= max_scalar_tuples) {",
    ): "both ways have the same result",
    (
        "src/cpu/tiers/fused_scatter.hpp",
        "if (!steps && has_runs<T>(indices, stride, block.n)) "
        "return add_runs<Kind, n, T>(selection, indices, stride, block);",
        "(void)(!steps && has_runs<T>(indices, stride, block.n));",
    ): "the other loop has the same result and is slower",
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
        "return inner.extent <= max_rows && job.plan.reach.table.high - job.plan.reach.table.low <= cached_bytes;",
        "return inner.extent <= max_rows && job.plan.table_reach.high + job.plan.table_reach.low <= cached_bytes;",
    ): "both orders of the loops copy the same rows",
    (
        "src/cpu/target.hpp",
        "Updates updates{0, 0, resolver.offsets(), from, block.tuples()};",
        "Updates updates{0, 1, resolver.offsets(), from, block.tuples()};",
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
        "src/cpu/tiers/tuples.hpp",
        "while (i + pattern.period * lanes <= count) {",
        "while (i + pattern.period * lanes < count) {",
    ): "the loop after it has the same result and is slower",
    (
        "src/cpu/tiers/fused_rows.hpp",
        "return prefetches ? move_fused_rows<RowCopy, int32_t, true> : move_fused_rows<RowCopy, int32_t, false>;",
        "return prefetches ? move_fused_rows<RowCopy, int32_t, true> : move_fused_rows<RowCopy, int32_t, true>;",
    ): "a prefetch has no result",
    (
        "src/cpu/tiers/rows.hpp",
        "prefetch(from + bytes - 1);",
        "prefetch(from + bytes + 1);",
    ): "a prefetch has no result",
    (
        "src/cpu/kernels.cpp",
        "selected_bytes(plan) >= (plan.row.in < long_row ? prefetch_bytes : prefetch_bytes_of_long_rows);",
        "selected_bytes(plan) > (plan.row.in < long_row ? prefetch_bytes : prefetch_bytes_of_long_rows);",
    ): "a prefetch has no result",
    (
        "src/cpu/hot_rows.cpp",
        "if (resolved == Resolved::bad) return false;",
        "if (resolved != Resolved::bad) return false;",
    ): "both ways that it chooses from have the same result",
    (
        "src/cpu/hot_rows.cpp",
        "for (int64_t i = 1; i < sampled; ++i) duplicates += rows[i] == rows[i - 1];",
        "for (int64_t i = 1; i < sampled; ++i) duplicates -= rows[i] == rows[i - 1];",
    ): "both ways that it chooses from have the same result",
    (
        "src/cpu/string_gather.cpp",
        "if (length > long_string || to_end - to < length + step || from_end - from < length + step) {",
        "if (length > long_string || to_end - to <= length + step || from_end - from < length + step) {",
    ): "both ways copy the same bytes",
    (
        "src/cpu/job.hpp",
        "return copying.outer_count > 0 ? copying.outer[copying.outer_count - 1] : SizedLoop{1, 0, 0, 0, 0};",
        "return copying.outer_count > 0 ? copying.outer[copying.outer_count - 1] : SizedLoop{1, 0, 0, 1, 0};",
    ): "a loop of one step does not use its strides",
    (
        "src/cpu/validate.cpp",
        "if (job.kernels.resolve(job.plan, job.indices, 0, 1, &offset, &bad) != Resolved::bad) return GTH_OK;",
        "if (job.kernels.resolve(job.plan, job.indices, 1, 1, &offset, &bad) != Resolved::bad) return GTH_OK;",
    ): "one tuple has no stride",
    (
        "src/cpu/partition_ids.cpp",
        "at = !stays_near ? scaled(mixed, size_) : at + 1 == size_ ? 0 : at + 1;",
        "at = !stays_near ? scaled(mixed, size_) : at + 1 == size_ ? 0 : at * 1;",
    ): "the result is the same, and the bound of probes is reached earlier",
    (
        "src/core/plan/short.cpp",
        "tuple_ndim + table.ndim - components > GTH_MAX_NDIM) {",
        "tuple_ndim * table.ndim - components > GTH_MAX_NDIM) {",
    ): "the general path has the same result and is slower",
    (
        "src/cpu/run_short.cpp",
        "return tuples <= Short::most_tuples && tuples * form.row <= Short::most_bytes ? tuples : 0;",
        "return tuples <= Short::most_tuples && tuples * form.row < Short::most_bytes ? tuples : 0;",
    ): "the general path has the same result and is slower",
    (
        "src/core/meaning/pairs.cpp",
        "if (rule == GTH_EXTENTS_PREFIX) return extents.indices <= extents.table;",
        "if (rule == GTH_EXTENTS_PREFIX) return extents.indices < extents.table;",
    ): "equal extents have been accepted",
    (
        "src/core/os/memory.cpp",
        "void* allocate_zeroed(std::size_t bytes) noexcept { "
        "return refused() ? nullptr : std::calloc(bytes ? bytes : 1, 1); }",
        "void* allocate_zeroed(std::size_t bytes) noexcept { "
        "return refused() ? nullptr : std::calloc(bytes ? bytes : 1, 2); }",
    ): "it allocates more memory than is used",
    (
        "src/api/arrow.cpp",
        "int64_t first = 0, last = 0;",
        "int64_t first = 1, last = 0;",
    ): "copy_offsets writes it",
    (
        "src/cpu/partition_ids.cpp",
        "for (int32_t tries = 1; ++collisions_ <= max_collisions_per_slot * size_; ++tries) {",
        "for (int32_t tries = 2; ++collisions_ <= max_collisions_per_slot * size_; ++tries) {",
    ): "the result does not depend on the order of the slots that are tried",
    (
        "src/core/options/operation.cpp",
        "int32_t first = 0;",
        "int32_t first = 1;",
    ): "each operation has a definition, which sets it",
    (
        "src/cpu/scatter.cpp",
        "if (int32_t status = before_write()) return status;",
        "(void)(before_write());",
    ): "writing zeros does not fail",
    (
        "src/core/plan/short.cpp",
        "(indices.dtype != GTH_DTYPE_INT64 && indices.dtype != GTH_DTYPE_INT32)) {",
        "(indices.dtype != GTH_DTYPE_INT64 && indices.dtype == GTH_DTYPE_INT32)) {",
    ): "the call that allocates the result validates the dtype",
    (
        "src/core/plan/line.cpp",
        "if (!plan.loops[loop].table.is(0)) return true;",
        "(void)(!plan.loops[loop].table.is(0));",
    ): "another line has the same result",
    (
        "src/core/os/os_linux.cpp",
        "syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, microseconds < 0 ? nullptr : &most, nullptr, 0);",
        "syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, microseconds <= 0 ? nullptr : &most, nullptr, 0);",
    ): "no caller waits for 0 microseconds",
    (
        "src/core/plan/layout.cpp",
        "return dense > 0;",
        "return dense > 1;",
    ): "the general path has the same result and is slower",
    (
        "src/core/meaning/attributes.cpp",
        "out->batch = 0;",
        ";",
    ): "elements do not use it",
    (
        "src/cpu/executor.cpp",
        "if (cpu != pool.excluded_cpu) pool.placed = 0;",
        "if (cpu == pool.excluded_cpu) pool.placed = 0;",
    ): "the result does not depend on the CPUs of the workers",
    (
        "src/cpu/run_short.cpp",
        "tier().choose_copy(form.row, Written::cached)"
        "({out, form.line_rows, table, offsets, tuples, form.row, 1, 0, 0, 0});",
        "tier().choose_copy(form.row, Written::cached)"
        "({out, form.line_rows, table, offsets, tuples, form.row, 2, 0, 0, 0});",
    ): "it copies the same rows twice",
    (
        "bindings/python/src/libgather/_arrays/lists.py",
        "return Memory._borrow(data, buffer_of(data)[1], dtype, shape, None, False)",
        "return Memory._borrow(data, buffer_of(data)[1], dtype, shape, None, True)",
    ): "it is a copy that is never written",
    (
        "bindings/python/src/libgather/_memory/memory.py",
        "below = sum(-stride * (extent - 1) for stride, extent in zip(strides, shape, strict=True) if stride < 0)",
        "below = sum(-stride * (extent - 1) for stride, extent in zip(strides, shape, strict=True) if stride <= 0)",
    ): "a dim of stride 0 adds 0",
    (
        "bindings/python/src/libgather/_memory/memory.py",
        "below = sum(-stride * (extent - 1) for stride, extent in zip(strides, shape, strict=True) if stride < 0)",
        "below = sum(-stride * (extent - 1) for stride, extent in zip(strides, shape, strict=True) if stride < 1)",
    ): "a dim of stride 0 adds 0",
    (
        "bindings/python/src/libgather/_requests/scatter_updates.py",
        "return Memory._borrow(keep, data + offset, dtype, shape, (*(0,) * lead, *kept), readonly=True)",
        "return Memory._borrow(keep, data + offset, dtype, shape, (*(0,) * lead, *kept), readonly=False)",
    ): "updates are never written",
    (
        "bindings/python/src/libgather/_operations/partition_join.py",
        'if rows.dtype.isbuiltin == 1 and rows.dtype.kind in "biufc":',
        'if rows.dtype.isbuiltin != 1 and rows.dtype.kind in "biufc":',
    ): "the general path has the same result and is slower",
    (
        "bindings/rust/gather/src/abi.rs",
        "CHECKED.store(true, Ordering::Relaxed);",
        "CHECKED.store(false, Ordering::Relaxed);",
    ): "the check is repeated with the same result, and is slower",
    (
        "bindings/rust/gather/src/abi.rs",
        "CHECKED.store(true, Ordering::Relaxed);",
        ";",
    ): "the check is repeated with the same result, and is slower",
    (
        "bindings/rust/gather/src/arrays.rs",
        "*(if *stride < 0 { &mut below } else { &mut above }) += reach;",
        "*(if *stride <= 0 { &mut below } else { &mut above }) += reach;",
    ): "the reach of a stride of 0 is 0",
    (
        "bindings/rust/gather/src/arrays.rs",
        "if stride < 0 { -bytes } else { bytes }",
        "if stride <= 0 { -bytes } else { bytes }",
    ): "a stride of 0 has 0 bytes",
    (
        "bindings/go/gather.go",
        "return bytes < unchecked || C.gather_go_can_allocate(C.int64_t(bytes)) != 0",
        "return bytes <= unchecked || C.gather_go_can_allocate(C.int64_t(bytes)) != 0",
    ): "only whether malloc is asked for this number of bytes first",
    (
        "bindings/go/bools.go",
        "count, ok := byteCount(1, shape)",
        "count, ok := byteCount(2, shape)",
    ): "the bytes are twice as many, and the others are 0",
    (
        "bindings/go/context.go",
        "return 0, 0, err",
        "return 0, 1, err",
    ): "callers do not use the handles beside an error",
    (
        "bindings/go/context.go",
        "return 0, 0, err",
        "return 1, 0, err",
    ): "callers do not use the handles beside an error",
    (
        "bindings/go/half.go",
        "case magnitude >= 0x477ff000: // 65520 is halfway between 65504, the largest finite number, and 2^16.",
        "case magnitude > 0x477ff000: // 65520 is halfway between 65504, the largest finite number, and 2^16.",
    ): "the last line rounds 65520 to infinity too",
    (
        "bindings/go/half.go",
        "case magnitude < 0x38800000: // below 2^-14, the smallest normal Float16",
        "case magnitude <= 0x38800000: // below 2^-14, the smallest normal Float16",
    ): "both cases convert 2^-14 exactly",
    (
        "bindings/go/strings.go",
        "t := &StringTensor{view: newView(DTypeString, 0, slices.Clone(shape), nil)}",
        "t := &StringTensor{view: newView(DTypeString, 1, slices.Clone(shape), nil)}",
    ): "a shape query does not use the size of the memory",
    (
        "bindings/go/partition.go",
        "return newShards(shardsBorders, 0, 0, nil)",
        "return newShards(shardsBorders, 1, 0, nil)",
    ): "the library rejects 0 shards before it reads the number of rows",
    (
        "bindings/go/owner.go",
        "if o.calls.Add(1) < 0 {",
        "if o.calls.Add(1) <= 0 {",
    ): "the sum is never 0",
    (
        "bindings/go/owner.go",
        "return 0, o.reject(operand)",
        "return 1, o.reject(operand)",
    ): "callers do not use the handle beside an error",
    (
        "bindings/rust/gather/src/partition.rs",
        "None => 0,",
        "None => 1,",
    ): "the library rejects 0 shards before it reads the number of rows",
    (
        "bindings/rust/gather/src/partition.rs",
        "let mut scratch_bytes = 0;",
        "let mut scratch_bytes = 1;",
    ): "the library writes it",
    (
        "bindings/python/src/libgather/_arrays/arrow.py",
        'return getattr(value, "ndim", 0) == 1 and hasattr(value, "__len__")',
        'return getattr(value, "ndim", 1) == 1 and hasattr(value, "__len__")',
    ): "other sequences have the same result on the fast path",
    (
        "bindings/python/src/libgather/_arrays/arrow.py",
        "return kind.from_arrays(codes, params.dictionary, ordered=params.type.ordered, safe=False)",
        "return kind.from_arrays(codes, params.dictionary, ordered=params.type.ordered, safe=True)",
    ): "the codes are valid, so a check of them has no effect",
    (
        "bindings/python/src/libgather/_arrays/element_bytes.py",
        'value = value.item() if hasattr(value, "item") and getattr(value, "ndim", 1) == 0 else value',
        'value = value.item() if hasattr(value, "item") and getattr(value, "ndim", 2) == 0 else value',
    ): "neither number is 0",
    (
        "bindings/python/src/libgather/_requests/operation_table.py",
        '__slots__ = ("default_axis", "has_axis", "has_rows", "is_gradient", "name", "number", "roles", "written")',
        "pass",
    ): "operations are internal, and nothing sets other attributes",
    (
        "bindings/java/src/main/java/io/libgather/Plan.java",
        "last = known;",
        ";",
    ): "later runs compute the same extents again, and are slower",
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
