"""Compares the public declarations of the header, C++, Python, Rust, Go and Java.

    parity.py --write     writes parity.md
    parity.py --check     fails if --write would change parity.md

Both read the declarations from the sources. They fail if a function of the header is in no row, if a row names a
missing declaration, or if a language lacks a feature without a reason in EXEMPT. The table shows the parameters of each
declaration, so that --check finds a changed declaration.
"""

import pathlib
import re
import sys

import surfaces

HERE = pathlib.Path(__file__).resolve().parent

# Feature: names of the header, and declarations in C++, Python, Rust, Go and Java. `gather(out)` is the parameter `out`
# of gather.
FEATURES = {
    "version of the library": ("gth_version", "capabilities", "version", "version", "Version", "Capabilities.version"),
    "refusal of another ABI": ("gth_abi_version", None, "_abi.version", "abi::check", "checkABI", "Capabilities.abi"),
    "capabilities": (
        "gth_capabilities",
        "capabilities",
        "capabilities",
        "capabilities",
        "Capabilities",
        "Capabilities.get",
    ),
    "names of statuses": ("gth_status_name", None, "Error.status_name", "Error", "Status.Error", "Status"),
    "dtypes": (
        "gth_dtype_size gth_dtype_bits gth_dtype_name",
        "dtype_of Dtype",
        "Tensor.dtype Spec(dtype)",
        "DType DType::size",
        "DType DTypeOf",
        "DType DType.size Tensor.withDType",
    ),
    "context": (
        "gth_context_create gth_context_release",
        "Context Context::try_make Context::reset",
        "Context Context.close",
        "Context::builder Context::drop",
        "NewContext Context.Close",
        "Context.create",
    ),
    "context: sync": ("gth_context_sync", "Context::sync", "Context.sync", "Context::sync", "Context.Sync", None),
    "context: wait for a stream": (
        "gth_context_wait",
        "Context::wait",
        "Context.wait",
        "Context::wait",
        "Context.Wait",
        None,
    ),
    "context: signal a stream": (
        "gth_context_signal",
        "Context::signal",
        "Context.signal",
        "Context::signal",
        "Context.Signal",
        None,
    ),
    "context: take the error record": (
        "gth_context_take_error",
        "Context::take_error",
        "Context.take_error",
        "Context::take_error",
        "Context.TakeError",
        None,
    ),
    "context: enqueue the take": (
        "gth_context_enqueue_take_error",
        "Context::enqueue_take_error",
        "Context.enqueue_take_error",
        "Context::enqueue_take_error",
        "Context.EnqueueTakeError",
        None,
    ),
    "hooks for memory and threads": (
        "gth_alloc_fn gth_parallel_for_fn",
        "Context(options)",
        None,
        "ContextBuilder::allocator ContextBuilder::executor",
        None,
        None,
    ),
    "end of the library's threads": ("gth_shutdown", None, "shutdown", "shutdown", "Shutdown", "Capabilities.shutdown"),
    "tensors over memory of the caller": (
        "gth_tensor_borrow gth_tensor_describe",
        "View Tensor::borrow Tensor::describe Tensor::shape Tensor::data",
        "Tensor Tensor.shape",
        "Tensor::new Tensor::shape",
        "New Tensor.Shape",
        "Tensor.of Tensor.shape",
    ),
    "writable tensors": (
        "GTH_OPERAND_OUT",
        "View View::readonly",
        "gather(out)",
        "TensorMut::new",
        "NewOutput Tensor.Output To",
        "Gather.gatherInto Tensor.asReadOnly",
    ),
    "strided tensors": (
        "gth_tensor_desc",
        "View::strides View::offset View::extent",
        "Tensor.strides Spec(strides)",
        "Tensor::with_strides TensorMut::with_strides",
        "Strided",
        "Tensor.withStrides",
    ),
    "memory whose ownership is transferred": ("gth_tensor_adopt", "Tensor::adopt Tensor::from", None, None, None, None),
    "allocated tensors": (
        "gth_tensor_alloc",
        "Tensor::alloc",
        "Tensor.zeros",
        "Context::zeros",
        "NewDeviceTensor",
        None,
    ),
    "copy of a tensor": (
        "gth_copy",
        "Tensor::copy_to Tensor::to_vector",
        "Tensor.copy_to",
        "Context::copy",
        "DeviceTensor.Read DeviceTensor.Write",
        "Gather.copy",
    ),
    "release": ("gth_tensor_release", "Tensor::reset", "Tensor.close", "Handle::drop", "DeviceTensor.Close", None),
    "DLPack": (
        "gth_tensor_from_dlpack gth_tensor_from_dlpack_legacy gth_tensor_to_dlpack gth_tensor_to_dlpack_legacy",
        "Tensor::from_dlpack Tensor::to_dlpack Tensor::to_dlpack_legacy",
        "Tensor.__dlpack__ Tensor.__dlpack_device__",
        "Context::from_dlpack Context::from_dlpack_legacy Context::into_dlpack Context::into_dlpack_legacy "
        "DlPack DlPack::from_raw DlPack::into_raw",
        None,
        None,
    ),
    "Arrow": (
        "gth_tensor_from_arrow gth_tensor_to_arrow",
        "Tensor::from_arrow Tensor::to_arrow",
        "Tensor.__arrow_c_array__",
        "Context::from_arrow Context::to_arrow",
        None,
        None,
    ),
    "strings": (
        "gth_tensor_from_strings gth_tensor_strings",
        "Tensor::from_strings Tensor::strings",
        "Tensor.strings",
        "Tensor::from_strings Tensor::strings",
        "NewStrings GatherStrings",
        "Strings.of Strings.toList Strings.toBytes",
    ),
    "device memory": (
        "GTH_DEVICE_CUDA",
        "View::device",
        "Tensor.__cuda_array_interface__ Tensor.device",
        "Buffer::from_raw BufferMut::from_raw",
        "OnDevice",
        None,
    ),
    "operation by number": (
        "gth_run gth_run_request GTH_OP_LAST",
        "Request",
        None,
        None,
        None,
        "Operation Gather.make",
    ),
    "request with addresses": ("gth_run_at", None, None, None, None, "Gather.gatherInto"),
    "several requests as one": (
        "gth_run_many gth_plan_run_many",
        "run_many Request Plan::with ScatterPlan::with BagsPlan::with",
        None,
        None,
        None,
        None,
    ),
    "gather": (
        "gth_make GTH_OP_GATHER",
        "gather",
        "gather",
        "gather",
        "Gather GatherRows GatherRowsContext",
        "Gather.gather tf.Gather.create",
    ),
    "gather into an output": (
        "gth_gather",
        "gather_into",
        "gather(out)",
        "gather_into",
        "GatherInto",
        "Gather.gatherInto",
    ),
    "gather_nd": (
        "gth_make GTH_OP_GATHER_ND",
        "gather_nd",
        "gather_nd",
        "gather_nd",
        "GatherND",
        "Gather.gatherNd tf.GatherNd.create",
    ),
    "gather_nd into an output": (
        "gth_gather_nd",
        "gather_nd_into",
        "gather_nd(out)",
        "gather_nd_into",
        "GatherNDInto",
        "Gather.gatherNdInto",
    ),
    "gather_elements": (
        "gth_make GTH_OP_GATHER_ELEMENTS",
        "gather_elements",
        "gather_elements take_along_axis",
        "gather_elements",
        "GatherElements GatherElementsStrings",
        "Gather.gatherElements",
    ),
    "gather_elements into an output": (
        "gth_gather_elements",
        "gather_elements_into",
        "gather_elements(out)",
        "gather_elements_into",
        "GatherElementsInto",
        "Gather.gatherElementsInto",
    ),
    "plan of gather_elements": (
        "gth_plan_create GTH_OP_GATHER_ELEMENTS",
        "Plan::gather_elements",
        "Plan(op)",
        "Plan::gather_elements",
        "NewPlanElements",
        "Plan.gatherElements",
    ),
    "scatter": (
        "gth_scatter gth_make gth_infer GTH_OP_SCATTER",
        "scatter scatter_into scatter_shape Reduction Options::reduction Accumulate Options::accumulate Order "
        "Options::order",
        "scatter scatter(inplace) scatter(reduction) scatter(accumulate) scatter(order) updates_shape",
        "scatter scatter_into updates_shape Reduction Options::reduction Accumulate Options::accumulate Order "
        "Options::order",
        "Scatter ScatterInto ScatterStrings UpdatesShape NewUpdates Tensor.Updates Reduction Accumulate Order",
        "Gather.scatter Gather.scatterInto Gather.outputShape Reduction Options.Builder.reduction Accumulate "
        "Options.Builder.accumulate Order Options.Builder.order",
    ),
    "scatter_nd": (
        "gth_scatter_nd gth_make gth_infer GTH_OP_SCATTER_ND",
        "scatter_nd scatter_nd_into scatter_nd_shape",
        "scatter_nd scatter_nd(inplace) updates_shape(op)",
        "scatter_nd scatter_nd_into updates_shape_nd",
        "ScatterND ScatterNDInto ScatterNDStrings UpdatesShapeND",
        "Gather.scatterNd Gather.scatterNdInto tf.ScatterNd.create tf.TensorScatterNdUpdate.create "
        "tf.TensorScatterNdAdd.create",
    ),
    "scatter_elements": (
        "gth_scatter_elements gth_make gth_infer GTH_OP_SCATTER_ELEMENTS",
        "scatter_elements scatter_elements_into scatter_elements_shape",
        "scatter_elements scatter_elements(inplace) put_along_axis",
        "scatter_elements scatter_elements_into updates_shape_elements",
        "ScatterElements ScatterElementsInto ScatterElementsStrings UpdatesShapeElements",
        "Gather.scatterElements Gather.scatterElementsInto",
    ),
    "means, and reductions without the target": (
        "GTH_REDUCTION_MEAN GTH_INITIAL_UPDATE GTH_ACCUMULATE_FLOAT64",
        "Reduction Initial Options::initial",
        "scatter(reduction) scatter(include_self) scatter(accumulate) ScatterPlan(include_self)",
        "Reduction Initial Options::initial",
        "Initial",
        "Initial Options.Builder.initial",
    ),
    "plan of a scatter": (
        "gth_plan_create gth_plan_run",
        "ScatterPlan::scatter ScatterPlan::scatter_nd ScatterPlan::scatter_elements ScatterPlan::run "
        "ScatterPlan::check ScatterPlan::shape",
        "ScatterPlan ScatterPlan.__call__ ScatterPlan.bind ScatterPlan.check ScatterPlan.updates_shape",
        "ScatterPlan::scatter ScatterPlan::scatter_nd ScatterPlan::scatter_elements ScatterPlan::scatter_from "
        "ScatterPlan::run ScatterPlan::run_open ScatterPlan::check ScatterPlan::shape",
        "NewScatterPlan NewScatterPlanND NewScatterPlanElements NewScatterPlanFrom ScatterPlan.Run "
        "ScatterPlan.Check ScatterPlan.UpdatesShape From",
        "Plan.create",
    ),
    "gradients of gathers": (
        "gth_gather_gradient gth_gather_nd_gradient gth_gather_elements_gradient gth_make",
        "gather_gradient gather_gradient_into gather_nd_gradient gather_nd_gradient_into "
        "gather_elements_gradient gather_elements_gradient_into",
        "gather_gradient gather_nd_gradient gather_elements_gradient",
        "gather_gradient gather_gradient_into gather_nd_gradient gather_nd_gradient_into "
        "gather_elements_gradient gather_elements_gradient_into",
        "GatherGradient GatherGradientInto GatherNDGradient GatherNDGradientInto GatherElementsGradient "
        "GatherElementsGradientInto",
        "Gather.gatherGradient Gather.gatherGradientInto Gather.gatherNdGradient Gather.gatherNdGradientInto "
        "Gather.gatherElementsGradient Gather.gatherElementsGradientInto",
    ),
    "bags": (
        "gth_gather_bags GTH_OP_GATHER_BAGS",
        "gather_bags gather_bags_into Bags Bags::weights BagFormat Options::bag_format Options::bag_count "
        "Pool Options::pool Empty Options::empty Options::out_dtype",
        "gather_bags",
        "gather_bags gather_bags_into Bags",
        "GatherBags GatherBagsInto GatherBagsFloat32 GatherBagsFloat32Into Bags",
        "Gather.gatherBags Gather.gatherBagsInto BagFormat Pool Empty Options.Builder.bagFormat Options.Builder.pool "
        "Options.Builder.empty Options.Builder.bagCount Options.Builder.outDType",
    ),
    "plan of bags": (
        "gth_plan_create GTH_OP_GATHER_BAGS gth_plan_args",
        "BagsPlan::gather_bags BagsPlan::run BagsPlan::with BagsPlan::check BagsPlan::extents BagsPlan::shape",
        None,
        None,
        None,
        None,
    ),
    "gradients of bags": (
        "gth_gather_bags_gradient gth_gather_bags_sparse_gradient gth_gather_bags_weight_gradient",
        "gather_bags_gradient_into gather_bags_sparse_gradient_into gather_bags_weight_gradient_into",
        "gather_bags_gradient gather_bags_sparse_gradient gather_bags_weight_gradient",
        "gather_bags_gradient gather_bags_gradient_into gather_bags_sparse_gradient_into gather_bags_weight_gradient "
        "gather_bags_weight_gradient_into",
        "GatherBagsGradient GatherBagsGradientInto GatherBagsSparseGradientInto GatherBagsWeightGradient "
        "GatherBagsWeightGradientInto",
        "Gather.gatherBagsGradient Gather.gatherBagsGradientInto Gather.gatherBagsSparseGradientInto "
        "Gather.gatherBagsWeightGradient Gather.gatherBagsWeightGradientInto",
    ),
    "positions of the maxima of bags": (
        "gth_gather_bags_positions",
        "gather_bags_positions_into",
        "gather_bags_positions",
        "gather_bags_positions gather_bags_positions_into",
        "GatherBagsPositions GatherBagsPositionsInto",
        "Gather.gatherBagsPositions Gather.gatherBagsPositionsInto",
    ),
    "positions of the maxima of scatters": (
        "gth_scatter_positions",
        "scatter_positions_into scatter_nd_positions_into scatter_elements_positions_into",
        "scatter_positions",
        "scatter_positions scatter_positions_into scatter_nd_positions scatter_nd_positions_into "
        "scatter_elements_positions scatter_elements_positions_into",
        "ScatterPositions ScatterPositionsInto ScatterNDPositions ScatterNDPositionsInto ScatterElementsPositions "
        "ScatterElementsPositionsInto",
        "Gather.scatterPositions Gather.scatterPositionsInto",
    ),
    "packed rows": (
        "gth_codec_named gth_codec_row_bytes",
        "Packed Packed::try_make Packed::shape Codec Codec::try_named Codec::block Codec::factor Codec::zero "
        "Codec::scales Codec::zeros Codec::row_bytes Codec::raw",
        "Packed Packed(shape) Packed(scales) Packed(zeros) Packed(block) Packed(dtype) Packed(factor) Packed.shape "
        "Packed.dtype Packed.nbytes Packed.codec Packed.dequantize Packed.from_gguf Packed.from_ort "
        "Packed.from_torch_quantized Packed.from_torch_rowwise Codec Codec.fields Codec.row_bytes",
        "Packed::new Packed::block Packed::scales Packed::zeros Packed::zeros_int4 Packed::zeros_uint4 Packed::zero "
        "Packed::factor Packed::dtype Packed::strides Packed::offset Packed::build BoundPlan::gather "
        "BoundPlan::gather_nd BoundPlan::run BoundPlan::run_open BoundPlan::check BoundPlan::shape Context::run_bound "
        "codec_row_bytes",
        "NewPacked BlockValues Scales Zeros ZerosInt4 ZerosUint4 ZeroPoint ScaleFactor RowStrides Packed.Tensor "
        "Packed.Shape Packed.Close CodecRowBytes",
        "Params Packed.of Packed.shape Packed.dtype Packed.close Packed.Builder.data Packed.Builder.shape "
        "Packed.Builder.strides Packed.Builder.dtype Packed.Builder.block Packed.Builder.factor Packed.Builder.zero "
        "Packed.Builder.scales Packed.Builder.zeros Packed.Builder.zerosOf4Bits Packed.Builder.rowBytes "
        "Packed.Builder.build",
    ),
    "tables in files": (
        "gth_tensor_open gth_tensor_prefetch gth_tensor_stats",
        "Table Table::try_open Table::shape Table::prefetch Table::stats Segment::path Segment::file Segment::memory "
        "Segment::offset Segment::stride",
        "open_table open_table(mode) open_table(resident) Table Table(segments) Table(codec) Table.shape Table.dtype "
        "Table.nbytes Table.segments Table.gather Table.bags Table.prefetch Table.stats Table.close Segment TableStats",
        "Table::new Table::packed Table::segment Table::mode Table::resident Table::open Table::safetensors "
        "Segment::path Segment::file Segment::memory Segment::offset Segment::row_stride Mode Tensor::prefetch "
        "Tensor::stats Cause::io_error",
        "OpenTable Segment InMemory Mapped Format Table.Tensor Table.Shape Table.Prefetch Table.Stats TableStats "
        "Table.Close OpenSafetensors HeaderError IOError",
        "Table.of Table.ofNpy Table.shape Table.dtype Table.prefetch Table.stats Table.Stats Table.close "
        "Table.Builder.segment Table.Builder.format Table.Builder.mapped Table.Builder.open",
    ),
    "shards of a table": (
        "gth_partition gth_partition_scratch",
        "partition partition_once Parts PartsOnce Shards::blocks Shards::modulo Shards::borders",
        "partition partition(shards) partition(borders) partition(once) Partition Partition.slices",
        "partition partition_once Parts PartsOnce Shards::blocks Shards::modulo Shards::borders",
        "Partition PartitionOnce BlockShards ModuloShards BorderedShards",
        "Partition.of Partition.once Partition Shards.blocks Shards.modulo Shards.borders",
    ),
    "columns": (
        "gth_column_from_arrow gth_column_from_arrow_stream gth_column_release gth_column_take gth_arrow_take",
        "Column::from_arrow Column::from_arrow_stream Column::take Column::reset Take Take::validity "
        "Take::null_bounds Take::record",
        "gather",
        "Column::from_arrow Column::from_arrow_stream Column::take Column::drop Take Rows Rows::into_raw",
        "NewColumn NewColumnFromStream Column.Close Take Nulls",
        "Column.of Column.ofStream Column.take Column.close Take.of Take.validity Take.nullBounds Take.fromTable",
    ),
    "row numbers of indices": ("gth_resolve", "resolve", "gather", "resolve", "Resolve", "Take.resolve"),
    "output shape": (
        "gth_infer",
        "gather_shape gather_nd_shape gather_elements_shape",
        "output_shape output_shape(op) output_shape(nd)",
        "output_shape output_shape_nd output_shape_elements",
        "OutputShape OutputShapeND OutputShapeElements",
        "Gather.outputShape",
    ),
    "plan": (
        "gth_plan_create gth_plan_release",
        "Plan::gather Plan::gather_nd Plan::reset",
        "Plan Plan.close",
        "Plan::gather Plan::gather_nd Plan::drop",
        "NewPlan NewPlanND Plan.Close",
        "Plan.gather Plan.gatherNd Plan.create",
    ),
    "plan: run": (
        "gth_plan_run",
        "Plan::run",
        "Plan.__call__ Plan.bind",
        "Plan::run Plan::run_open",
        "Plan.Run Plan.RunIn Plan.RunAt",
        "Plan.run",
    ),
    "plan: run with memory sizes": ("gth_plan_run_args", "Plan::run", None, "Plan::run", "Plan.Run", "Plan.run"),
    "plan: runs in parts": ("gth_plan_parts gth_plan_run_parts", None, None, None, None, "Plan.run"),
    "plan: memory sizes that a run needs": (
        "gth_plan_extents",
        "Plan::extents",
        None,
        None,
        "Plan.Extents",
        "Plan.extents",
    ),
    "plan: validation of indices": (
        "gth_plan_check",
        "Plan::check",
        "Plan.check",
        "Plan::check Plan::check_open",
        "Plan.Check Plan.CheckIn Plan.CheckAt",
        "Plan.check",
    ),
    "plan: output shape": (
        "gth_plan_infer",
        "Plan::shape",
        "Plan.output_shape",
        "Plan::shape",
        "Plan.OutputShape",
        "Plan.outputShape",
    ),
    "errors with fields": (
        "gth_error",
        "Error Error::fields IndexError Report",
        "Error",
        "Cause",
        "Error IndexError",
        "ErrorDetails GatherFailure GatherIndexException",
    ),
    "fill": (
        "GTH_FILL_BY_DTYPE",
        "Fill Options::fill Options::fill_value",
        "gather(fill_value) gather_nd(fill_value) Plan(fill_value)",
        "Options::fill Options::fill_value",
        "Fill FillWith",
        "Fill Options.Builder.fill Options.Builder.fillValue Options.Builder.fillBytes",
    ),
    "threads": (
        "threads",
        "Options::threads",
        "gather(threads) gather_nd(threads) Plan(threads) Context(threads)",
        "Options::threads ContextBuilder::threads",
        "Threads",
        "Options.Builder.threads Context.create",
    ),
}


