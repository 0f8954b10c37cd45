"""The parity of the four public surfaces: header, Python, Rust and Go.

    parity.py --write     writes parity.md
    parity.py --check     fails if parity.md is not what --write would write

Both read the public names out of the sources, and fail if a function of the header is in no row, if a row names
something that a surface lacks, or if a surface lacks a feature that has no reason in EXEMPT.
"""

import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent

# Feature: functions of the header; name in Python; in Rust; in Go.
FEATURES = {
    "version of the library": ("gth_version", "version", "version", "Version"),
    "refusal of another ABI": ("gth_abi_version", "ABI_VERSION", "check", "checkABI"),
    "capabilities": ("gth_capabilities", "capabilities", "capabilities", "Capabilities"),
    "names of statuses": ("gth_status_name", "Error", "Error", "Status"),
    "dtypes": ("gth_dtype_size gth_dtype_name", "dtype", "Element", "DTypeOf"),
    "context": ("gth_context_create gth_context_release", "Context", "Context", "NewContext"),
    "context: sync": ("gth_context_sync", "sync", "sync", "Sync"),
    "context: wait for a stream": ("gth_context_wait", "wait", "wait", "Wait"),
    "context: signal a stream": ("gth_context_signal", "signal", "signal", "Signal"),
    "context: take the error record": ("gth_context_take_error", "take_error", "take_error", "TakeError"),
    "context: enqueue the take": (
        "gth_context_enqueue_take_error",
        "enqueue_take_error",
        "enqueue_take_error",
        "EnqueueTakeError",
    ),
    "hooks: memory and executor": ("gth_alloc_fn gth_parallel_for_fn", None, "executor", None),
    "end of the threads": ("gth_shutdown", "shutdown", "shutdown", "Shutdown"),
    "tensors over the caller's memory": ("gth_tensor_borrow gth_tensor_describe", "Tensor", "Tensor", "New"),
    "strided tensors": ("gth_tensor_desc", "strides", "with_strides", "Strided"),
    "memory handed over": ("gth_tensor_adopt", None, None, None),
    "allocated tensors": ("gth_tensor_alloc", "zeros", "zeros", "NewDeviceTensor"),
    "copy of a tensor": ("gth_tensor_copy", "copy_to", "copy", "Read"),
    "release": ("gth_tensor_release", "close", "drop", "Close"),
    "DLPack": (
        "gth_tensor_from_dlpack gth_tensor_from_dlpack_legacy gth_tensor_to_dlpack gth_tensor_to_dlpack_legacy",
        "__dlpack__",
        "from_dlpack",
        None,
    ),
    "Arrow": ("gth_tensor_from_arrow gth_tensor_to_arrow", "__arrow_c_array__", "from_arrow", None),
    "strings": ("gth_tensor_from_strings gth_tensor_strings", "strings", "from_strings", "NewStrings"),
    "device memory": ("GTH_DEVICE_CUDA", "__cuda_array_interface__", "from_raw", "OnDevice"),
    "gather": ("gth_gather", "gather", "gather", "Gather"),
    "gather into an output": ("gth_gather_into gth_gather_desc", "out", "gather_into", "GatherInto"),
    "gather_nd": ("gth_gather_nd", "gather_nd", "gather_nd", "GatherND"),
    "gather_nd into an output": ("gth_gather_nd_into gth_gather_nd_desc", "out", "gather_nd_into", "GatherNDInto"),
    "output shape": ("gth_gather_shape gth_gather_nd_shape", "output_shape", "output_shape", "OutputShape"),
    "plan": ("gth_gather_plan gth_gather_nd_plan gth_plan_release", "Plan", "Plan", "NewPlan"),
    "plan: run": ("gth_plan_run", "bind", "run", "Run"),
    "plan: output shape": ("gth_plan_shape", "output_shape", "shape", "OutputShape"),
    "errors with fields": ("gth_error", "position", "Cause", "IndexError"),
    "axis": ("axis", "axis", "axis", "Axis"),
    "batch_dims": ("batch_dims", "batch_dims", "batch_dims", "BatchDims"),
    "profiles": ("GTH_PROFILE_JAX_CLIP", "profile", "Profile", "WithProfile"),
    "opset": ("opset", "opset", "opset", "Opset"),
    "negative": ("GTH_NEGATIVE_WRAP", "negative", "Negative", "NegativePolicy"),
    "bounds": ("GTH_BOUNDS_SKIP", "bounds", "Bounds", "BoundsPolicy"),
    "fill": ("GTH_FILL_BY_DTYPE", "fill_value", "Fill", "FillWith"),
    "threads": ("threads", "threads", "threads", "Threads"),
}

