"""The builds of the bindings. Each uses its own copy of the tree, and the library and the Python of ./dev test."""

import os
import shutil
from dataclasses import dataclass
from functools import cached_property

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
    return os.environ | {"PKG_CONFIG_PATH": str(found[0].parent), "LD_LIBRARY_PATH": str(libraries)} | more


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

    def make(self):
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
        return on_stage(CARGO_TARGET_DIR=str(WORK / self.name / "target"), GATHER_DYNAMIC="1")

    def configure(self):
        return self.make()

    def make(self):
        words = ("cargo", "test", "--locked", "-p", "gather", "--all-features", "--lib", "--tests", "--no-run")
        return command(words, cwd=self.folder, env=self.environment)

    def words(self, program):
        target = (f"--{program}",) if program in ("lib", "doc") else ("--test", program)
        if program == "devices" and EMULATED.is_file():
            target += ("--config", f"target.'cfg(all())'.runner = ['env', 'LD_PRELOAD={EMULATED}']")
        return ("cargo", "test", "--locked", "-p", "gather", "--all-features", *target, "--", "--quiet")


@dataclass(frozen=True)
class Go:
    name: str = "go"
    programs: tuple = ("short", "long")

    @property
    def tree(self):
        return WORK / self.name / "tree"

    @property
    def folder(self):
        return self.tree / "bindings" / "go"

    @property
    def environment(self):
        return on_stage(GOFLAGS="-buildvcs=false -tags=gather_shared", GOTOOLCHAIN="local", GOWORK="off")

    def configure(self):
        return self.make()

    def make(self):
        return command(("go", "test", "-run", "NONE", "."), cwd=self.folder, env=self.environment)

    def words(self, program):
        return ("go", "test", "-count=1", "-failfast", *(["-short"] if program == "short" else []), ".")


BINDINGS = {binding.name: binding for binding in (Python(), Rust(), Go())}
