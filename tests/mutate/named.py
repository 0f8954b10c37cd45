"""Mutants that each undo a promise."""

from mutants import Mutant


def named(promise, file, old, new):
    return Mutant(file, 0, old, new, promise)


def compiled_by_nvcc(promise, file, old, new):
    return Mutant(file, 0, old, new, promise, needs_nvcc=True)


NAMED = (
    named(
        "of the tuples that may select one row, the last position comes last",
        "src/core/plan/build.cpp",
        "(in_order && !may_move_inside(*plan, i))",
        "(in_order && has_batch_split && !may_move_inside(*plan, i))",
    ),
    named(
        "a bad index leaves the target as it was",
        "src/cpu/scatter.cpp",
        "  if (int32_t status = validate_all(job, executor, error)) return status;\n",
        "",
    ),
    named(
        "NaN that is there first stays",
        "src/cpu/reduce.cpp",
        "return b <= a || Kind::is_nan(a) ? a : b;",
        "return b <= a ? a : b;",
    ),
    named(
        "what a scatter writes is not what it reads",
        "src/core/plan/operands.cpp",
        "    return fail_alias(written.role, read.role, error);",
        "    return GTH_OK;",
    ),
    named(
        "offsets of strings are judged again when lengths are taken",
        "src/cpu/strings.cpp",
        "if (at && !is_range(params, begin, end)) return Measured::raced;",
        "",
    ),
    named(
        "an index of few rows is read once",
        "src/cpu/short.cpp",
        "    *offset += index * component.stride;",
        "    *offset += load_index<T>(tuple) * component.stride;",
    ),
    named(
        "one thread at a time says which tuple is the first bad one",
        "src/cpu/validate.cpp",
        "    const std::lock_guard<core::Lock> guard(lock);\n    if (at >=",
        "    if (at >=",
    ),
    named(
        "affinity counts",
        "src/core/os/os_linux.cpp",
        "if (sched_getaffinity(getpid(), sizeof set, &set) == 0) return CPU_COUNT(&set);",
        "(void)set;",
    ),
    named(
        "cgroups count",
        "src/core/os/os_linux.cpp",
        'fewer(allowed, cgroup_cpus("/proc/self/cgroup", "/sys/fs/cgroup"))',
        "allowed",
    ),
    named(
        "workers leave signals to the program",
        "src/core/os/os.cpp",
        "  sigfillset(&set);",
        "  sigemptyset(&set);",
    ),
    named(
        "TensorFlow's gather_nd refuses params without elements",
        "src/core/plan/build.cpp",
        "source.meaning.settings.rules->refuses_empty_params ? first_empty_dim(*source.request.table) : -1;",
        "-1;",
    ),
    named(
        "exceptions of the library or a hook do not leave it",
        "src/api/api_boundary.hpp",
        "  } catch (...) {",
        "  } catch (const char*) {",
    ),
    named(
        "bad_alloc does not leave it",
        "src/api/api_boundary.hpp",
        "catch (const std::bad_alloc&)",
        "catch (const short*)",
    ),
    named(
        "a request refuses unknown flags and reserved fields",
        "src/api/operands.hpp",
        "(operand->flags & ~uint32_t{GTH_TENSOR_READONLY}) || operand->codec ? nullptr : operand;",
        "operand;",
    ),
    named(
        "borrow and adopt refuse unknown flags and reserved fields",
        "src/core/meaning/request.cpp",
        "  return check_desc(**out, operand, error);",
        "  return GTH_OK;",
    ),
    named(
        "the short way of a dense description knows its flags and reserved fields",
        "src/core/plan/layout.cpp",
        "(desc.flags & ~allowed_flags) |",
        "uint64_t{0} |",
    ),
    named(
        "gth_tensor_alloc refuses what is no dtype",
        "src/api/tensor.cpp",
        "  if (!info) return fail_dtype(dtype, error);\n  int64_t count;",
        "  static const core::DtypeInfo any = *core::find_dtype(GTH_DTYPE_INT8);\n  if (!info) info = &any;\n"
        "  int64_t count;",
    ),
    named(
        "a plan runs where it was made for",
        "src/api/plan.cpp",
        "if (planned.device != given.device) "
        "return core::fail_device(GTH_OPERAND_PLAN, planned.device, given.device, error);",
        "return GTH_OK;",
    ),
    named(
        "addresses of gathered strings begin as NULL",
        "src/api/gather_strings.cpp",
        "core::allocate_zeroed(static_cast<size_t>(bytes))",
        "core::allocate(static_cast<size_t>(bytes ? bytes : 1))",
    ),
    named(
        "memory of an output is given back where its storage cannot be had",
        "src/api/storage.cpp",
        "  if (!storage) {\n    core::deallocate(memory);\n    return fail_memory(bytes, error);",
        "  if (!storage) {\n    return fail_memory(bytes, error);",
    ),
    named(
        "strides of DLPack that reach below the data move it",
        "src/api/dlpack.cpp",
        "  if ((status = move_to_lowest(&desc, error))) return status;\n",
        "",
    ),
    named(
        "DLPack's byte offset counts beside strides",
        "src/api/dlpack.cpp",
        "  desc->offset = static_cast<int64_t>(tensor.byte_offset);",
        "  desc->offset = tensor.strides ? 0 : static_cast<int64_t>(tensor.byte_offset);",
    ),
    named(
        "workers are started",
        "src/cpu/executor.cpp",
        "  while (pool.workers < wanted &&",
        "  while (wanted < 0 &&",
    ),
    named(
        "the number of threads is the caller's",
        "src/cpu/executor.cpp",
        "  if (executor.threads == 0) return core::available_cpus();",
        "  return core::available_cpus();",
    ),
    named(
        "CUDA: no capture beside a call is spoiled",
        "src/cuda/runtime.cpp",
        "Uncaptured() : before_(exchange_mode(CU_STREAM_CAPTURE_MODE_RELAXED)) {}",
        "Uncaptured() : before_(-1) {}",
    ),
    named(
        "CUDA: nor by a deleter",
        "src/cuda/runtime.cpp",
        "return {entered, exchange_mode(CU_STREAM_CAPTURE_MODE_RELAXED)};",
        "return {entered, -1};",
    ),
    named(
        "CUDA: a thread keeps its mode beside captures",
        "src/cuda/runtime.cpp",
        "~Uncaptured() { exchange_mode(before_); }",
        "~Uncaptured() {}",
    ),
    named(
        "CUDA: a call is on its context's device",
        "src/cuda/runtime.cpp",
        "push_current.load()(static_cast<CUcontext>(device))) return code;\n  *entered = true;\n",
        "0) return code;\n",
    ),
    named(
        "CUDA: the device that was current is so again",
        "src/cuda/runtime.cpp",
        "  if (entered) pop_current.load()(&ours);",
        "  (void)entered, (void)ours;",
    ),
    named(
        "CUDA: nor does the first context of a device change it",
        "src/cuda/runtime.cpp",
        "if (!has_driver || set_current.load()(before) != CUDA_SUCCESS) set_current.load()(nullptr);",
        "(void)has_driver;",
    ),
    named(
        "CUDA: nor a question about memory",
        "src/cuda/runtime.cpp",
        "if (!before_ && set_current.load()) set_current.load()(nullptr);",
        "",
    ),
    named(
        "CUDA: not even the first one",
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
        "CUDA: an event is on its stream's device",
        "src/cuda/runtime.cpp",
        "  const Inside inside(context);",
        "",
    ),
    named(
        "CUDA: no error is left behind",
        "src/cuda/runtime.cpp",
        "if (code != cudaSuccess) cudaGetLastError();",
        "",
    ),
    named(
        "CUDA: managed memory is no record",
        "src/cuda/runtime.cpp",
        "attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeHost;",
        "attributes.type != cudaMemoryTypeUnregistered;",
    ),
    named(
        "CUDA: memory goes back after all streams that may use it",
        "src/cuda/device.cpp",
        "if (follow_contexts() && deallocate(memory, stream_) == 0) return;",
        "if (deallocate(memory, stream_) == 0) return;",
    ),
    named(
        "CUDA: new memory is there for every stream",
        "src/cuda/device.cpp",
        "  if (!code) code = runtime::synchronize(stream_);\n  return code;",
        "  return code;",
    ),
    named(
        "CUDA: the stream per thread is told by its thread",
        "src/cuda/queue.cpp",
        "return runtime::stream_id(stream_, &id) == 0 && id == stream_id_ ? stream_ : legacy_stream();",
        "(void)id;\n  return stream_;",
    ),
    named(
        "CUDA: the record's count comes after its fields",
        "src/cuda/record.hpp",
        "  if (count == 0) copy_failure(record, failure);\n  publish(&record->count, count + 1);\n",
        "  publish(&record->count, count + 1);\n  if (count == 0) copy_failure(record, failure);\n",
    ),
    named(
        "CUDA: who finds the count finds the fields",
        "src/cuda/atomics.hpp",
        "  __atomic_store_n(word, value, __ATOMIC_RELEASE);",
        "  __atomic_store_n(word, value, __ATOMIC_RELAXED);",
    ),
    named(
        "CUDA: the last block finds what the others have written",
        "src/cuda/atomics.hpp",
        "  return __atomic_fetch_add(word, value, __ATOMIC_ACQ_REL);",
        "  return __atomic_fetch_add(word, value, __ATOMIC_RELAXED);",
    ),
    *(
        compiled_by_nvcc(f"CUDA, compiled: {promise}", "src/cuda/atomics.hpp", old, new)
        for promise, old, new in (
            (
                "who finds the count finds the fields",
                "st.release.sys.global.u64",
                "st.relaxed.sys.global.u64",
            ),
            (
                "the last block finds what the others have written",
                "atom.acq_rel.gpu.global.add.u32",
                "atom.relaxed.gpu.global.add.u32",
            ),
            (
                "blocks arrive one by one",
                'asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], %2;" : "=r"(before) : "l"(word), "r"(value) : '
                '"memory");',
                "before = *word;\n  *word = before + value;",
            ),
            (
                "numbers of 32 bits are counted one by one",
                'asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], %2;" : "=r"(before) : "l"(word), "r"(value) : '
                '"memory");',
                "before = *word;\n  *word = before + value;",
            ),
            (
                "the first bad tuple is found by all blocks",
                'asm volatile("red.relaxed.gpu.global.max.u64 [%0], %1;" : : "l"(word), "l"(value) : "memory");',
                "if (*word < value) *word = value;",
            ),
            (
                "what other blocks write is loaded as such",
                'asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");',
                "value = *word;",
            ),
        )
    ),
    compiled_by_nvcc(
        "CUDA, compiled: the record's count comes after its fields",
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
        for bytes_, letter in ((8, "l"), (4, "r"), (2, "h"))
    ),
    compiled_by_nvcc(
        "CUDA, compiled: loading kernels spoils no capture",
        "src/cuda/kernels.cu",
        "cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;",
        "cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;",
    ),
    compiled_by_nvcc(
        "CUDA, compiled: no launch leaves an error behind",
        "src/cuda/kernels.cu",
        "  if (code != cudaSuccess) cudaGetLastError();\n",
        "",
    ),
    *(
        named(
            f"CUDA: {function.partition('(')[0]} spoils no capture",
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
            "device_of(const void* memory, int32_t* id)",
        )
    ),
)
