"""The builds of the bindings. Each uses its own copy of the tree, and the library and the Python of ./dev test."""

import json
import os
import re
import shutil
import time
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from places import ROOT, WORK, command
from python_tests import Tests

STAGE = ROOT / "build" / "stage"
EMULATED = ROOT / "build" / "test" / "lib" / "libgather_emulated.so"  # with an emulated CUDA device
VENV = ROOT / ".cache" / "venv" / "python"


def on_stage(**more):
    """Returns the environment of a build with the installed library."""
    found = sorted(STAGE.rglob("gather.pc"))
    if not found:
        raise SystemExit(f"no library in {STAGE.relative_to(ROOT)}: ./dev test installs one there")
    libraries = found[0].parents[1]
    paths = {
        "PKG_CONFIG_PATH": found[0].parent,
        "LD_LIBRARY_PATH": libraries,
        "GATHER_CONFORMANCE_CASES": ROOT / "build" / "conformance" / "cases",
    }
    return os.environ | {name: str(path) for name, path in paths.items()} | more


@dataclass(frozen=True)
class Python:
    """The Python sources of the tree, with the compiled files of the installed package."""

    name: str = "python"
    programs: tuple = ()  # tests detect mutants in another way

    @property
    def tree(self):
        return WORK / self.name / "tree"

    @property
    def folder(self):
        return self.tree / "bindings" / "python"

    @property
    def environment(self):
        device = {"GATHER_EMULATED": str(EMULATED)} if EMULATED.is_file() else {}
        return os.environ | device | {"PYTHONPATH": str(self.folder / "src")}

    @cached_property
    def tests(self):
        return Tests(VENV / "bin" / "python", self.folder, self.environment, EMULATED)

    def configure(self):
        """Measures which tests execute which lines. Compiled modules are compared with their sources by a digest."""
        installed = next(VENV.glob("lib/python*/site-packages/libgather"))
        for compiled in (*installed.glob("*.so"), *installed.glob("*.so.*")):
            shutil.copy(compiled, self.folder / "src" / "libgather")
        words = (VENV / "bin" / "python", "-m", "compileall", "-q", "--invalidation-mode", "checked-hash", "src")
        command(words, cwd=self.folder)
        self.tests.measure()
        return self.make()

    def make(self, *_programs):
        """Imports the package."""
        return command([VENV / "bin" / "python", "-c", "import libgather"], cwd=self.folder, env=self.environment)


@dataclass(frozen=True)
class Rust:
    name: str = "rust"
    programs: tuple = (
        "lib",
        "elements",
        "arrays",
        "strings",
        "exchange",
        "owners",
        "scatters",
        "partitions",
        "hooks",
        "views",
        "causes",
        "devices",
        "hostile",
        "threads",
        "allocations",
        "conformance",
        "open_plans",
        "other_abi",
        "failing",
        "leaks",
        "attacks",
        "doc",
    )

    @property
    def tree(self):
        return WORK / self.name / "tree"

    @property
    def folder(self):
        return self.tree / "bindings" / "rust"

    @property
    def environment(self):
        # Without debug information a program is linked in a third of the time.
        target = str(WORK / self.name / "target")
        return on_stage(CARGO_TARGET_DIR=target, CARGO_PROFILE_DEV_DEBUG="0", GATHER_DYNAMIC="1")

    def configure(self):
        return self.make()

    def make(self, *_programs):
        """Builds the library. A program is built when it is about to run, because most mutants need only the first."""
        words = ("cargo", "build", "--locked", "-p", "gather", "--all-features")
        return command(words, cwd=self.folder, env=self.environment)

    def words(self, program):
        target = (f"--{program}",) if program in ("lib", "doc") else ("--test", program)
        if program in ("devices", "failing") and EMULATED.is_file():
            target += ("--config", f"target.'cfg(all())'.runner = ['env', 'LD_PRELOAD={EMULATED}']")
        return ("cargo", "test", "--locked", "-p", "gather", "--all-features", *target, "--", "--quiet")


