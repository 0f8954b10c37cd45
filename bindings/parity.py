"""The parity of the four public surfaces: header, Python, Rust and Go.

    parity.py --write     writes parity.md
    parity.py --check     fails if parity.md is not what --write would write

Both read the declarations out of the sources, and fail if a function of the header is in no row, if a row names
something that a surface does not declare, or if a surface lacks a feature that has no reason in EXEMPT. The table shows
each declaration with its parameters, so that one which has changed is seen by --check.
"""

import pathlib
import re
import sys

import surfaces

HERE = pathlib.Path(__file__).resolve().parent

# Feature: functions of the header; declarations in Python; in Rust; in Go. `gather(out)` is a parameter of gather.
FEATURES = {
    "version of the library": ("gth_version", "version", "version", "Version"),
    "refusal of another ABI": ("gth_abi_version", "_abi.version", "abi::check", "checkABI"),
    "capabilities": ("gth_capabilities", "capabilities", "capabilities", "Capabilities"),
    "names of statuses": ("gth_status_name", "Error.status_name", "Error", "Status.Error"),
    "dtypes": ("gth_dtype_size gth_dtype_name", "Tensor.dtype Spec(dtype)", "DType DType::size", "DType DTypeOf"),
    "context": (
        "gth_context_create gth_context_release",
        "Context Context.close",
        "Context::builder Context::drop",
        "NewContext Context.Close",
    ),
    "context: sync": ("gth_context_sync", "Context.sync", "Context::sync", "Context.Sync"),
    "context: wait for a stream": ("gth_context_wait", "Context.wait", "Context::wait", "Context.Wait"),
    "context: signal a stream": ("gth_context_signal", "Context.signal", "Context::signal", "Context.Signal"),
    "context: take the error record": (
        "gth_context_take_error",
        "Context.take_error",
        "Context::take_error",
        "Context.TakeError",
    ),
    "context: enqueue the take": (
        "gth_context_enqueue_take_error",
        "Context.enqueue_take_error",
        "Context::enqueue_take_error",
        "Context.EnqueueTakeError",
    ),
    "hooks: memory and executor": (
        "gth_alloc_fn gth_parallel_for_fn",
        None,
        "ContextBuilder::allocator ContextBuilder::executor",
        None,
    ),
    "end of the threads": ("gth_shutdown", "shutdown", "shutdown", "Shutdown"),
    "tensors over the caller's memory": (
        "gth_tensor_borrow gth_tensor_describe",
        "Tensor Tensor.shape",
        "Tensor::new Tensor::shape",
        "New Tensor.Shape",
    ),
    "tensors to write": ("GTH_OPERAND_OUT", "gather(out)", "TensorMut::new", "NewOutput Tensor.Output To"),
    "strided tensors": (
        "gth_tensor_desc",
        "Tensor.strides Spec(strides)",
        "Tensor::with_strides TensorMut::with_strides",
        "Strided",
    ),
    "memory handed over": ("gth_tensor_adopt", None, None, None),
    "allocated tensors": ("gth_tensor_alloc", "Tensor.zeros", "Context::zeros", "NewDeviceTensor"),
    "copy of a tensor": ("gth_tensor_copy", "Tensor.copy_to", "Context::copy", "DeviceTensor.Read DeviceTensor.Write"),
    "release": ("gth_tensor_release", "Tensor.close", "Handle::drop", "DeviceTensor.Close"),
    "DLPack": (
        "gth_tensor_from_dlpack gth_tensor_from_dlpack_legacy gth_tensor_to_dlpack gth_tensor_to_dlpack_legacy",
        "Tensor.__dlpack__ Tensor.__dlpack_device__",
        "Context::from_dlpack Context::from_dlpack_legacy Context::into_dlpack Context::into_dlpack_legacy",
        None,
    ),
    "Arrow": (
        "gth_tensor_from_arrow gth_tensor_to_arrow",
        "Tensor.__arrow_c_array__",
        "Context::from_arrow Context::to_arrow",
        None,
    ),
    "strings": (
        "gth_tensor_from_strings gth_tensor_strings",
        "Tensor.strings",
        "Tensor::from_strings Tensor::strings",
        "NewStrings GatherStrings",
    ),
    "device memory": (
        "GTH_DEVICE_CUDA",
        "Tensor.__cuda_array_interface__ Tensor.device",
        "Buffer::from_raw BufferMut::from_raw",
        "OnDevice",
    ),
    "gather": ("gth_gather", "gather", "gather", "Gather"),
    "gather into an output": ("gth_gather_into gth_gather_desc", "gather(out)", "gather_into", "GatherInto"),
    "gather_nd": ("gth_gather_nd", "gather_nd", "gather_nd", "GatherND"),
    "gather_nd into an output": (
        "gth_gather_nd_into gth_gather_nd_desc",
        "gather_nd(out)",
        "gather_nd_into",
        "GatherNDInto",
    ),
    "gather_elements": (
        "gth_gather_elements",
        "gather_elements take_along_axis",
        "gather_elements",
        "GatherElements GatherElementsStrings",
    ),
    "gather_elements into an output": (
        "gth_gather_elements_into gth_gather_elements_desc",
        "gather_elements(out)",
        "gather_elements_into",
        "GatherElementsInto",
    ),
    "extents": (
        "GTH_EXTENTS_BROADCAST",
        "gather_elements(extents) Plan(extents)",
        "Extents Options::extents",
        "Extents",
    ),
    "plan of gather_elements": ("gth_gather_elements_plan", "Plan(op)", "Plan::gather_elements", "NewPlanElements"),
    "scatter": (
        "gth_scatter gth_scatter_into gth_scatter_desc gth_scatter_shape",
        "scatter scatter(inplace) scatter(reduction) scatter(accumulate) updates_shape",
        "scatter scatter_into updates_shape Reduction Options::reduction Accumulate Options::accumulate",
        "Scatter ScatterInto ScatterStrings UpdatesShape NewUpdates Tensor.Updates Reduction Accumulate",
    ),
    "scatter_nd": (
        "gth_scatter_nd gth_scatter_nd_into gth_scatter_nd_desc gth_scatter_nd_shape",
        "scatter_nd scatter_nd(inplace) updates_shape(op)",
        "scatter_nd scatter_nd_into updates_shape_nd",
        "ScatterND ScatterNDInto ScatterNDStrings UpdatesShapeND",
    ),
    "scatter_elements": (
        "gth_scatter_elements gth_scatter_elements_into gth_scatter_elements_desc gth_scatter_elements_shape",
        "scatter_elements scatter_elements(inplace) put_along_axis",
        "scatter_elements scatter_elements_into updates_shape_elements",
        "ScatterElements ScatterElementsInto ScatterElementsStrings UpdatesShapeElements",
    ),
    "plan of a scatter": (
        "gth_scatter_plan gth_scatter_nd_plan gth_scatter_elements_plan",
        "ScatterPlan ScatterPlan.__call__ ScatterPlan.bind ScatterPlan.check ScatterPlan.updates_shape",
        "Plan::scatter Plan::scatter_nd Plan::scatter_elements Plan::scatter_from",
        "NewScatterPlan NewScatterPlanND NewScatterPlanElements NewScatterPlanFrom ScatterPlan.Run ScatterPlan.Check "
        "ScatterPlan.UpdatesShape From",
    ),
    "gradients of gathers": (
        "gth_gather_gradient gth_gather_gradient_desc gth_gather_nd_gradient gth_gather_nd_gradient_desc "
        "gth_gather_elements_gradient gth_gather_elements_gradient_desc",
        "gather_gradient gather_nd_gradient gather_elements_gradient",
        "gather_gradient gather_gradient_into gather_nd_gradient gather_nd_gradient_into gather_elements_gradient "
        "gather_elements_gradient_into",
        "GatherGradient GatherGradientInto GatherNDGradient GatherNDGradientInto GatherElementsGradient "
        "GatherElementsGradientInto",
    ),
    "shards of a table": (
        "gth_partition gth_partition_scratch",
        "partition partition(shards) partition(borders) partition(once) Partition Partition.slices",
        "partition partition_once Parts PartsOnce Shards::blocks Shards::modulo Shards::borders",
        "Partition PartitionOnce BlockShards ModuloShards BorderedShards",
    ),
    "output shape": (
        "gth_gather_shape gth_gather_nd_shape gth_gather_elements_shape",
        "output_shape output_shape(op) output_shape(nd)",
        "output_shape output_shape_nd output_shape_elements",
        "OutputShape OutputShapeND OutputShapeElements",
    ),
    "plan": (
        "gth_gather_plan gth_gather_nd_plan gth_plan_release",
        "Plan Plan.close",
        "Plan::gather Plan::gather_nd Plan::drop",
        "NewPlan NewPlanND Plan.Close",
    ),
    "plan: run": (
        "gth_plan_run",
        "Plan.__call__ Plan.bind",
        "Plan::run Plan::run_open",
        "Plan.Run Plan.RunIn Plan.RunAt",
    ),
    "plan: run held against the memory": ("gth_plan_run_checked", None, "Plan::run", "Plan.Run"),
    "plan: the memory that a run touches": ("gth_plan_extents", None, None, "Plan.Extents"),
    "plan: indices judged alone": (
        "gth_plan_check",
        "Plan.check",
        "Plan::check Plan::check_open",
        "Plan.Check Plan.CheckIn Plan.CheckAt",
    ),
    "plan: output shape": ("gth_plan_shape", "Plan.output_shape", "Plan::shape", "Plan.OutputShape"),
    "errors with fields": ("gth_error", "Error", "Cause", "Error IndexError"),
    "axis": ("axis", "gather(axis) Plan(axis)", "Options::axis", "Axis"),
    "batch_dims": (
        "batch_dims",
        "gather(batch_dims) gather_nd(batch_dims) Plan(batch_dims)",
        "Options::batch_dims",
        "BatchDims",
    ),
    "profiles": (
        "GTH_PROFILE_JAX_CLIP",
        "gather(profile) gather_nd(profile) Plan(profile)",
        "Profile Options::profile",
        "WithProfile",
    ),
    "opset": ("opset", "gather(opset) gather_nd(opset) Plan(opset)", "Options::opset", "Opset"),
    "negative": (
        "GTH_NEGATIVE_WRAP",
        "gather(negative) gather_nd(negative) Plan(negative)",
        "Options::negative",
        "Negative",
    ),
    "bounds": ("GTH_BOUNDS_SKIP", "gather(bounds) gather_nd(bounds) Plan(bounds)", "Options::bounds", "Bounds"),
    "fill": (
        "GTH_FILL_BY_DTYPE",
        "gather(fill_value) gather_nd(fill_value) Plan(fill_value)",
        "Options::fill Options::fill_value",
        "Fill FillWith",
    ),
    "threads": (
        "threads",
        "gather(threads) gather_nd(threads) Plan(threads) Context(threads)",
        "Options::threads ContextBuilder::threads",
        "Threads",
    ),
}

