"""Whether the tests notice when the sources are wrong: mutate.py [--count N] [--seconds S] [--seed N] [--only PATTERN]
[--named].

The tree is copied to build/mutate and built there. Then one mutant at a time - one operator, condition, constant or
statement of src/core, src/api or src/cpu changed - is compiled, and the test programs run until one fails. Mutants are
the named ones below, each the undoing of a promise, and random ones. Survivors are listed, those that can change
nothing with the reason; the exit status is 1 if a named one survives, or if fewer than 95 % of the others are killed.
"""

import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "build" / "mutate"
TREE = WORK / "tree"
FOLDERS = ("src/core", "src/api", "src/cpu")
# Seconds for one program: at first, and then at least, if ten times what it took at first is less. A mutant that makes
# it hang is killed too.
FIRST_PATIENCE, PATIENCE = 1800, 120
took = {}

# What runs for every mutant, the quickest first. With failure points (_threads) every call takes the general path.
PROGRAMS = (
    "rank_shape_attributes",
    "handles_abi",
    "index_values",
    "few_rows",
    "plans",
    "memory_aliasing_alignment",
    "rank_shape_attributes_threads",
    "handles_abi_threads",
    "index_values_threads",
    "few_rows_threads",
    "plans_threads",
    "memory_aliasing_alignment_threads",
    "allocation_failures",
    "error",
    "alignment",
    "os",
    "dlpack",
    "arrow",
    "conformance",
    "conformance_threads",
    "guard_pages",
    "guard_pages_threads",
    "elements",
    "elements_threads",
    "scatter",
    "scatter_threads",
    "scatter_conformance",
    "gradient_conformance",
    "scatter_oracle",
    "scatter_oracle_threads",
    "partition",
    "partition_threads",
    "tiers",
    "surroundings",
    "surroundings_threads",
    "oracle",
    "oracle_threads",
    "threads",
    "threads_threads",
    "threads_fork_memory",
    "threads_fork_memory_threads",
    "sizes",
    "cuda_emulated",
)
# Of the device half. What its kernels say to each other is seen by the thread sanitizer, where the host's compiler has
# made them, and in the PTX that nvcc has made of them, which also runs under the host half as it is shipped.
DEVICE_PROGRAMS = ("cuda_emulated",)
THREAD_PROGRAMS = ("cuda_threads",)
NVCC_PROGRAMS = ("cuda_ptx120", "cuda_shipped")
HAS_NVCC = bool(os.environ.get("CUDACXX") or shutil.which("nvcc"))
# Of what takes long, less will do.
ENVIRONMENT = {
    "GATHER_CASES": "10000",
    "ASAN_OPTIONS": "allocator_may_return_null=1:detect_leaks=1:max_malloc_fill_size=4096",
}
SLOW = "-*SmallestBadTupleOfAll"


@dataclass(frozen=True)
class Mutant:
    file: str
    line: int  # from 1; 0: found by its text
    old: str
    new: str
    promise: str = ""
    needs_nvcc: bool = False

    def apply(self, text):
        if not self.line:
            if text.count(self.old) != 1:
                raise SystemExit(f"{self.file}: not there, or more than once: {self.old!r}")
            return text.replace(self.old, self.new)
        lines = text.split("\n")
        lines[self.line - 1] = self.new
        return "\n".join(lines)

    def __str__(self):
        where = f"{self.file}:{self.line}" if self.line else self.file
        return f"{where}: {self.promise or self.old.strip()}  ->  {self.new.strip() or '(nothing)'}"


def named(promise, file, old, new):
    return Mutant(file, 0, old, new, promise)


def compiled_by_nvcc(promise, file, old, new):
    return Mutant(file, 0, old, new, promise, needs_nvcc=True)