def rows_of_options():
    """Yields a row for each option of the library that is in none of the rows above."""
    sys.path.insert(0, str(HERE / "generate"))
    import go_files
    import java_files
    import operations
    import options
    import python_signatures

    named = {word for row in FEATURES.values() for word in (row[1] or "").split()}
    table = operations.Operations(operations.LIST.read_text(), options.entries(options.LIST.read_text()), [])
    functions = [each for each in python_signatures.listed(table) if each[0] in PYTHON_FUNCTIONS]
    for each in table.options:
        if f"Options::{each.name}" in named:
            continue
        kind, setter = f"{each.type_name} " if each.prefix else "", each.name
        keyword = python_signatures.field(each)[0]
        having = [name for name, _, found in functions if each in found] or ["gather", "Plan"]
        yield (
            each.name,
            (
                each.highest if each.prefix else each.name,
                f"{kind}Options::{setter}",
                " ".join(f"{name}({keyword})" for name in having),
                f"{kind}Options::{setter}",
                go_files.setter_name(each),
                f"{kind}Options.Builder.{java_files.camel(setter)}",
            ),
        )


# The functions of Python that a row of an option names.
PYTHON_FUNCTIONS = ("gather", "scatter", "gather_gradient", "gather_elements", "gather_bags", "Plan", "ScatterPlan")
FEATURES |= dict(rows_of_options())

