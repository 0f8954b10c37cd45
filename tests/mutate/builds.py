"""The copy of the tree that is mutated, its builds, and the test programs."""

import hashlib
import json
import os
import re
import resource
import shutil
import signal
import time
from dataclasses import dataclass, replace
from subprocess import DEVNULL, Popen, TimeoutExpired

from binding_builds import BINDINGS
from places import ROOT, WORK, command

# The time-out of a program in seconds: of its first run, and the minimum for later runs. Later runs may take ten times
# as long as the first one. The processor time has the same limit, which a busy machine does not affect.
FIRST_PATIENCE, PATIENCE = 1800, 120
LEAST_PROCESSOR_TIME = 20
# The time that a program takes without a mutant, and its digest, by name_of().
took, originals = {}, {}


# Callers that are only compiled, and one that needs another library.
NO_PROGRAMS = ("macros", "dropped_status", "eigen")


def programs_of_tests():
    """Returns the programs of C++ and C. In those named _threads every call takes the general path."""
    callers = [path for path in sorted((ROOT / "tests" / "callers").glob("*.c*")) if path.stem not in NO_PROGRAMS]
    text = (ROOT / "tests" / "cpp" / "CMakeLists.txt").read_text()
    twice = re.findall(r"^gather_gtest_twice\((\w+)", text, re.MULTILINE)
    twice += [f"replay_{folder.name}" for folder in sorted((ROOT / "tests" / "fuzz" / "corpus").iterdir())]
    once = re.findall(r"^(?:gather_gtest|add_executable)\((\w+)", text, re.MULTILINE)
    return (
        *once,
        *(f"caller_{path.stem}{'_c99' if path.suffix == '.c' else ''}" for path in callers),
        *(name + variant for name in twice for variant in ("", "_threads")),
    )


def missing_programs(folder):
    """Returns the programs that a build folder has no targets for."""
    targets = command(["cmake", "--build", folder, "--target", "help"]).stdout.decode().replace(":", " ").split()
    return sorted({*PROGRAMS, *DEVICE_PROGRAMS, *THREAD_PROGRAMS}.difference(targets))


PROGRAMS = programs_of_tests()
# The programs that test src/cuda. The program of the emulated device also executes code of src/api. The thread
# sanitizer detects races of kernels that the host compiler has compiled. Other programs execute the PTX of nvcc, also
# with the shipped host half.
DEVICE_PROGRAMS = ("cuda_emulated",)
THREAD_PROGRAMS = ("cuda_threads",)
NVCC_PROGRAMS = ("cuda_ptx90", "cuda_shipped")
FUZZ_PROGRAMS = tuple(program for program in PROGRAMS if program.startswith("replay_"))
HAS_NVCC = bool(os.environ.get("CUDACXX") or shutil.which("nvcc"))
# Reduces tests that take long.
ENVIRONMENT = {
    "GATHER_CASES": "4000",
    "GATHER_FORKS": "20",
    "GATHER_RACE_SECONDS": "1",
    "GATHER_SIGNAL_SECONDS": "1",
    "ASAN_OPTIONS": "allocator_may_return_null=1:detect_leaks=1:max_malloc_fill_size=4096",
}
SKIPPED = 77  # the status of a program that cannot run here
SLOW = "-*SmallestInvalidTupleOfAll*"


@dataclass(frozen=True)
class Build:
    """A build of the tree with its programs."""

    name: str
    settings: tuple
    programs: tuple
    random_inputs: int = 4000  # of each fuzz target

    @property
    def tree(self):
        return WORK / "tree"

    @property
    def folder(self):
        return WORK / self.name

    def configure(self):
        # The build type is none of those that add options of their own.
        settings = ("-DCMAKE_BUILD_TYPE=Mutant", "-DGATHER_TESTS=ON", "-DGATHER_DEMO=OFF", "-DGATHER_INSTALL=OFF")
        # A mutant changes the library only, and no program may run while it is built.
        settings += ("-DCMAKE_LINK_DEPENDS_NO_SHARED=ON", "-DCMAKE_GTEST_DISCOVER_TESTS_DISCOVERY_MODE=PRE_TEST")
        return command(["cmake", "-G", "Ninja", "-S", self.tree, "-B", self.folder, *settings, *self.settings])

    def make(self, *programs):
        return command(["cmake", "--build", self.folder, "--target", *programs])

    def path(self, program):
        folder = {"replay": "fuzz", "caller": "callers", "cuda": "cuda"}.get(program.split("_")[0], "cpp")
        return self.folder / "tests" / folder / program

    def words(self, program):
        """Returns the command of a program."""
        if program.startswith("replay_"):
            inputs = self.tree / "tests" / "fuzz" / "corpus" / program.split("_", 1)[1].removesuffix("_threads")
            return (self.path(program), inputs, "--random", str(self.random_inputs))
        if program.startswith("caller_"):
            return (self.path(program),)
        return (self.path(program), "--gtest_fail_fast", "--gtest_brief=1", f"--gtest_filter={SLOW}")

    @property
    def environment(self):
        return os.environ | ENVIRONMENT

    def digest(self, program):
        """Returns a digest of a program and of the library that it loads."""
        text = self.path(program).read_bytes()
        loaded = set(re.findall(rb"libgather\w*\.so[.\d]+", text))
        libraries = sorted(self.folder / "lib" / name.decode() for name in loaded)
        return hashlib.sha256(text + b"".join(path.read_bytes() for path in libraries if path.is_file())).hexdigest()