# What a language does not carry, and why.
EXEMPT = {
    (
        "hooks: memory and executor",
        "Python",
    ): ("a call into the interpreter for each piece of work would cost more than the work"),
    (
        "hooks: memory and executor",
        "Go",
    ): ("a call from C into Go costs more than the work, and forbids the cheap way to call"),
    ("memory handed over", "Python"): "arrays keep their memory alive by themselves",
    ("memory handed over", "Rust"): "lifetimes say who owns memory; owned results are tensors of their own",
    ("memory handed over", "Go"): "memory is borrowed for the call; the garbage collector owns it",
    (
        "plan: run held against the memory",
        "Python",
    ): "each array is held against the planned shape and strides, of which the memory follows",
    ("plan: the memory that a run touches", "Python"): "arrays have a shape; raw addresses are no argument",
    ("plan: the memory that a run touches", "Rust"): "buffers have a size, which each run is held against",
    ("DLPack", "Go"): "no Go library speaks it; device memory goes by raw pointer",
    ("Arrow", "Go"): "string tensors come from []string; the C data interface needs memory of C",
}

# How each language is read, and where.
SURFACES = {
    "Python": (surfaces.python, "python/src/libgather"),
    "Rust": (surfaces.rust, "rust/gather/src"),
    "Go": (surfaces.go, "go"),
}