# Features that a language does not have, with the reason.
EXEMPT = {
    ("refusal of another ABI", "C++"): "programs call the function of gather.h",
    ("names of statuses", "C++"): "programs call the function of gather.h",
    ("end of the library's threads", "C++"): "programs call the function of gather.h",
    ("request with addresses", "C++"): "views have the addresses of ranges",
    ("plan: runs in parts", "C++"): "no garbage collector waits for a call",
    ("plan of bags", "Python"): "the binding does not have it yet",
    ("plan of bags", "Rust"): "the binding does not have it yet",
    ("plan of bags", "Go"): "the binding does not have it yet",
    ("plan of bags", "Java"): "the binding does not have it yet",
    ("operation by number", "Python"): "each operation is a function",
    ("operation by number", "Rust"): "each operation is a function",
    ("operation by number", "Go"): "each operation is a function",
    ("request with addresses", "Python"): "descriptions have the addresses of arrays",
    ("request with addresses", "Rust"): "descriptions have the addresses of slices",
    ("request with addresses", "Go"): "descriptions have the addresses of pinned slices",
    ("plan: runs in parts", "Python"): "no garbage collector waits for a call",
    ("plan: runs in parts", "Rust"): "no garbage collector waits for a call",
    ("plan: runs in parts", "Go"): "the garbage collector does not wait for a call",
    ("several requests as one", "Python"): "the binding does not have it yet",
    ("several requests as one", "Rust"): "the binding does not have it yet",
    ("several requests as one", "Go"): "the binding does not have it yet",
    (
        "hooks for memory and threads",
        "Python",
    ): ("each task would be a call of the interpreter"),
    (
        "hooks for memory and threads",
        "Go",
    ): ("each task would be a call from C into Go"),
    ("memory whose ownership is transferred", "Python"): "arrays keep their memory alive",
    ("memory whose ownership is transferred", "Rust"): "lifetimes define the owner; results own their memory",
    ("memory whose ownership is transferred", "Go"): "the garbage collector owns memory; a call borrows it",
    (
        "plan: run with memory sizes",
        "Python",
    ): "shape and strides of each array are compared with the plan, and imply the size",
    ("plan: memory sizes that a run needs", "Python"): "runs take arrays, not addresses",
    ("plan: memory sizes that a run needs", "Rust"): "each run checks the sizes of its buffers",
    ("DLPack", "Go"): "no Go library supports it; device memory is passed by address",
    ("Arrow", "Go"): "string tensors are made from []string; the C data interface needs C memory",
    ("context: sync", "Java"): "Java has no type for device memory, so contexts are those of the CPU",
    ("context: wait for a stream", "Java"): "Java has no type for device memory, so contexts are those of the CPU",
    ("context: signal a stream", "Java"): "Java has no type for device memory, so contexts are those of the CPU",
    ("context: take the error record", "Java"): "Java has no type for device memory, so contexts are those of the CPU",
    ("context: enqueue the take", "Java"): "Java has no type for device memory, so contexts are those of the CPU",
    ("hooks for memory and threads", "Java"): "each task would be an upcall into Java",
    ("memory whose ownership is transferred", "Java"): "arenas and the garbage collector own memory; a call borrows it",
    ("allocated tensors", "Java"): "arenas allocate, and their memory is zero",
    ("release", "Java"): "tensors own nothing; closing the arena of a plan, a context or strings releases it",
    ("DLPack", "Java"): "Java libraries pass segments and buffers",
    ("Arrow", "Java"): "Column takes arrays of Arrow; string tensors are made from lists",
    ("device memory", "Java"): "Java has no type for device memory",
    ("several requests as one", "Java"): "the binding does not have it yet",
}