SOURCES = {}  # the sources of Go without a mutant, by path
# Tests of Go that take long, and those that need optimised tests.
NOT_FAST = "AllocateNothing|DuringCalls|ReleasesMemory|ReleasesUnclosed|ThatExceedMemory"


@dataclass(frozen=True)
class Go:
    """The program `fast` has no recorded cases, because they take most of the time to compile. Its tests are not
    optimised, and it leaves out slow ones. `all` has all tests.

    cgo takes most of the rest of a build. So a build repeats only the commands that follow it, unless a line has a name
    of C.
    """

    name: str = "go"
    programs: tuple = ("fast", "all")

    @property
    def work(self):
        return WORK / self.name

    @property
    def tree(self):
        return self.work / "tree"

    @property
    def folder(self):
        return self.tree / "bindings" / "go"

    @property
    def environment(self):
        device = {"GATHER_EMULATED": str(EMULATED)} if EMULATED.is_file() else {}
        flags = "-buildvcs=false -tags=gather_shared -vet=off"
        return on_stage(GOFLAGS=flags, GOTOOLCHAIN="local", GOWORK="off", **device)

    def configure(self):
        SOURCES.update((path, path.read_text().split("\n")) for path in self.folder.glob("*.go"))
        without = {str(path): "" for path in self.folder.glob("conformance*_test.go")}
        (self.work / "overlay.json").write_text(json.dumps({"Replace": without}))
        shutil.rmtree(self.work / "tmp", ignore_errors=True)
        (self.work / "tmp").mkdir()
        # New flags keep Go from using its cache. So -x prints all commands.
        flags = f"-O2 -g -DMUTANTS={time.time_ns()}"
        done = self.build("-x", "-work", GOTMPDIR=str(self.work / "tmp"), CGO_CFLAGS=flags)
        if not done.returncode:
            root, *lines = done.stdout.decode().splitlines()
            first = next(
                i for i, line in enumerate(lines) if "/compile " in line and " -p libgather.io/gather " in line
            )
            kept = [line for line in lines[first:] if not re.match(r"(cp|go tool buildid) .* # internal", line)]
            objects = re.search(r" -o (\S+)/_pkg_.a ", lines[first])[1]
            text = "\n".join(["set -e", root, f"ln -sfn {objects} {self.work}/objects", *kept, ""])
            self.script.write_text(text.replace(" -p libgather/gather_test ", " -N -l -p libgather/gather_test "))
        return done

    @property
    def script(self):
        return self.work / "after_cgo.sh"

    def build(self, *options, **environment):
        options += ("-overlay", self.work / "overlay.json", "-o", self.work / "fast.test")
        return command(("go", "test", "-c", *options, "."), cwd=self.folder, env=self.environment | environment)

    def make(self, *_programs):
        changed = next((path for path, lines in SOURCES.items() if path.read_text().split("\n") != lines), None)
        output = self.work / "objects" / f"{changed.stem}.cgo1.go" if changed else None
        if not output or not output.is_file():  # cgo does not read the file.
            return self.after_cgo()
        before = output.read_text()
        after = with_changes(before, SOURCES[changed], changed.read_text().split("\n"))
        if not after:
            return self.build()
        output.write_text(after)
        try:
            return self.after_cgo()
        finally:
            output.write_text(before)

    def after_cgo(self):
        return command(("sh", self.script), cwd=self.folder, env=self.environment)

    def words(self, program):
        if program == "fast":
            preload = ("env", f"LD_PRELOAD={EMULATED}") if EMULATED.is_file() else ()
            return (*preload, self.work / "fast.test", "-test.short", "-test.failfast", "-test.skip", NOT_FAST)
        return ("env", "-u", "GATHER_EMULATED", "go", "test", "-count=1", "-failfast", ".")


def with_changes(output, lines, changed):
    """Returns the output of cgo for changed lines of a source. Returns None if cgo must translate them again."""
    result = output.split("\n")
    first = next(i for i, line in enumerate(result) if line.startswith("//line ")) + 1
    for i, (old, new) in enumerate(zip(lines, changed, strict=True), first):
        if old != new:
            if "C." in old + new or result[i] != old:
                return None
            result[i] = new
    return "\n".join(result)


