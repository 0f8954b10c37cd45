"""Named mutants. Each one violates the documentation of the library."""

from mutants import Mutant


def named(promise, file, old, new):
    return Mutant(file, 0, old, new, promise)


def compiled_by_nvcc(promise, file, old, new):
    return Mutant(file, 0, old, new, promise, needs_nvcc=True)


def found_by_fuzzing(promise, file, old, new):
    return Mutant(file, 0, old, new, promise, by_fuzzing=True)


NAMED = (
    found_by_fuzzing(
        "the position of an invalid index counts all blocks of tuples",
        "src/cpu/block.hpp",
        "      bad_.tuple += first;\n",
        "",
    ),
    found_by_fuzzing(
        "operands may be adjacent in memory",
        "src/core/plan/layout.hpp",
        "return a_low < b_high && b_low < a_high;",
        "return a_low <= b_high && b_low <= a_high;",
    ),
    found_by_fuzzing(
        "new rows that bounds = skip leaves out are zero, also in memory of a hook",
        "src/execution/storage.cpp",
        "    std::memset(*data, 0, static_cast<size_t>(bytes));\n",
        "    ;\n",
    ),
    found_by_fuzzing(
        "each byte of a target belongs to one part",
        "src/cpu/parts.hpp",
        "whole_.low + (pieces_.last(i) - 1);",
        "whole_.low + pieces_.last(i);",
    ),
    found_by_fuzzing(
        "a call has no more parts than there are CPUs",
        "src/cpu/executor.cpp",
        "return std::min(executor.threads, std::max(core::available_cpus(), threads_on_any_machine));",
        "return executor.threads;",
    ),
    named(
        "sums in float32 read the elements of their own block",
        "src/cpu/accumulate.cpp",
        "each->from + from + at * item)",
        "each->from + from)",
    ),
    named(
        "sums in float32 read each row of a slice",
        "src/cpu/accumulate.cpp",
        "kernels.combine(moved(job.rows, each->from + from + at * item)",
        "kernels.combine(moved(job.rows, each->from + at * item)",
    ),
    named(
        "the sums of a long bag continue in the next block",
        "src/cpu/run_bags.cpp",
        "        rows.is_first = false;\n",
        "",
    ),
    named(
        "the row of a mean is zero if its weights have the sum 0",
        "src/cpu/run_bags.cpp",
        "is_zero_[i] = sum == 0;",
        "is_zero_[i] = false;",
    ),
    named(
        "the short form of bags refuses an output that overlaps offsets",
        "src/cpu/run_short_bags.cpp",
        "!(form.has_offsets && core::overlap(pointers.rows, rows, pointers.bags, bags))",
        "true",
    ),
    named(
        "plans with strided offsets have no short form",
        "src/core/plan/short_bags.cpp",
        "(!has_offsets || bags.bags_stride == index_bytes(bags.type))",
        "true",
    ),
    named(
        "an id of any block receives the gradient of a maximum",
        "src/cpu/bag_gradient_steps.cpp",
        "place_of(base + chosen_[i])",
        "place_of(read_.begin[bag] + chosen_[i])",
    ),
    named(
        "sums in float32 sort rows at any distance",
        "src/cpu/accumulate.cpp",
        "shift < 64; shift += bits",
        "shift < 32; shift += bits",
    ),
    named(
        "means sort rows at any distance",
        "src/cpu/divide_sums.cpp",
        "shift < 64; shift += 8",
        "shift < 32; shift += 8",
    ),
    named(
        "means of halves divide each block of a row",
        "src/cpu/divide_sums.cpp",
        "kernels.store(values, n, row + at);",
        "kernels.store(values, at > 0 ? n - 1 : n, row + at);",
    ),
    named(
        "dictionaries that are merged may be slices",
        "src/columns/take_dictionary.cpp",
        "{dictionary, dictionary->offset}",
        "{dictionary, 0}",
    ),
    named(
        "a code is below the length of its dictionary",
        "src/columns/take_dictionary.cpp",
        "static_cast<uint64_t>(most) < static_cast<uint64_t>(length)",
        "static_cast<uint64_t>(most) <= static_cast<uint64_t>(length)",
    ),
    named(
        "dictionaries that are merged may have null values",
        "src/columns/distinct.cpp",
        "type.kind == Kind::nothing || is_null(validity_of(type, array), row)",
        "type.kind == Kind::nothing",
    ),
    named(
        "shared views have the sizes of their buffers",
        "src/columns/take_views.cpp",
        "sizes[firsts[p] + b] = data_size(array, b);",
        "sizes[firsts[p] + b] = data_size(array, b) + 1;",
    ),
    named(
        "a known batch extent of indices replaces an open one of the table",
        "src/core/meaning/shape.cpp",
        "i < out->batch && table.shape[i] == GTH_OPEN;",
        "false;",
    ),
    named(
        "an open extent before the axis stays open",
        "src/core/meaning/shape.cpp",
        "const bool from_indices = i < out->batch && ",
        "const bool from_indices = ",
    ),
    named(
        "ONNX Runtime accepts any batches if there are no tuples",
        "src/core/meaning/batch.cpp",
        "counts && tuples > 0 && (",
        "counts && (",
    ),
    named(
        "ONNX Runtime accepts any batches if there are no rows",
        "src/core/meaning/batch.cpp",
        "!is_open && has_rows && find_product",
        "!is_open && find_product",
    ),
    named(
        "a sort by row compares all bits",
        "src/cpu/partition_ids.cpp",
        "shift < 64 && span >> shift > 0",
        "shift < 48 && span >> shift > 0",
    ),
    named(
        "slices of more rows than a block are copied completely",
        "src/cpu/move.cpp",
        "wrapping_multiply(first + i, outer->table)",
        "wrapping_multiply(i, outer->table)",
    ),
    named(
        "elements are not read before the memory of their tensor",
        "src/core/plan/layout.cpp",
        "if (reach.low < 0) return fail_stride(desc, operand, -1, reach.low, error);",
        "",
    ),
    named(
        "tokens of another copy of the library are rejected",
        "src/api/handles.cpp",
        "table.first_generation + ++slot->generation",
        "++slot->generation",
    ),
    named(
        "of several updates of a row, the one with the highest position is the last",
        "src/core/plan/line.cpp",
        "(!in_order || may_move_inside(*plan, i))",
        "(!in_order || i >= 0 || may_move_inside(*plan, i))",
    ),
    named(
        "a scatter with an invalid index leaves the target unchanged",
        "src/cpu/scatter.cpp",
        "  if (validates_first) {\n",
        "  if (false) {\n",
    ),
    named(
        "max returns NaN if the target is NaN",
        "src/cpu/tiers/reduce.hpp",
        "return ((b <= a) | (a != a)) ? a : b;",
        "return b <= a ? a : b;",
    ),
    named(
        "the target of a scatter does not overlap what it reads",
        "src/core/plan/pointers.cpp",
        "fail_alias(operation.name_of(written), operation.name_of(other), error)",
        "GTH_OK",
    ),
    named(
        "offsets of strings are validated again when lengths are computed",
        "src/cpu/string_gather.cpp",
        "if (at && !is_range(table, begin, end)) return Measured::raced;",
        "",
    ),
    named(
        "the fast path loads each index once",
        "src/cpu/run_short.cpp",
        "    *offset += index * component.stride;",
        "    *offset += load_index<T>(tuple) * component.stride;",
    ),
    named(
        "one thread at a time records the first invalid tuple",
        "src/cpu/validate.cpp",
        "    const std::lock_guard<core::Lock> guard(lock);\n    if (at >=",
        "    if (at >=",
    ),
    named(
        "the affinity mask limits the number of threads",
        "src/core/os/os_linux.cpp",
        "if (sched_getaffinity(getpid(), sizeof set, &set) == 0) return CPU_COUNT(&set);",
        "(void)set;",
    ),
    named(
        "cgroups limit the number of threads",
        "src/core/os/os_linux.cpp",
        'fewer(allowed, cgroup_cpus("/proc/self/cgroup", "/sys/fs/cgroup"))',
        "allowed",
    ),
    named(
        "worker threads block the signals of the program",
        "src/core/os/os_posix.cpp",
        "  sigfillset(&set);",
        "  sigemptyset(&set);",
    ),
    named(
        "TensorFlow's gather_nd rejects params without elements",
        "src/core/plan/build.cpp",
        "source.meaning.settings.rules->refuses_empty_table ? first_empty_dim(*source.request.table) : -1;",
        "-1;",
    ),
    named(
        "exceptions of the library and of hooks do not leave it",
        "src/api/api_boundary.hpp",
        "  } catch (...) {",
        "  } catch (const char*) {",
    ),
    named(
        "bad_alloc does not leave the library",
        "src/api/api_boundary.hpp",
        "catch (const std::bad_alloc&)",
        "catch (const short*)",
    ),
    named(
        "a request rejects unknown flags and reserved fields",
        "src/api/operands.hpp",
        "!desc->codec &&\n         !(desc->flags & ~uint32_t{GTH_TENSOR_READONLY});",
        "true;",
    ),
    named(
        "borrow and adopt reject unknown flags and reserved fields",
        "src/core/meaning/request.cpp",
        "  return check_desc(**out, operand, false, error);",
        "  return GTH_OK;",
    ),
    named(
        "the fast path of a dense description checks its flags",
        "src/core/plan/layout.cpp",
        "(desc.flags & ~allowed_flags) |",
        "uint64_t{0} |",
    ),
    named(
        "gth_tensor_alloc rejects unknown dtypes",
        "src/api/tensor.cpp",
        "  if (!info) return fail_dtype(dtype, error);\n  int64_t count;",
        "  static const core::DtypeInfo any = *core::find_dtype(GTH_DTYPE_INT8);\n  if (!info) info = &any;\n"
        "  int64_t count;",
    ),
    named(
        "a plan runs only on its device",
        "src/api/plan_object.cpp",
        "if (planned.device != given.device) "
        "return core::fail_device(GTH_OPERAND_PLAN, planned.device, given.device, error);",
        "return GTH_OK;",
    ),
    named(
        "the addresses of gathered strings are NULL at first",
        "src/api/gather_strings.cpp",
        "core::allocate_zeroed(static_cast<size_t>(bytes))",
        "core::allocate(static_cast<size_t>(bytes ? bytes : 1))",
    ),
    named(
        "the memory of an output is freed if its storage cannot be allocated",
        "src/execution/storage.cpp",
        "  if (!storage) {\n    core::deallocate(memory);\n    return fail_memory(bytes, error);",
        "  if (!storage) {\n    return fail_memory(bytes, error);",
    ),
    named(
        "negative strides of DLPack move the data pointer",
        "src/api/dlpack.cpp",
        "  if ((status = move_to_lowest(&desc, error))) return status;\n",
        "",
    ),
    named(
        "DLPack's byte offset is respected if there are strides",
        "src/api/dlpack.cpp",
        "  desc->offset = static_cast<int64_t>(tensor.byte_offset);",
        "  desc->offset = tensor.strides ? 0 : static_cast<int64_t>(tensor.byte_offset);",
    ),
    named(
        "worker threads are started",
        "src/cpu/executor.cpp",
        "  while (pool.workers < wanted &&",
        "  while (wanted < 0 &&",
    ),
    named(
        "the caller sets the number of threads",
        "src/cpu/executor.cpp",
        "  if (executor.threads == 0) return core::available_cpus();",
        "  return core::available_cpus();",
    ),
    named(
        "CUDA: a call does not invalidate captures of other threads",
        "src/cuda/runtime.cpp",
        "Uncaptured() : before_(exchange_mode(CU_STREAM_CAPTURE_MODE_RELAXED)) {}",
        "Uncaptured() : before_(-1) {}",
    ),
    named(
        "CUDA: a deleter does not invalidate captures",
        "src/cuda/runtime.cpp",
        "return {entered, exchange_mode(CU_STREAM_CAPTURE_MODE_RELAXED)};",
        "return {entered, -1};",
    ),
    named(
        "CUDA: a thread keeps its capture mode",
        "src/cuda/runtime.cpp",
        "~Uncaptured() { exchange_mode(before_); }",
        "~Uncaptured() {}",
    ),
    named(
        "CUDA: a call uses the device of its context",
        "src/cuda/runtime.cpp",
        "push_current.load()(static_cast<CUcontext>(device))) return code;\n  *entered = true;\n",
        "0) return code;\n",
    ),
    named(
        "CUDA: a call restores the current device",
        "src/cuda/runtime.cpp",
        "  if (entered) pop_current.load()(&ours);",
        "  (void)entered, (void)ours;",
    ),
    named(
        "CUDA: the first context of a device does not change the current device",
        "src/cuda/runtime.cpp",
        "if (!has_driver || set_current.load()(before) != CUDA_SUCCESS) set_current.load()(nullptr);",
        "(void)has_driver;",
    ),
    named(
        "CUDA: a query of memory does not change the current device",
        "src/cuda/runtime.cpp",
        "if (!before_ && set_current.load()) set_current.load()(nullptr);",
        "",
    ),
    named(
        "CUDA: the first query of memory does not change the current device",
        "src/cuda/runtime.cpp",
        "    if (set_current.load() || !find_driver()) get_current.load()(&before_);",
        "    if (set_current.load()) get_current.load()(&before_);",
    ),
    named(
        "CUDA: a stream waits for another",
        "src/cuda/runtime.cpp",
        "return settled(cudaStreamWaitEvent(stream, static_cast<cudaEvent_t>(event), 0));",
        "(void)stream, (void)event;\n  return 0;",
    ),
    named(
        "CUDA: an event is created on the device of its stream",
        "src/cuda/runtime.cpp",
        "  const Inside inside(context);",
        "",
    ),
    named(
        "CUDA: the last error of the runtime is cleared",
        "src/cuda/runtime.cpp",
        "if (code != cudaSuccess) cudaGetLastError();",
        "",
    ),
    named(
        "CUDA: a record in managed memory is rejected",
        "src/cuda/runtime.cpp",
        "attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeHost;",
        "attributes.type != cudaMemoryTypeUnregistered;",
    ),
    named(
        "CUDA: memory is freed after all streams that may use it",
        "src/cuda/device_state.cpp",
        "if (!result || result->number > passed_by_all()) return nullptr;",
        "if (!result) return nullptr;",
    ),
    named(
        "CUDA: new memory is usable on every stream",
        "src/cuda/device_state.cpp",
        "  if (!code) code = runtime::synchronize(stream_);\n  return code;",
        "  return code;",
    ),
    named(
        "CUDA: the per-thread stream is identified by its thread",
        "src/cuda/queue.cpp",
        "return runtime::stream_id(stream_, &id) == 0 && id == stream_id_ ? stream_ : legacy_stream();",
        "(void)id;\n  return stream_;",
    ),
    named(
        "CUDA: the count of the record is stored after its fields",
        "src/cuda/record.hpp",
        "  if (count == 0) copy_failure(record, failure);\n  publish(&record->count, count + 1);\n",
        "  publish(&record->count, count + 1);\n  if (count == 0) copy_failure(record, failure);\n",
    ),
    named(
        "CUDA: a thread that reads the count can read the fields",
        "src/cuda/atomics.hpp",
        "  __atomic_store_n(word, value, __ATOMIC_RELEASE);",
        "  __atomic_store_n(word, value, __ATOMIC_RELAXED);",
    ),
    named(
        "CUDA: the last block reads the results of the other blocks",
        "src/cuda/atomics.hpp",
        "  return __atomic_fetch_add(word, value, __ATOMIC_ACQ_REL);",
        "  return __atomic_fetch_add(word, value, __ATOMIC_RELAXED);",
    ),
    *(
        compiled_by_nvcc(f"CUDA, compiled: {promise}", "src/cuda/atomics.hpp", old, new)
        for promise, old, new in (
            (
                "a thread that reads the count can read the fields",
                "st.release.sys.global.u64",
                "st.relaxed.sys.global.u64",
            ),
            (
                "the last block reads the results of the other blocks",
                "atom.acq_rel.gpu.global.add.u64",
                "atom.relaxed.gpu.global.add.u64",
            ),
            (
                "blocks are counted atomically",
                'asm volatile("atom.acq_rel.gpu.global.add.u64 %0, [%1], %2;" : "=l"(before) : "l"(word), "l"(value) : '
                '"memory");',
                "before = *word;\n  *word = before + value;",
            ),
            (
                "what blocks have found is counted atomically",
                'asm volatile("atom.relaxed.gpu.global.add.u64 %0, [%1], %2;" : "=l"(before) : "l"(word), "l"(value) : '
                '"memory");',
                "before = *word;\n  *word = before + value;",
            ),
            (
                "all blocks contribute to the first invalid tuple",
                'asm volatile("red.relaxed.gpu.global.max.u64 [%0], %1;" : : "l"(word), "l"(value) : "memory");',
                "if (*word < value) *word = value;",
            ),
            (
                "values of other blocks are loaded with relaxed loads",
                'asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");',
                "value = *word;",
            ),
        )
    ),
    compiled_by_nvcc(
        "CUDA, compiled: the count of the record is stored after its fields",
        "src/cuda/record.hpp",
        "  if (count == 0) copy_failure(record, failure);\n  publish(&record->count, count + 1);\n",
        "  publish(&record->count, count + 1);\n  if (count == 0) copy_failure(record, failure);\n",
    ),
    *(
        compiled_by_nvcc(
            f"CUDA, compiled: an index of {bytes_} bytes is loaded once",
            "src/cuda/shared.hpp",
            f'asm volatile("ld.relaxed.cta.global.u{8 * bytes_} %0, [%1];" : "={letter}"(value) : "l"(at));',
            "value = *reinterpret_cast<const Vector<bytes>*>(at);",
        )
        for bytes_, letter in ((8, "l"), (4, "r"))
    ),
    compiled_by_nvcc(
        "CUDA, compiled: loading kernels does not invalidate captures",
        "src/cuda/device_state.cpp",
        "  const runtime::Uncaptured uncaptured;\n  int code = load_kernels(capacity);",
        "  int code = load_kernels(capacity);",
    ),
    compiled_by_nvcc(
        "CUDA, compiled: a launch clears the last error",
        "src/cuda/device_block.hpp",
        "  if (code != cudaSuccess) cudaGetLastError();\n",
        "",
    ),
    *(
        named(
            f"CUDA: {function.partition('(')[0]} does not invalidate captures",
            "src/cuda/runtime.cpp",
            f"{function} {{\n  const Uncaptured uncaptured;\n",
            f"{function} {{\n",
        )
        for function in (
            "make_stream(Stream* stream)",
            "destroy_stream(Stream stream)",
            "make_pool(int32_t id, int64_t kept, Pool* pool)",
            "destroy_pool(Pool pool)",
            "allocate_async(void** memory, int64_t bytes, Pool pool, Stream stream)",
            "deallocate_async(void* memory, Pool pool, Stream stream)",
            "synchronize(Stream stream)",
            "create_event(Stream stream, Event* event)",
            "destroy_event(Event event)",
            "query_event(Event event, bool* passed)",
            "reach(void* memory, bool* reached, void** there)",
            "device_of(const void* memory, int32_t* id, bool* is_known)",
        )
    ),
)