NAMED = (
    named(
        "of the tuples that may select one row, the last position comes last",
        "src/core/build.cpp",
        "(in_order && !may_move_inside(*plan, i))",
        "(in_order && dealt && !may_move_inside(*plan, i))",
    ),
    named(
        "a bad index leaves the target as it was",
        "src/cpu/scatter.cpp",
        "  if (int32_t status = judge_all(job, executor, error)) return status;\n",
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
        "src/core/operands.cpp",
        "    return fail_alias(written.role, read.role, error);",
        "    return GTH_OK;",
    ),
    named(
        "offsets of strings are judged again when lengths are taken",
        "src/cpu/strings.cpp",
        "if (at && !is_range(params, begin, end)) return Found::raced;",
        "",
    ),
    named(
        "an index of few rows is read once",
        "src/cpu/short.cpp",
        "    *offset += value * component.stride;",
        "    *offset += load_index<T>(tuple) * component.stride;",
    ),
    named(
        "one thread at a time says which tuple is the first bad one",
        "src/cpu/judge.cpp",
        "    const std::lock_guard<core::Lock> guard(lock);\n    if (at >=",
        "    if (at >=",
    ),
    named(
        "affinity counts",
        "src/core/os_linux.cpp",
        "if (sched_getaffinity(getpid(), sizeof set, &set) == 0) return CPU_COUNT(&set);",
        "(void)set;",
    ),
    named(
        "cgroups count",
        "src/core/os_linux.cpp",
        'fewer(allowed, cgroup_cpus("/proc/self/cgroup", "/sys/fs/cgroup"))',
        "allowed",
    ),
    named(
        "workers leave signals to the program",
        "src/core/os.cpp",
        "  sigfillset(&set);",
        "  sigemptyset(&set);",
    ),
    named(
        "TensorFlow's gather_nd refuses params without elements",
        "src/core/build.cpp",
        "source.meaning.settings.rules->refuses_empty_params ? first_empty_dim(*source.request.params) : -1;",
        "-1;",
    ),
    named(
        "exceptions of the library or a hook do not leave it",
        "src/api/fence.hpp",
        "  } catch (...) {",
        "  } catch (const char*) {",
    ),
    named("bad_alloc does not leave it", "src/api/fence.hpp", "catch (const std::bad_alloc&)", "catch (const short*)"),
    named(
        "the shape query judges its structs",
        "src/api/forms.cpp",
        "  const Request request{op, Open::any, indexed, indices, nullptr, options, 0, 0};\n"
        "  if (int32_t status = core::check_structs(request, error)) return status;",
        "  const Request request{op, Open::any, indexed, indices, nullptr, options, 0, 0};",
    ),
    named(
        "borrow and adopt refuse unknown flags and reserved fields",
        "src/api/tensor.cpp",
        "  if (check_dense_tensor(given, memory)) return GTH_OK;\n"
        "  if (int32_t status = core::check_desc(given, GTH_OPERAND_TENSOR, error)) return status;",
        "  if (check_dense_tensor(given, memory)) return GTH_OK;",
    ),
    named(
        "the short way of a dense description knows its flags and reserved fields",
        "src/core/layout.cpp",
        "!(desc.flags & ~allowed_flags) && !desc.reserved &&",
        "true &&",
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
        "if (out->plan().device == out->context->device && out->plan().device_id == out->context->device_id) "
        "return GTH_OK;",
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
        "  record->sequence = failure.sequence;\n",
        "  publish(&record->count, load(&record->reserved));\n  record->sequence = failure.sequence;\n",
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
                "numbers of 64 bits are counted one by one",
                'asm volatile("atom.relaxed.gpu.global.add.u64 %0, [%1], %2;" : "=l"(before) : "l"(word), "l"(value) : '
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
        "  record->sequence = failure.sequence;\n",
        "  publish(&record->count, load(&record->reserved));\n  record->sequence = failure.sequence;\n",
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

# Changes that no test can notice, by file, line and what it becomes, with the reason.
EQUIVALENT = {
    (
        "src/cpu/indices.cpp",
        "if (!is_inside(value, component.size)) value = value < 0 && signed_values ? 0 : component.size - 1;",
        "if (!is_inside(value, component.size)) value = value <= 0 && signed_values ? 0 : component.size - 1;",
    ): "0 is inside every dim that has an element, and an empty one was refused before",
    (
        "src/core/short.cpp",
        "!set_components(dims, result, &params_bytes)) {",
        "set_components(dims, result, &params_bytes)) {",
    ): "the short way is left, and the general one answers the same, only later",
}


def swap(a, b):
    return (
        (rf"(?<=[\w)\]]) {re.escape(a)} (?=[\w(*&-])", f" {b} "),
        (rf"(?<=[\w)\]]) {re.escape(b)} (?=[\w(*&-])", f" {a} "),
    )


OPERATORS = (
    *swap("<", "<="),
    *swap(">", ">="),
    *swap("==", "!="),
    *swap("&&", "||"),
    *swap("+", "-"),
    *swap("*", "+"),
    *swap("+=", "-="),
    (r"\bmin\b(?=[<({])", "max"),
    (r"\bmax\b(?=[<({])", "min"),
    (r"\btrue\b", "false"),
    (r"\bfalse\b", "true"),
    (r"(?<=[ (])0(?=[;,)])", "1"),
    (r"(?<=[ (])1(?=[;,)])", "2"),
    (r"!(?=[a-z(])", ""),
    (r"^(\s*(?:\} else )?if )\((?!int32_t status)(.*)\) (?=return|\{|continue|break|\w)", r"\1(!(\2)) "),
    (r"^(\s*)if \(int32_t status = (.*)\) return status;$", r"\1(void)(\2);"),
    (r"^(\s*)if \(\(status = (.*)\)\) return status;$", r"\1status = 0;"),
    (r"^(\s*)if \((.*)\) return .*;$", r"\1(void)(\2);"),
    (r"^(\s+)[a-z_:]+(?:(?:\.|->)[a-z_]+)*(?:\(.*\)| [-+*|&]?= .*);$", r"\1;"),
)
# Tiers that no test on this processor runs.
FLAGS = re.search(r"^flags\s*:(.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
OF_OTHER_PROCESSORS = {
    f"src/cpu/tiers/{tier}.cpp"
    for tier, flag in (("neon", "asimd"), ("avx2", "avx2"), ("avx512", "avx512vl"))
    if not FLAGS or flag not in FLAGS[1].split()
}
# Declarations, tables and what only the compiler reads.
NO_CODE = re.compile(r"^\s*(//|#|static_assert|using|template|namespace|\}|$|\S+:$|constexpr|const |typedef)")


def random_mutants(seed, only):
    """Every change that an operator makes, in an order of its own."""
    found = []
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.[ch]pp")):
            name = str(path.relative_to(ROOT))
            if not re.search(only, name) or name in OF_OTHER_PROCESSORS:
                continue
            for number, line in enumerate(path.read_text().split("\n"), 1):
                if NO_CODE.match(line):
                    continue
                code, slashes, comment = line.partition("  //")
                for pattern, replacement in OPERATORS:
                    for match in re.finditer(pattern, code):
                        changed = code[: match.start()] + match.expand(replacement) + code[match.end() :]
                        found.append(Mutant(name, number, line, changed + slashes + comment))
    random.Random(seed).shuffle(found)
    return found


def command(words, **options):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, **options)


@dataclass(frozen=True)
class Build:
    """A way in which programs are built of the tree."""

    name: str
    settings: tuple
    programs: tuple

    @property
    def folder(self):
        return WORK / self.name

    def configure(self):
        settings = ("-DCMAKE_BUILD_TYPE=Debug", "-DGATHER_TESTS=ON", "-DGATHER_DEMO=OFF", "-DGATHER_INSTALL=OFF")
        settings += ("-DCMAKE_LINK_DEPENDS_NO_SHARED=ON",)  # a mutant is in the library, the programs are as they were
        return command(["cmake", "-G", "Ninja", "-S", TREE, "-B", self.folder, *settings, *self.settings])

    def make(self):
        return command(["cmake", "--build", self.folder, "--target", *self.programs])


def sanitized(programs):
    """They notice what is not theirs and what is lost."""
    flags = "-O1 -fsanitize=address,undefined -fno-sanitize-recover=all"
    return Build("build", (f"-DCMAKE_CXX_FLAGS={flags}", f"-DCMAKE_C_FLAGS={flags}", "-DGATHER_CUDA=OFF"), programs)


def builds_for(mutant):
    if not mutant.file.startswith("src/cuda/"):
        return (sanitized(PROGRAMS),)
    plain = Build("plain", ("-DGATHER_CUDA=OFF",), THREAD_PROGRAMS)
    nvcc = Build("nvcc", ("-DGATHER_CUDA=ON", "-DCMAKE_CUDA_ARCHITECTURES=90"), NVCC_PROGRAMS)
    if mutant.needs_nvcc:  # what the host's compiler makes of it is judged for itself
        return (nvcc,) if HAS_NVCC else ()
    return (sanitized(DEVICE_PROGRAMS), plain, nvcc) if HAS_NVCC else (sanitized(DEVICE_PROGRAMS), plain)


def copy_tree():
    listed = command(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT).stdout
    shutil.rmtree(TREE, ignore_errors=True)
    for name in filter(None, listed.decode().split("\0")):
        source = ROOT / name
        if source.is_file():
            (TREE / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, TREE / name)


def prepare(builds):
    """A copy of the tree, built in each of these ways, whose programs all pass."""
    copy_tree()
    for build in builds:
        done = build.configure()
        if not done.returncode:
            done = build.make()
        if done.returncode:
            raise SystemExit(done.stdout.decode())
        for program in build.programs:
            began = time.monotonic()
            failed = run(build, program)
            took[program] = time.monotonic() - began
            if failed:
                raise SystemExit(f"{program} fails before anything is changed")


def run(build, program):
    """Whether a test program fails."""
    folder = "cuda" if program.startswith("cuda_") else "cpp"
    words = [build.folder / "tests" / folder / program, "--gtest_fail_fast", "--gtest_brief=1"]
    words += [f"--gtest_filter={SLOW}"]
    patience = max(PATIENCE, 10 * took[program]) if program in took else FIRST_PATIENCE
    try:
        return command(words, cwd=build.folder, env=os.environ | ENVIRONMENT, timeout=patience).returncode
    except subprocess.TimeoutExpired:
        return 1


def judge(mutant):
    """What noticed the mutant: the compiler, a program, or None."""
    path = TREE / mutant.file
    before = path.read_text()
    path.write_text(mutant.apply(before))
    try:
        for build in builds_for(mutant):
            done = build.make()
            # What reads the PTX refuses loads that may be done twice, and grids that publish nothing.
            if done.returncode:
                return "ptx/translate.py" if b"ptx/translate.py" in done.stdout else "compiler"
            found = next((program for program in build.programs if run(build, program)), None)
            if found:
                return found
        return None
    finally:
        path.write_text(before)


def judge_named(chosen):
    """The named ones that no test notices."""
    broken = []
    for mutant in chosen:
        if mutant.needs_nvcc and not HAS_NVCC:
            print(f"{'not run: no nvcc':24} {mutant.promise}", flush=True)
            continue
        by = judge(mutant)
        print(f"{by or 'SURVIVES':24} {mutant.promise}", flush=True)
        if by in (None, "compiler"):
            broken.append(mutant)
    return broken


@dataclass
class Tally:
    total: int = 0  # that compile
    killed: int = 0
    equivalent: int = 0

    def __str__(self):
        survivors = f"{self.total - self.killed} survive, {self.equivalent} of them equivalent"
        return f"{self.total} random mutants, {self.killed} killed, {survivors}"

    def is_enough(self):
        return self.killed >= 0.95 * (self.total - self.equivalent)


def judge_random(more, count, seconds):
    """Until there are so many, or so many seconds are over, or somebody interrupts: what was judged counts."""
    tally, began = Tally(), time.monotonic()
    try:
        for mutant in more:
            if tally.total >= count or time.monotonic() - began > seconds:
                break
            by = judge(mutant)
            if by == "compiler":
                continue
            reason = EQUIVALENT.get((mutant.file, mutant.old.strip(), mutant.new.strip()))
            tally.total += 1
            tally.killed += by is not None
            tally.equivalent += by is None and reason is not None
            if by:
                print(f"{by:24} {mutant.file}:{mutant.line}", flush=True)
            elif reason:
                print(f"{'equivalent':24} {mutant}: {reason}", flush=True)
            else:
                print(f"{'SURVIVES':24} {mutant}", flush=True)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    return tally


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100, help="random mutants that compile")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no further random one after so long")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="a regular expression of the names of the files to change")
    parser.add_argument("--named", action="store_true", help="the named ones alone")
    arguments = parser.parse_args()

    chosen = [mutant for mutant in NAMED if re.search(arguments.only, mutant.file)]
    more = [] if arguments.named else random_mutants(arguments.seed, arguments.only)
    prepare(dict.fromkeys(build for mutant in (*chosen, *more) for build in builds_for(mutant)))
    broken = judge_named(chosen)
    tally = judge_random(more, arguments.count, arguments.seconds)
    unrun = sum(mutant.needs_nvcc for mutant in chosen) if not HAS_NVCC else 0
    note = f", {unrun} not run: no nvcc" if unrun else ""
    print(f"{len(chosen)} named mutants, {len(broken)} survive{note}")
    if tally.total:
        print(tally)
    return 1 if broken or not tally.is_enough() else 0


if __name__ == "__main__":
    sys.exit(main())