def read():
    return [surface(HERE / folder) for surface, folder in SURFACES.values()]


def declares(surface, name):
    """Whether a surface has a declaration, or a declaration that parameter."""
    declaration, _, parameter = name.rstrip(")").partition("(")
    if declaration not in surface:
        return False
    return not parameter or parameter in (surface[declaration] or ())


def shown(surface, name):
    """A declaration as the table shows it: with its parameters, if it takes any."""
    taken = None if "(" in name else surface[name]
    return f"`{name}`" if taken is None else f"`{name}({', '.join(taken)})`"


def problems(found):
    header = (HERE / "../include/gather/gather.h").resolve().read_text()
    named = {word for row in FEATURES.values() for word in row[0].split()}
    for function in re.findall(r"(?m)^GTH_API .*?\b(gth_\w+)\(", header):
        if function not in named:
            yield f"{function} of the header is in no row"
    for name in sorted(named):
        if not re.search(rf"\b{name}\b", header):
            yield f"the header has no {name}"
    for column, (language, surface) in enumerate(zip(SURFACES, found, strict=True), start=1):
        for feature, row in FEATURES.items():
            if row[column] is None and (feature, language) not in EXEMPT:
                yield f"{language} lacks {feature}, without a reason"
            if row[column] is not None and (feature, language) in EXEMPT:
                yield f"{language} has a reason to lack {feature}, and has it"
            for name in (row[column] or "").split():
                if not declares(surface, name):
                    yield f"{language} declares no {name} for {feature}"


