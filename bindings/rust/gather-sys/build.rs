//! Finds an installed libgather through pkg-config, or else builds the sources that lie in this crate.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{self, Command};

/// Releases that this crate works with: its own and newer ones, up to the next that may break.
const OLDEST: &str = env!("CARGO_PKG_VERSION");
const TOO_NEW: &str = "1.0.0";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=libgather");
    println!("cargo::rerun-if-env-changed=DOCS_RS");
    if env::var_os("DOCS_RS").is_some() {
        return; // documentation needs no library
    }
    let found = installed().unwrap_or_else(vendored);
    println!("cargo::metadata=root={}", found.root.display());
    println!("cargo::metadata=include={}", found.include.display());
    println!("cargo::metadata=lib={}", found.lib.display());
}

/// Where the library lies. Crates that depend on this one read it as DEP_GATHER_ROOT, _INCLUDE and _LIB.
struct Library {
    root: PathBuf,
    include: PathBuf,
    lib: PathBuf,
}

/// What pkg-config knows, if its release is in range and its header has the ABI that the bindings were made for.
fn installed() -> Option<Library> {
    let mut config = pkg_config::Config::new();
    config
        .range_version(OLDEST..TOO_NEW)
        .cargo_metadata(false)
        .print_system_libs(true);
    // A static archive outside the system's folders needs no run path in every program above this crate.
    println!("cargo::rerun-if-env-changed=GATHER_DYNAMIC");
    if env::var_os("GATHER_DYNAMIC").is_none() {
        config.statik(true);
    }
    let library = config.probe("gather").ok()?;
    let include = first(&library.include_paths, "include");
    let (built, installed) = (abi(Path::new("libgather/include"))?, abi(&include)?);
    if built != installed {
        println!(
            "cargo::warning=the installed libgather has ABI {installed}, this crate needs {built}: building its own"
        );
        return None;
    }
    // Once more, now that it is settled, to tell cargo.
    config.cargo_metadata(true).probe("gather").ok()?;
    let lib = first(&library.link_paths, "lib");
    for file in ["libgather.a", "libgather.so"].map(|name| lib.join(name)) {
        if file.exists() {
            println!("cargo::rerun-if-changed={}", file.display());
        }
    }
    let root = include.parent().unwrap_or(&include).to_path_buf();
    Some(Library { root, include, lib })
}

/// The first path; pkg-config leaves out the system's own.
fn first(paths: &[PathBuf], system: &str) -> PathBuf {
    paths.first().cloned().unwrap_or_else(|| Path::new("/usr").join(system))
}

/// GTH_ABI_VERSION of the header in an include folder.
fn abi(include: &Path) -> Option<u32> {
    fs::read_to_string(include.join("gather/gather.h"))
        .ok()?
        .lines()
        .find_map(|line| line.strip_prefix("#define GTH_ABI_VERSION "))?
        .trim()
        .parse()
        .ok()
}

/// A static library from the sources in this crate.
fn vendored() -> Library {
    require_compiler();
    let mut config = cmake::Config::new("libgather");
    config
        .profile("Release") // a debug build of the caller's program is no reason for slow copies
        .define("GATHER_CUDA", "OFF") // the static library never has it
        .define("GATHER_TESTS", "OFF")
        .define("GATHER_DEMO", "OFF")
        .define("GATHER_BENCH", "OFF")
        .define("CMAKE_INSTALL_LIBDIR", "lib");
    // The compiler's packages bring no make with them; whichever is there will do.
    if env::var_os("CMAKE_GENERATOR").is_none() && runs("ninja") {
        config.generator("Ninja");
    }
    let root = config.build();
    let lib = root.join("lib");
    println!("cargo::rustc-link-search=native={}", lib.display());
    println!("cargo::rustc-link-lib=static=gather");
    println!("cargo::rustc-link-lib=dylib=stdc++");
    println!("cargo::rustc-link-lib=dylib=pthread");
    Library {
        include: root.join("include"),
        root,
        lib,
    }
}

/// Ends the build with a line that names what is missing, where CMake would show a trace of its own.
fn require_compiler() {
    let target = env::var("TARGET").unwrap_or_default();
    let compiler = cc::Build::new().cpp(true).cargo_metadata(false).try_get_compiler();
    let (name, found) = match &compiler {
        Ok(tool) => (tool.path().display().to_string(), runs(tool.path())),
        Err(error) => (error.to_string(), false),
    };
    if !found {
        let variable = target.replace('-', "_");
        println!(
            "cargo::error=libgather is built with a C++17 compiler for {target}, and there is none ({name}): install one, \
             name it in CXX_{variable}, or install libgather and let pkg-config find it"
        );
        process::exit(1);
    }
}

fn runs(program: impl AsRef<OsStr>) -> bool {
    Command::new(program)
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success())
}