def optimised(kind, name, flags, programs, **more):
    return kind(name, tuple(f"-DCMAKE_{of}_FLAGS=-O1 {flags}" for of in ("C", "CXX")) + NO_CUDA, programs, **more)


@dataclass(frozen=True)
class Libraries(Build):
    """A build of the libraries with sanitizers. The programs of the fast build load them."""

    def make(self, *_programs):
        return super().make("gather", "gather_testing")

    def path(self, program):
        return FAST.path(program)

    @property
    def environment(self):
        preloaded = command(["gcc", "-print-file-name=libasan.so"]).stdout.decode().strip()
        return os.environ | ENVIRONMENT | {"LD_PRELOAD": preloaded, "LD_LIBRARY_PATH": str(self.folder / "lib")}


NO_CUDA = ("-DGATHER_CUDA=OFF",)
# The sanitizers detect invalid accesses and leaks.
SANITIZERS = "-fsanitize=address,undefined -fno-sanitize-recover=all"
# Programs that contain the code themselves, and those that count memory, take too long, or pass structs at any address.
WITHOUT_SANITIZERS = (
    *("paths", "plan_builders", "error", "os", "tiers", "load_cycles", "cuda_emulated"),
    *("caller_raii_partition", "stack", "executor", "allocations", "sizes", "columns_leaks", "handles_abi"),
)
# The first build of a mutant. Its programs are fast, and equal programs show that a mutant is equivalent.
FAST = optimised(Build, "fast", "", (*PROGRAMS, *DEVICE_PROGRAMS))
SANITIZED = optimised(
    Libraries,
    "sanitized",
    SANITIZERS,
    tuple(program for program in FAST.programs if program.removesuffix("_threads") not in WITHOUT_SANITIZERS),
    random_inputs=1000,
)
# Its programs write which lines they execute.
COVERAGE = optimised(Build, "coverage", "--coverage -DGATHER_COVERAGE", FAST.programs)


def builds_for(mutant):
    if mutant.file.startswith("bindings/"):
        return (BINDINGS[mutant.file.split("/")[1]],)
    if mutant.by_fuzzing:
        return (replace(FAST, programs=FUZZ_PROGRAMS),)
    if not mutant.file.startswith("src/cuda/"):
        return (FAST, SANITIZED)
    plain = Build("plain", NO_CUDA, THREAD_PROGRAMS)
    nvcc = Build("nvcc", ("-DGATHER_CUDA=ON", "-DCMAKE_CUDA_ARCHITECTURES=90"), NVCC_PROGRAMS)
    if mutant.needs_nvcc:  # other mutants test the code that the host compiler compiles
        return (nvcc,) if HAS_NVCC else ()
    device = optimised(Build, "build", SANITIZERS, DEVICE_PROGRAMS)
    return (device, plain, nvcc) if HAS_NVCC else (device, plain)


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
    passed = Passed()
    for build in builds:
        make_all(build)
        for program in build.programs:
            passed.check(build, program)


def make_all(build):
    done = build.configure()
    if not done.returncode:
        done = build.make(*build.programs)
    if done.returncode:
        raise SystemExit(done.stdout.decode())


def name_of(build, program):
    return " ".join(map(str, (build.name, *build.words(program)[1:], program)))


def is_original(build, program):
    """Returns whether a program and its library are those without a mutant."""
    return isinstance(build, Build) and build.digest(program) == originals.get(name_of(build, program))


class Passed:
    """What each program took without a mutant. The file build/mutate/passed.json has it, so each runs once."""

    def __init__(self):
        self.file = WORK / "passed.json"
        self.known = json.loads(self.file.read_text()) if self.file.is_file() else {}

    def check(self, build, program):
        """Runs a program, which must pass."""
        digest = build.digest(program) if isinstance(build, Build) else None
        name = name_of(build, program)
        if not digest or self.known.get(name, [None])[0] != digest:
            began = time.monotonic()
            if fails(build, program):
                raise SystemExit(f"{name} fails without a mutant")
            self.known[name] = (digest, time.monotonic() - began)
            self.file.write_text(json.dumps(self.known, indent=1))
        originals[name], took[name] = self.known[name]


def fails(build, program):
    """Returns whether a test program fails twice. One failure may be caused by the load of the machine."""
    return run(build, program) and run(build, program)


def run(build, program):
    """Returns whether a test program fails. A program that takes too long is killed with its children."""
    expected = took.get(name_of(build, program))
    patience = max(PATIENCE, 10 * expected) if expected else FIRST_PATIENCE
    options = {"cwd": build.folder, "env": build.environment, "start_new_session": True}
    with Popen(build.words(program), stdout=DEVNULL, stderr=DEVNULL, **options) as process:
        limit = max(LEAST_PROCESSOR_TIME, int(10 * expected)) if expected else FIRST_PATIENCE
        resource.prlimit(process.pid, resource.RLIMIT_CPU, (limit, limit))
        try:
            return process.wait(patience) not in (0, SKIPPED)
        except (TimeoutExpired, KeyboardInterrupt) as reason:
            os.killpg(process.pid, signal.SIGKILL)
            if isinstance(reason, KeyboardInterrupt):
                raise
            return True