@dataclass(frozen=True)
class Java:
    """Each class of tests is a program. A JVM runs it until the first failure. The last program is test.sh without
    these classes. It tests the jars, the README, and how the library is found.
    """

    name: str = "java"
    programs: tuple = (
        *sorted(path.stem for path in (ROOT / "bindings/java/src/test/java/io/libgather").glob("*Test.java")),
        "test.sh",
    )
    last: dict = field(default_factory=dict, compare=False)  # the sources that make() has compiled, and its result

    @property
    def work(self):
        return WORK / self.name

    @property
    def tree(self):
        return self.work / "tree"

    @property
    def folder(self):
        return self.tree / "bindings" / "java"

    @cached_property
    def home(self):
        done = command((self.folder / "jdk.sh", "24"))
        if done.returncode:
            raise SystemExit("there is no JDK 24 or newer")
        return Path(done.stdout.decode().strip())

    @cached_property
    def pom(self):
        return (self.folder / "pom.xml").read_text()

    @property
    def environment(self):
        cases = ROOT / "build" / "conformance" / "cases"
        return os.environ | {"JAVA_HOME": str(self.home), "GATHER_CONFORMANCE_CASES": str(cases)}

    @property
    def classes(self):
        return self.work / "classes"

    @property
    def path_of_tests(self):
        return f"{self.classes}:{self.work}/test-classes:{self.work}/jars/*"

    def maven(self, goal, *options):
        """Runs a goal of Maven that copies jars."""
        words = ("mvn", "-q", "-B", f"dependency:{goal}", f"-DoutputDirectory={self.work}/jars", *options)
        return command(words, cwd=self.folder, env=self.environment)

    def javac(self, sources, to, *options):
        files = sorted((self.folder / sources).rglob("*.java"))
        words = (self.home / "bin" / "javac", "--release", "22", "-nowarn", "-proc:none", "-d", to, *options, *files)
        return command(words, env=self.environment)

    def configure(self):
        """Fetches JUnit with a program that starts it, and what the tests need. Compiles the binding and the tests."""
        junit = re.search(r"<artifactId>junit-jupiter</artifactId>\s*<version>(.*)</version>", self.pom)[1]
        console = f"-Dartifact=org.junit.platform:junit-platform-console-standalone:{junit}"
        steps = (
            lambda: self.maven("copy-dependencies", "-DexcludeGroupIds=org.junit.jupiter,org.junit.platform"),
            lambda: self.maven("copy", console),
            self.make,
            lambda: self.javac("src/test/java", self.work / "test-classes", "-cp", self.path_of_tests),
        )
        return next((done for done in (step() for step in steps) if done.returncode), self.make())

    def make(self, *_programs):
        """Compiles the binding, unless its sources are those of the last call."""
        texts = [path.read_text() for path in sorted((self.folder / "src/main/java").rglob("*.java"))]
        if self.last.get("texts") != texts:
            self.last.update(texts=texts, done=self.javac("src/main/java", self.classes))
        return self.last["done"]

    def words(self, program):
        if program == "test.sh":
            skipped = ("MAVEN_OPTS=-DskipTests=true", "GATHER_TENSORFLOW=0")
            return ("env", *skipped, self.folder / "test.sh", STAGE, self.work / "script")
        options = re.search(r"<argLine>(.*) \$", self.pom)[1].split()
        return (
            *(self.home / "bin" / "java", *options, f"-Dio.libgather.library={next(STAGE.rglob('libgather.so.1'))}"),
            *(f"-Dgather.repository={self.tree}", f"-Dgather.classes={self.classes}", "-cp", self.path_of_tests),
            *("org.junit.platform.console.ConsoleLauncher", "execute", "--fail-fast", "--details=none"),
            f"--select-class=io.libgather.{program}",
        )


BINDINGS = {binding.name: binding for binding in (Python(), Rust(), Go(), Java())}
