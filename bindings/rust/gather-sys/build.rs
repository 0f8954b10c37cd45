//! Finds an installed libgather with pkg-config. If there is none, the script builds the sources in this crate.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{self, Command};

/// The range of releases that this crate supports. It begins with the release of this crate. `TOO_NEW` is the next
/// release that may be incompatible.
const OLDEST: &str = env!("CARGO_PKG_VERSION");
const TOO_NEW: &str = "1.0.0";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=libgather");
    println!("cargo::rerun-if-env-changed=DOCS_RS");
    if env::var_os("DOCS_RS").is_some() {
        return; // The documentation needs no library.
    }
    let found = installed().unwrap_or_else(vendored);
    println!("cargo::metadata=root={}", found.root.display());
    println!("cargo::metadata=include={}", found.include.display());
    println!("cargo::metadata=lib={}", found.lib.display());
}

/// The folders of the library. Crates that depend on this one read them as DEP_GATHER_ROOT, _INCLUDE and _LIB.
struct Library {
    root: PathBuf,
    include: PathBuf,
    lib: PathBuf,
}

/// Returns the library that pkg-config finds. Returns `None` if its release is not in range, or if its header has
/// another ABI than the bindings.
fn installed() -> Option<Library> {
    let mut config = pkg_config::Config::new();
    config
        .range_version(OLDEST..TOO_NEW)
        .cargo_metadata(false)
        .print_system_libs(true);
    // A program with the static archive needs no run path.
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
    // The first probe printed nothing for cargo, so the probe is repeated for the chosen library.
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

/// Returns the first path. pkg-config omits the folders of the system.
fn first(paths: &[PathBuf], system: &str) -> PathBuf {
    paths.first().cloned().unwrap_or_else(|| Path::new("/usr").join(system))
}

/// Returns GTH_ABI_VERSION of the header in an include folder.
fn abi(include: &Path) -> Option<u32> {
    fs::read_to_string(include.join("gather/gather.h"))
        .ok()?
        .lines()
        .find_map(|line| line.strip_prefix("#define GTH_ABI_VERSION "))?
        .trim()
        .parse()
        .ok()
}

/// Builds a static library from the sources in this crate.
fn vendored() -> Library {
    require_compiler();
    let mut config = cmake::Config::new("libgather");
    config
        .profile("Release") // A debug build of the program must not slow down copies.
        .define("GATHER_CUDA", "OFF") // The static library does not support CUDA.
        .define("GATHER_TESTS", "OFF")
        .define("GATHER_DEMO", "OFF")
        .define("GATHER_BENCH", "OFF")
        .define("CMAKE_INSTALL_LIBDIR", "lib");
    // The packages of a compiler need not contain make. So Ninja is used if it is installed.
    if env::var_os("CMAKE_GENERATOR").is_none() && runs("ninja") {
        config.generator("Ninja");
    }
    let root = config.build();
    let lib = root.join("lib");
    println!("cargo::rustc-link-search=native={}", lib.display());
    println!("cargo::rustc-link-lib=static=gather");
    link_runtime();
    Library {
        include: root.join("include"),
        root,
        lib,
    }
}

/// Links what the static library needs. On Windows, the program contains the runtime of GCC, because it would otherwise
/// need DLLs beside it.
fn link_runtime() {
    if env::var_os("CARGO_CFG_WINDOWS").is_none() {
        println!("cargo::rustc-link-lib=dylib=stdc++");
        println!("cargo::rustc-link-lib=dylib=pthread");
        return;
    }
    // In some releases of GCC, the stack protector is a library of its own. It needs advapi32.
    for library in ["stdc++", "pthread", "ssp"] {
        if let Some(folder) = folder_of(&format!("lib{library}.a")) {
            println!("cargo::rustc-link-search=native={}", folder.display());
            println!("cargo::rustc-link-lib=static={library}");
        }
    }
    println!("cargo::rustc-link-lib=dylib=advapi32");
    println!("cargo::rustc-link-lib=dylib=synchronization");
}

/// Returns the folder in which the compiler finds a file. The compiler prints other names unchanged.
fn folder_of(file: &str) -> Option<PathBuf> {
    let compiler = cc::Build::new().cpp(true).cargo_metadata(false).get_compiler();
    let mut command = compiler.to_command();
    let printed = command.arg(format!("-print-file-name={file}")).output().ok()?;
    let path = PathBuf::from(String::from_utf8(printed.stdout).ok()?.trim());
    path.is_absolute().then(|| path.parent().unwrap().to_path_buf())
}

/// Ends the build with a short message if there is no C++ compiler. CMake would print a long trace.
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