def java_surface(folder):
    """Returns the declarations of io.libgather, and those of io.libgather.tf with the prefix tf."""
    return surfaces.java(folder) | {f"tf.{name}": taken for name, taken in surfaces.java(folder / "tf").items()}


# The function that reads the declarations of each language, and the folder of its sources.
SURFACES = {
    "C++": (surfaces.cpp, "../include/gather/gather.hpp"),
    "Python": (surfaces.python, "python/src/libgather"),
    "Rust": (surfaces.rust, "rust/gather/src"),
    "Go": (surfaces.go, "go"),
    "Java": (java_surface, "java/src/main/java/io/libgather"),
}


def read():
    return [surface(HERE / folder) for surface, folder in SURFACES.values()]


def declares(surface, name):
    """Returns whether a language has a declaration, or a declaration with a parameter."""
    declaration, _, parameter = name.rstrip(")").partition("(")
    if declaration not in surface:
        return False
    return not parameter or parameter in (surface[declaration] or ())


def shown(surface, name):
    """Returns a declaration in the form of the table: with its parameters, if it has any."""
    taken = None if "(" in name else surface[name]
    return f"`{name}`" if taken is None else f"`{name}({', '.join(taken)})`"


def problems(found):
    header = (HERE / "../include/gather/gather.h").resolve().read_text()
    named = {word for row in FEATURES.values() for word in row[0].split()}
    for function in re.findall(r"(?m)^GTH_(?:API|EXPORT) .*?\b(gth_\w+)\(", header):
        if function not in named:
            yield f"no row has {function} of the header"
    for name in sorted(named):
        if not re.search(rf"\b{name}\b", header):
            yield f"the header has no {name}"
    for column, (language, surface) in enumerate(zip(SURFACES, found, strict=True), start=1):
        for feature, row in FEATURES.items():
            if row[column] is None and (feature, language) not in EXEMPT:
                yield f"{language} lacks {feature}, and EXEMPT has no reason"
            if row[column] is not None and (feature, language) in EXEMPT:
                yield f"{language} has {feature}, and EXEMPT has a reason to lack it"
            for name in (row[column] or "").split():
                if not declares(surface, name):
                    yield f"{language} declares no {name} for {feature}"


def table(found):
    lines = [
        "# Features of each language",
        "",
        "`parity.py` writes this page from the header and the sources of the bindings. The tests compare it.",
        "In Python `gather(out)` is the parameter `out` of `gather`.",
        "",
        "| feature | C | C++ | Python | Rust | Go | Java |",
        "|---|---|---|---|---|---|---|",
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
