//! Runs rustc on programs that use this crate.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs, io};

/// An error in a program: its line, from 1, and its code, such as E0505.
pub type Found = (usize, String);

pub struct Compiler {
    rustc: PathBuf,
    /// The folder with the compiled crates.
    deps: PathBuf,
    externs: Vec<(&'static str, PathBuf)>,
}

impl Compiler {
    /// Creates a compiler for programs that use the crate of this test, and ndarray if the feature is enabled. Cargo
    /// keeps one file for each set of features. This function finds the newest one with the features of this test.
    pub fn new() -> Self {
        let deps = env::current_exe().unwrap().parent().unwrap().to_path_buf();
        let mut externs = Vec::new();
        let mut probe = String::from("pub use gather::Tensor;\n");
        if cfg!(feature = "ndarray") {
            externs.push(("ndarray", newest_first(&deps, "libndarray-").remove(0)));
            probe += "pub fn f(array: &ndarray::Array1<u8>) -> Tensor<'_> { Tensor::from(array) }\n";
        }
        for library in newest_first(&deps, "libgather-") {
            let mut externs = externs.clone();
            externs.push(("gather", library));
            let compiler = Compiler {
                rustc: rustc(),
                deps: deps.clone(),
                externs,
            };
            if compiler.errors("probe", &probe).is_empty() {
                return compiler;
            }
        }
        panic!("no usable library of this crate in {}", deps.display());
    }

    /// Returns the errors that rustc finds in a program.
    pub fn errors(&self, name: &str, source: &str) -> Vec<Found> {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join("attacks")
            .join(std::process::id().to_string());
        fs::create_dir_all(&folder).unwrap();
        let program = folder.join(name).with_extension("rs");
        fs::write(&program, source).unwrap();
        let mut command = Command::new(&self.rustc);
        command
            .env_remove("LD_PRELOAD") // Sanitizers must run in this process only.
            .args([
                "--edition=2024",
                "--crate-type=lib",
                "--emit=metadata",
                "--error-format=short",
            ])
            .arg("--out-dir")
            .arg(&folder)
            .arg("-L")
            .arg(format!("dependency={}", self.deps.display()));
        for (name, path) in &self.externs {
            command.arg("--extern").arg(format!("{name}={}", path.display()));
        }
        let output = command.arg(&program).stdout(Stdio::null()).output().unwrap();
        let messages = String::from_utf8(output.stderr).unwrap();
        let found = messages.lines().filter_map(read_error).collect::<Vec<_>>();
        assert_eq!(output.status.success(), found.is_empty(), "{name}: {messages}");
        fs::remove_dir_all(&folder).unwrap();
        found
    }
}

/// Parses a line `path:line:column: error[E0505]: message`. The code is empty if the error has none.
fn read_error(line: &str) -> Option<Found> {
    let (place, message) = line.split_once(": error")?;
    let code = message
        .strip_prefix('[')
        .and_then(|rest| rest.split(']').next())
        .unwrap_or("");
    let number = place.rsplit(':').nth(1)?;
    Some((number.parse().ok()?, code.to_owned()))
}

/// Returns the rustc next to the cargo that runs this test, or else the one in PATH.
fn rustc() -> PathBuf {
    let neighbor = env::var_os("CARGO").map(|cargo| PathBuf::from(cargo).with_file_name("rustc"));
    neighbor
        .filter(|rustc| rustc.is_file())
        .unwrap_or_else(|| "rustc".into())
}

fn newest_first(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            let name = path.file_name().unwrap().to_string_lossy();
            name.starts_with(prefix) && name.ends_with(".rlib")
        })
        .collect();
    files.sort_by_key(|path| std::cmp::Reverse(modified(path).unwrap()));
    files
}

fn modified(path: &Path) -> io::Result<std::time::SystemTime> {
    fs::metadata(path)?.modified()
}
