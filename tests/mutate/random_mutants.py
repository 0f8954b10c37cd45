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
