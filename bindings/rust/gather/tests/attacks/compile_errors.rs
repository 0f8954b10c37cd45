//! The programs that must not compile. A line that ends with `//~ CODE` must have an error of this code, and no other
//! line may have an error. Without the lines that end with `// attack` or `//~ CODE attack`, each program must compile.

use std::fs;
use std::path::Path;

use crate::compiler::{Compiler, Found};

fn expected(source: &str) -> Vec<Found> {
    let lines = source.lines().enumerate();
    lines
        .filter_map(|(i, line)| {
            let codes = line.split_once("//~ ")?.1;
            let codes = codes.split(' ').filter(|code| *code != "attack");
            Some(codes.map(move |code| (i + 1, code.to_owned())))
        })
        .flatten()
        .collect()
}

fn without_attacks(source: &str) -> String {
    let kept = source
        .lines()
        .map(|line| if line.ends_with(" attack") { "" } else { line });
    kept.collect::<Vec<_>>().join("\n")
}

#[test]
fn attack_programs_do_not_compile() {
    let compiler = Compiler::new();
    let mut wrong = Vec::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/attacks/programs");
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        if name == "arrays" && cfg!(not(feature = "ndarray")) {
            continue;
        }
        let source = fs::read_to_string(&path).unwrap();
        assert!(source.contains("#![forbid(unsafe_code)]"), "{name}");
        let (expected, mut found) = (expected(&source), compiler.errors(name, &source));
        assert!(!expected.is_empty(), "{name}");
        found.sort();
        found.dedup(); // Compilers may report one error several times.
        let without = compiler.errors(name, &without_attacks(&source));
        if found != expected || !without.is_empty() {
            wrong.push(format!(
                "{name}: found {found:?}, expected {expected:?}, without the attacks {without:?}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
