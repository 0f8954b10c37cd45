"""The builds of the bindings. Each uses its own copy of the tree, and the library and the Python of ./dev test."""

import json
import os
import shutil
from dataclasses import dataclass

from places import ROOT, WORK, command

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
    programs: tuple = (
        "arrays",
        "messages",
        "hostile",
        "values",
        "switches",
        "fill",
        "empty",
        "take",
        "put",
        "plans",
        "elements",
        "scatters",
        "tensors",
        "results",
        "partition",
        "foreign",
        "parity",
        "properties",
        "gradients",
        "closing",
        "devices",
        "threads",
        "conformance",
        "scatter_conformance",
        "gradient_conformance",
        "onnx",
        "layers",
        "types",
    )

    @property
    def tree(self):
        return WORK / self.name / "tree"

    @property
    def folder(self):
        return self.tree / "bindings" / "python"

    @property
    def environment(self):
        device = {"GATHER_EMULATED": str(EMULATED)} if EMULATED.is_file() else {}
        return os.environ | device | {"PYTHONPATH": str(self.folder / "src"), "PYTHONDONTWRITEBYTECODE": "1"}

    def configure(self):
        installed = next(VENV.glob("lib/python*/site-packages/libgather"))
        for compiled in (*installed.glob("*.so"), *installed.glob("*.so.*")):
            shutil.copy(compiled, self.folder / "src" / "libgather")
        return self.make()

    def make(self):
        """Imports the package."""
        return command([VENV / "bin" / "python", "-c", "import libgather"], cwd=self.folder, env=self.environment)

    def words(self, program):
        options = ("-q", "-x", "-p", "no:cacheprovider", "-c", "pyproject.toml")
        return (VENV / "bin" / "python", "-m", "pytest", *options, f"tests/test_{program}.py")


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

    def make(self):
        """Builds the library. A program is built when it is about to run, because most mutants need only the first."""
        words = ("cargo", "build", "--locked", "-p", "gather", "--all-features")
        return command(words, cwd=self.folder, env=self.environment)

    def words(self, program):
        target = (f"--{program}",) if program in ("lib", "doc") else ("--test", program)
        if program in ("devices", "failing") and EMULATED.is_file():
            target += ("--config", f"target.'cfg(all())'.runner = ['env', 'LD_PRELOAD={EMULATED}']")
        return ("cargo", "test", "--locked", "-p", "gather", "--all-features", *target, "--", "--quiet")


@dataclass(frozen=True)
class Go:
    """Most mutants need only the program `fast`. It has no recorded cases, because these take most of the time to compile.

    It uses the library with an emulated device if there is one.
    """

    name: str = "go"
    programs: tuple = ("fast", "all")

    @property
    def tree(self):
        return WORK / self.name / "tree"

    @property
    def folder(self):
        return self.tree / "bindings" / "go"

    @property
    def environment(self):
        device = {"GATHER_EMULATED": str(EMULATED)} if EMULATED.is_file() else {}
        flags = "-buildvcs=false -tags=gather_shared -vet=off"
        return on_stage(GOFLAGS=flags, GOTOOLCHAIN="local", GOWORK="off", **device)

    def configure(self):
        without = {str(path): "" for path in self.folder.glob("conformance*_test.go")}
        self.overlay.write_text(json.dumps({"Replace": without}))
        return self.make()

    @property
    def overlay(self):
        return WORK / self.name / "overlay.json"

    @property
    def fast(self):
        return WORK / self.name / "fast.test"

    def make(self):
        words = ("go", "test", "-c", "-overlay", self.overlay, "-o", self.fast, ".")
        return command(words, cwd=self.folder, env=self.environment)

    def words(self, program):
        if program == "fast":
            preload = ("env", f"LD_PRELOAD={EMULATED}") if EMULATED.is_file() else ()
            return (*preload, self.fast, "-test.short", "-test.failfast")
        return ("env", "-u", "GATHER_EMULATED", "go", "test", "-count=1", "-failfast", ".")


BINDINGS = {binding.name: binding for binding in (Python(), Rust(), Go())}
