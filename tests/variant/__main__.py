"""Builds a copy of the library with one more operation, profile and option, and runs plain calls of the bindings.

    variant BUILD

The change is that of the header and of the lists, and `generate` writes everything else. So the calls fail if a source
of the library or of a binding enumerates operations, profiles or options itself. Two files of Rust are changed here:
the one that bindgen writes, and the list of functions. A language without its compiler is skipped.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT, HERE = Path(__file__).resolve().parents[2], Path(__file__).resolve().parent

HEADER, LIST = "include/gather/gather.h", "src/core/base/option_list.hpp"
#: The replacements in each file.
CHANGES = {
    HEADER: {
        "#define GTH_OP_LAST 10": "#define GTH_OP_LAST 11\n/** A gather. */\n#define GTH_OP_GATHER_AGAIN 11",
        "#define GTH_PROFILE_JAX_CLIP 10": "#define GTH_PROFILE_FRESH 11 /**< new */\n#define GTH_PROFILE_JAX_CLIP 10",
        "} gth_options;": "  int64_t fresh; /**< new */\n} gth_options;",
        "{0, 0}, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}": "{0, 0}, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}",
    },
    "src/core/base/operation_list.hpp": {
        "gather_bags,              GATHER_BAGS,              GATHER,           bags,     bags,   one, {})": (
            "gather_bags, GATHER_BAGS, GATHER, bags, bags, one, {}) \\\n"
            "  OPERATION(gather_again, GATHER_AGAIN, GATHER, gather, slices, one, {13, false, true, true, 0})"
        ),
    },
    LIST: {
        "profile, choice, GTH_PROFILE_JAX_CLIP,": "profile, choice, GTH_PROFILE_FRESH,",
        '"element. On the CPU it is always that of the updates.")': (
            '"element. On the CPU it is always that of the updates.") \\\n'
            '  OPTION(fresh, int64, any, every, "0", "nothing.")'
        ),
        "small, reject, clamp,   zero,     broadcast, identity, last,  yes, always)": (
            "small, reject, clamp,   zero,     broadcast, identity, last,  yes, always) \\\n"
            "  PROFILE(FRESH, all, yes, all, wrap, clamp, zero, equal, zero, last, yes, always)"
        ),
    },
    "bindings/rust/gather-sys/src/bindings.rs": {
        "    pub fill_dtype: i32,\n    pub order: i32,\n    pub reserved: i32,\n": (
            "    pub fill_dtype: i32,\n    pub order: i32,\n    pub reserved: i32,\n    pub fresh: i64,\n"
        ),
        "pub const GTH_OP_LAST: i32 = 10;": (
            "pub const GTH_OP_LAST: i32 = 11;\npub const GTH_OP_GATHER_AGAIN: i32 = 11;\n"
            "pub const GTH_PROFILE_FRESH: i32 = 11;"
        ),
        "size_of::<gth_options>() - 128usize": "size_of::<gth_options>() - 136usize",
    },
    "bindings/rust/gather/src/operations.rs": {
        "gathers! {\n": (
            "gathers! {\n    GTH_OP_GATHER_AGAIN {\n        /// Gathers.\n        gather_again,\n"
            "        /// Writes.\n        gather_again_into,\n"
            "        /// Infers.\n        output_shape_again,\n        gather_again_to\n    }\n"
        ),
    },
    "src/core/options/profile.cpp": {
        "        .set(On::gather_nd, &Rules::empty_check, check_single_empty),\n};": (
            "        .set(On::gather_nd, &Rules::empty_check, check_single_empty),\n"
            "    profile_of_columns(GTH_PROFILE_FRESH),\n};"
        ),
    },
}


def run(*command, **options):
    subprocess.run([*map(str, command)], check=True, **options)


COPIED = ("include/", "src/", "bindings/", "docs/", "tests/abi/", "tests/conformance/reader/")


def copy(tree):
    """Copies the files of the repository, with the changes."""
    shutil.rmtree(tree, ignore_errors=True)
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True).stdout
    for name in names.splitlines():
        if name.startswith(COPIED) or "/" not in name:
            target = tree / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target, follow_symlinks=False)
    for name, changes in CHANGES.items():
        text = (tree / name).read_text()
        for before, after in changes.items():
            if text.count(before) != 1:
                raise ValueError(f"{name} has {before!r} {text.count(before)} times, expected is 1")
            text = text.replace(before, after)
        (tree / name).write_text(text)


def prefix_of(build, include, library):
    """Installs the header and the library in a folder, with a file of pkg-config. Returns the folder."""
    prefix = build / "prefix"
    shutil.rmtree(prefix, ignore_errors=True)
    (prefix / "lib/pkgconfig").mkdir(parents=True)
    (prefix / "include").symlink_to(include)
    for name in ("libgather.so", "libgather.so.1"):
        (prefix / "lib" / name).symlink_to(library)
    lines = "Name: gather", "Description: variant", "Version: 0.1.0", f"Cflags: -I{prefix}/include"
    text = "\n".join([*lines, f"Libs: -L{prefix}/lib -lgather", ""])
    (prefix / "lib/pkgconfig/gather.pc").write_text(text)
    return prefix


def run_rust(build, tree, environment):
    shutil.copy(HERE / "plain.rs", tree / "bindings/rust/gather/examples")
    options = "--locked", "--no-default-features", "--example", "plain"
    run("cargo", "run", "--quiet", *options, cwd=tree / "bindings/rust/gather", env=environment)


def run_go(build, tree, environment):
    shutil.copy(HERE / "plain.go", tree / "bindings/go/plain_variant_test.go")
    options = "-count=1", "-buildvcs=false", "-tags=gather_shared", "-run=^TestPlainCallsOfTheVariant$"
    run("go", "test", *options, ".", cwd=tree / "bindings/go", env=environment)


def run_java(build, tree, environment):
    home = subprocess.run([tree / "bindings/java/jdk.sh", "24"], stdout=subprocess.PIPE, check=True, text=True).stdout
    java, classes = Path(home.strip()) / "bin", build / "java"
    sources = (tree / "bindings/java/src/main/java").glob("io/libgather/**/*.java")
    run(java / "javac", "-nowarn", "-d", classes, *sources, HERE / "Plain.java")
    library = f"-Dio.libgather.library={build}/prefix/lib/libgather.so.1"
    run(java / "java", "--enable-native-access=ALL-UNNAMED", "-cp", classes, library, "Plain")


def has_java(tree):
    return subprocess.run([tree / "bindings/java/jdk.sh", "24"], stdout=subprocess.DEVNULL, check=False).returncode == 0


def main():
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    build = Path(sys.argv[1]).resolve()
    tree, made, package = build / "tree", build / "python", build / "package"
    copy(tree)
    run(sys.executable, tree / "bindings/generate")
    interpreter = f"-DPython_EXECUTABLE={sys.executable}"
    run("cmake", "-S", tree / "bindings/python", "-B", made, "-D", "CMAKE_BUILD_TYPE=Debug", interpreter)
    run("cmake", "--build", made, "--parallel", len(os.sched_getaffinity(0)))
    shutil.rmtree(package, ignore_errors=True)
    shutil.copytree(tree / "bindings/python/src", package)
    run("cmake", "--install", made, "--prefix", package)
    library = next((package / "libgather").glob("libgather.so*"))
    environment = os.environ | {"LD_LIBRARY_PATH": str(library.parent), "PYTHONPATH": str(package)}
    for compiler, source in (("cc", "plain.c"), ("c++", "plain.cpp")):
        program = build / source.replace(".", "_")
        run(compiler, HERE / source, "-I", tree / "include", library, "-o", program)
        run(program, env=environment)
    run(sys.executable, HERE / "plain.py", env=environment)
    right = ["C", "C++", "Python"]
    prefix = prefix_of(build, tree / "include", library)
    environment |= {
        "PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig"),
        "LD_LIBRARY_PATH": str(prefix / "lib"),
        "GATHER_DYNAMIC": "1",
        "CARGO_TARGET_DIR": str(build / "rust"),
        "CGO_CFLAGS": f"-O2 -DGATHER_HEADER={(tree / HEADER).stat().st_mtime_ns}",
    }
    languages = {
        "Rust": (shutil.which("cargo"), run_rust),
        "Go": (shutil.which("go"), run_go),
        "Java": (has_java(tree), run_java),
    }
    for language, (found, calls) in languages.items():
        if found:
            calls(build, tree, environment)
            right.append(language)
        else:
            print(f"variant: skipped {language}: there is no compiler")
    print(f"variant: the calls of {', '.join(right)} are right")
    return 0


if __name__ == "__main__":
    sys.exit(main())