def table(found):
    lines = [
        "# What each language has",
        "",
        "Written by `parity.py` from the header and the declarations in the sources of the bindings; "
        "the tests compare it.",
        "In Python `gather(out)` is the parameter `out` of `gather`.",
        "",
        "| feature | C | Python | Rust | Go |",
        "|---|---|---|---|---|",
    ]
    reasons = []
    for feature, (functions, *columns) in FEATURES.items():
        cells = [" ".join(f"`{name}`" for name in functions.split())]
        for language, surface, names in zip(SURFACES, found, columns, strict=True):
            if names is None:
                reasons.append(f"{len(reasons) + 1}. {language}, {feature}: {EXEMPT[feature, language]}.")
                cells.append(f"- ({len(reasons)})")
            else:
                cells.append(" ".join(shown(surface, name) for name in names.split()))
        lines.append(f"| {feature} | " + " | ".join(cells) + " |")
    return "\n".join([*lines, "", *reasons, ""])


def main(mode):
    found = read()
    wrong = list(problems(found))
    for problem in wrong:
        print(f"parity: {problem}")
    if wrong:
        return 1
    target = HERE / "parity.md"
    if mode == "--write":
        target.write_text(table(found))
    elif not target.exists() or target.read_text() != table(found):
        print("parity: parity.md is out of date: python3 bindings/parity.py --write")
        return 1
    print(f"parity: {len(FEATURES)} features, {len(EXEMPT)} exemptions")
    return 0


if __name__ == "__main__":
    if sys.argv[1:] not in (["--write"], ["--check"]):
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