# What a language does not carry, and why.
EXEMPT = {
    ("hooks: memory and executor", "Python"): (
        "a call into the interpreter for each piece of work would cost more than the work"
    ),
    ("hooks: memory and executor", "Go"): (
        "a call from C into Go costs more than the work, and forbids the cheap way to call"
    ),
    ("memory handed over", "Python"): "arrays keep their memory alive by themselves",
    ("memory handed over", "Rust"): "lifetimes say who owns memory; owned results are tensors of their own",
    ("memory handed over", "Go"): "memory is borrowed for the call; the garbage collector owns it",
    ("DLPack", "Go"): "no Go library speaks it; device memory goes by raw pointer",
    ("Arrow", "Go"): "string tensors come from []string; the C data interface needs memory of C",
}

SURFACES = {
    "Python": ("python/src", "*.py", r"\b{}\b"),
    "Rust": ("rust/gather/src", "*.rs", r"\b(?:fn|struct|enum|trait|impl Drop|pub mod)\b[^\n]*\b{}\b"),
    "Go": ("go", "*.go", r"(?m)^(?:func (?:\([^)]*\) )?|type ){}\b"),
}


def read(folder, pattern):
    files = sorted((HERE / folder).rglob(pattern))
    return "\n".join(f.read_text() for f in files if not f.name.endswith("_test.go") and "examples" not in f.parts)


def problems():
    header = (HERE / "../include/gather/gather.h").resolve().read_text()
    named = {word for row in FEATURES.values() for word in row[0].split()}
    for function in re.findall(r"(?m)^GTH_API .*?\b(gth_\w+)\(", header):
        if function not in named:
            yield f"{function} of the header is in no row"
    for name in sorted(named):
        if not re.search(rf"\b{name}\b", header):
            yield f"the header has no {name}"
    for column, (language, (folder, pattern, declared)) in enumerate(SURFACES.items(), start=1):
        text = read(folder, pattern)
        for feature, row in FEATURES.items():
            name = row[column]
            if name is None and (feature, language) not in EXEMPT:
                yield f"{language} lacks {feature}, without a reason"
            if name is not None and not re.search(declared.format(re.escape(name)), text):
                yield f"{language} has no {name} for {feature}"


def table():
    lines = [
        "# What each language has",
        "",
        "Written by `parity.py` from the header and the sources of the bindings; the tests compare it.",
        "",
        "| feature | C | Python | Rust | Go |",
        "|---|---|---|---|---|",
    ]
    reasons = []
    for feature, (functions, *names) in FEATURES.items():
        cells = [" ".join(f"`{name}`" for name in functions.split())]
        for language, name in zip(SURFACES, names, strict=True):
            if name is None:
                reasons.append(f"{len(reasons) + 1}. {language}, {feature}: {EXEMPT[feature, language]}.")
            cells.append(f"`{name}`" if name else f"- ({len(reasons)})")
        lines.append(f"| {feature} | " + " | ".join(cells) + " |")
    return "\n".join([*lines, "", *reasons, ""])


def main(mode):
    found = list(problems())
    for problem in found:
        print(f"parity: {problem}")
    if found:
        return 1
    target = HERE / "parity.md"
    if mode == "--write":
        target.write_text(table())
    elif not target.exists() or target.read_text() != table():
        print("parity: parity.md is out of date: python3 bindings/parity.py --write")
        return 1
    print(f"parity: {len(FEATURES)} features, {len(EXEMPT)} exemptions")
    return 0


if __name__ == "__main__":
    if sys.argv[1:] not in (["--write"], ["--check"]):
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
