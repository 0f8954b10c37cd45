"""The copy of the tree that is mutated, its builds, and the test programs."""

import hashlib
import os
import shutil
import signal
import time
from dataclasses import dataclass, replace
from subprocess import DEVNULL, Popen, TimeoutExpired

from binding_builds import BINDINGS
from places import ROOT, WORK, command

# The time-out of a program in seconds: of its first run, and the minimum for later runs. Later runs may take ten times
# as long as the first one. A mutant that makes a program hang is killed.
FIRST_PATIENCE, PATIENCE = 1800, 120
took = {}
# The hashes of the libraries without a mutant, by build.
originals = {}

# The programs for every mutant, fastest first. In programs with failure points (_threads) every call takes the general
# path.
PROGRAMS = (
    "plan_builders",
    "rank_shape_attributes",
    "handles_abi",
    "index_values",
    "few_rows",
    "plans",
    "open_extent",
    "opsets",
    "null_strings",
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
    "gradient",
    "gradient_threads",
    "gradient_conformance",
    "scatter_oracle",
    "scatter_oracle_threads",
    "partition",
    "partition_threads",
    "races",
    "races_threads",
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
# The programs of the device half. The thread sanitizer detects races of kernels that the host compiler has compiled.
# Other programs execute the PTX of nvcc, also with the shipped host half.
DEVICE_PROGRAMS = ("cuda_emulated",)
THREAD_PROGRAMS = ("cuda_threads",)
NVCC_PROGRAMS = ("cuda_ptx90", "cuda_shipped")
FUZZ_PROGRAMS = tuple(
    f"replay_{name}{variant}"
    for variant in ("", "_threads")
    for name in ("gather", "gather_nd", "gather_elements", "scatter", "scatter_elements", "gather_gradient", "plan")
)
HAS_NVCC = bool(os.environ.get("CUDACXX") or shutil.which("nvcc"))
# Reduces tests that take long.
ENVIRONMENT = {
    "GATHER_CASES": "10000",
    "ASAN_OPTIONS": "allocator_may_return_null=1:detect_leaks=1:max_malloc_fill_size=4096",
}
SLOW = "-*SmallestInvalidTupleOfAll*"


@dataclass(frozen=True)
class Build:
    """A build of the tree with its programs."""

    name: str
    settings: tuple
    programs: tuple

    @property
    def tree(self):
        return WORK / "tree"

    @property
    def folder(self):
        return WORK / self.name

    def configure(self):
        settings = ("-DCMAKE_BUILD_TYPE=Debug", "-DGATHER_TESTS=ON", "-DGATHER_DEMO=OFF", "-DGATHER_INSTALL=OFF")
        settings += ("-DCMAKE_LINK_DEPENDS_NO_SHARED=ON",)  # a mutant changes the library only
        return command(["cmake", "-G", "Ninja", "-S", self.tree, "-B", self.folder, *settings, *self.settings])

    def make(self):
        return command(["cmake", "--build", self.folder, "--target", *self.programs])

    def words(self, program):
        """Returns the command of a program."""
        if program.startswith("replay_"):
            return (self.folder / "tests" / "fuzz" / program, "--random", "50000")
        folder = "cuda" if program.startswith("cuda_") else "cpp"
        arguments = ("--gtest_fail_fast", "--gtest_brief=1", f"--gtest_filter={SLOW}")
        return (self.folder / "tests" / folder / program, *arguments)

    @property
    def environment(self):
        return os.environ | ENVIRONMENT


def sanitized(programs):
    """Returns a build with sanitizers, which detect invalid accesses and leaks."""
    flags = "-O1 -fsanitize=address,undefined -fno-sanitize-recover=all"
    return Build("build", (f"-DCMAKE_CXX_FLAGS={flags}", f"-DCMAKE_C_FLAGS={flags}", "-DGATHER_CUDA=OFF"), programs)


# The first build of a mutant. Its programs are fast, and equal libraries show that a mutant is equivalent.
FAST = Build(
    "fast",
    ("-DCMAKE_CXX_FLAGS_DEBUG=-O1", "-DCMAKE_C_FLAGS_DEBUG=-O1", "-DGATHER_CUDA=OFF"),
    tuple(program for program in PROGRAMS if program not in DEVICE_PROGRAMS),
)


def builds_for(mutant):
    if mutant.file.startswith("bindings/"):
        return (BINDINGS[mutant.file.split("/")[1]],)
    if mutant.by_fuzzing:
        return (replace(FAST, programs=FUZZ_PROGRAMS),)
    if not mutant.file.startswith("src/cuda/"):
        return (FAST, sanitized(PROGRAMS))
    plain = Build("plain", ("-DGATHER_CUDA=OFF",), THREAD_PROGRAMS)
    nvcc = Build("nvcc", ("-DGATHER_CUDA=ON", "-DCMAKE_CUDA_ARCHITECTURES=90"), NVCC_PROGRAMS)
    if mutant.needs_nvcc:  # other mutants test the code that the host compiler compiles
        return (nvcc,) if HAS_NVCC else ()
    return (sanitized(DEVICE_PROGRAMS), plain, nvcc) if HAS_NVCC else (sanitized(DEVICE_PROGRAMS), plain)


def hash_libraries(build):
    """Returns a hash of the libraries of a build without debug information."""
    files = sorted(path for path in build.folder.glob("lib/*.so.*") if not path.is_symlink())
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).digest()


def is_original(build):
    """Returns whether the libraries of a build are known to be those without a mutant."""
    return build.name in originals and originals[build.name] == hash_libraries(build)


def copy_tree(tree):
    """Copies changed files with the current time, because objects of mutants may be newer than the sources."""
    listed = command(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT).stdout
    names = {name for name in listed.decode().split("\0") if name and os.path.lexists(ROOT / name)}
    for old in [path for path in tree.rglob("*") if path.is_file() or path.is_symlink()]:
        if str(old.relative_to(tree)) not in names:
            old.unlink()
    for name in names:
        source, copy = ROOT / name, tree / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        if source.is_symlink():
            copy.unlink(missing_ok=True)
            copy.symlink_to(source.readlink())
        elif not copy.is_file() or copy.read_bytes() != source.read_bytes():
            shutil.copy(source, copy)


def prepare(builds):
    """Copies the tree, builds it in each of these ways, and checks that all programs pass."""
    for tree in {build.tree for build in builds}:
        copy_tree(tree)
    for build in builds:
        done = build.configure()
        if not done.returncode:
            done = build.make()
        if done.returncode:
            raise SystemExit(done.stdout.decode())
        if build == FAST:
            originals[build.name] = hash_libraries(build)
        for program in build.programs:
            began = time.monotonic()
            failed = run(build, program)
            took[program] = time.monotonic() - began
            if failed:
                raise SystemExit(f"{program} fails without a mutant")


def fails(build, program):
    """Returns whether a test program fails twice. One failure may be caused by the load of the machine."""
    return run(build, program) and run(build, program)


def run(build, program):
    """Returns whether a test program fails. A program that takes too long is killed with its children."""
    patience = max(PATIENCE, 10 * took[program]) if program in took else FIRST_PATIENCE
    options = {"cwd": build.folder, "env": build.environment, "start_new_session": True}
    with Popen(build.words(program), stdout=DEVNULL, stderr=DEVNULL, **options) as process:
        try:
            return process.wait(patience)
        except (TimeoutExpired, KeyboardInterrupt) as reason:
            os.killpg(process.pid, signal.SIGKILL)
            if isinstance(reason, KeyboardInterrupt):
                raise
            return 1
