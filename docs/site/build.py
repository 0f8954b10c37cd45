"""Builds the documentation as a site, checks its links, and serves it: build.py OUT [--serve [PORT]]

It runs in a Python with the packages of requirements.txt and the package libgather of this tree. It needs doxygen, and
Cargo and Go for the references of these languages. It writes the pages to OUT/html.
"""

import http.server
import inspect
import os
import re
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import doxygen_filter
import links

import libgather

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

# Pages of the tree that are also pages of the site.
PAGES = {
    "CHANGELOG.md": "changes.md",
    "SECURITY.md": "security.md",
    "docs/abi.md": "compatibility.md",
    "docs/architecture.md": "architecture.md",
    "docs/beyond.md": "beyond.md",
    "docs/calls.md": "calls.md",
    "docs/columns.md": "columns.md",
    "docs/packed.md": "packed.md",
    "docs/tables.md": "tables.md",
    "docs/cuda.md": "cuda.md",
    "docs/hostile.md": "hostile.md",
    "docs/install.md": "install.md",
    "docs/performance-cuda.md": "performance-cuda.md",
    "docs/performance-requests.md": "performance-requests.md",
    "docs/performance.md": "performance.md",
    "docs/platforms.md": "platforms.md",
    "docs/python/dask.md": "dask.md",
    "docs/python/ray.md": "ray.md",
    "docs/python/scatter.md": "scatter.md",
    "docs/python/training.md": "training.md",
    "docs/python/xarray.md": "xarray.md",
    "docs/reliability.md": "reliability.md",
    "docs/tensorflow-java.md": "tensorflow-java.md",
    "docs/when.md": "when.md",
}
# Other files of the tree, and the page of the site that a link to each of them becomes.
REPLACED = {
    "README.md": "index.md",
    "bindings/go/README.md": "reference/go.md",
    "bindings/java/README.md": "reference/java.md",
    "bindings/python/README.md": "reference/python.rst",
    "bindings/rust/gather/README.md": "reference/rust.md",
    "include/gather/gather.h": "reference/c.md",
    "include/gather/gather.hpp": "reference/cpp.md",
}

# Doxygen reads the headers and writes XML. Sphinx makes pages from it. A warning of doxygen is an error.
DOXYFILE = """
INPUT = {header}
OUTPUT_DIRECTORY = {out}
OPTIMIZE_OUTPUT_FOR_C = {is_c}
EXTENSION_MAPPING = hpp=C++
INPUT_FILTER = "{python} {here}/doxygen_filter.py"
GENERATE_HTML = NO
GENERATE_LATEX = NO
GENERATE_XML = YES
XML_PROGRAMLISTING = NO
EXTRACT_ALL = YES
JAVADOC_AUTOBRIEF = NO
AUTOLINK_SUPPORT = NO
TYPEDEF_HIDES_STRUCT = YES
MACRO_EXPANSION = YES
EXPAND_ONLY_PREDEF = YES
PREDEFINED = GTH_API= GTH_EXPORT= GATHER_COLD= GATHER_INLINE= __cplusplus=201703L __cpp_exceptions=1 __cpp_lib_span=1
EXCLUDE_SYMBOLS = gather::detail gather::detail::* GATHER_*
QUIET = YES
WARN_IF_UNDOCUMENTED = NO
WARN_IF_DOC_ERROR = YES
WARN_IF_INCOMPLETE_DOC = NO
WARN_NO_PARAMDOC = NO
WARN_AS_ERROR = FAIL_ON_WARNINGS
"""


def run(*command, **options):
    subprocess.run([str(each) for each in command], check=True, **options)


def headers(generated):
    for name, header, is_c in (("c", "gather.h", "YES"), ("cpp", "gather.hpp", "NO")):
        out = generated / name
        out.mkdir(parents=True)
        text = DOXYFILE.format(
            header=ROOT / "include/gather" / header, out=out, is_c=is_c, python=sys.executable, here=HERE
        )
        run("doxygen", "-", input=text.encode())


def c(source):
    """Adds the chapters of gather.h to its page."""
    with open(source / "reference/c.md", "a") as page:
        for chapter in doxygen_filter.chapters((ROOT / "include/gather/gather.h").read_text()):
            name = doxygen_filter.anchor(chapter)
            page.write(f"\n## {chapter}\n\n```{{doxygengroup}} {name}\n:project: c\n:content-only:\n```\n")


def go(source):
    pages = subprocess.run(
        ["go", "run", ".", ROOT / "bindings/go"], cwd=HERE / "godoc", check=True, stdout=subprocess.PIPE
    ).stdout
    (source / "reference/go.md").write_bytes(pages)


def rust(out, extra):
    target = out / "rust"
    run(
        "cargo", "doc", "--quiet", "--locked", "--no-deps", "--workspace", "--all-features", "--target-dir", target,
        cwd=ROOT / "bindings/rust", env=os.environ | {"DOCS_RS": "1", "RUSTDOCFLAGS": "-D warnings"},
    )  # fmt: skip
    shutil.copytree(target / "doc", extra / "rust")


def java(extra):
    """Writes the pages of javadoc. A Java that has only a compiler makes none, so the page then links to none."""
    found = subprocess.run(["sh", "bindings/java/jdk.sh", "22", "999", "javadoc"], cwd=ROOT, stdout=subprocess.PIPE)
    if found.returncode != 0:
        print("skipped: the reference of Java: there is no JDK 22 or newer with javadoc")
        return False
    run(
        Path(found.stdout.decode().strip()) / "bin/javadoc", "-quiet", "-notimestamp", "-Xdoclint:all,-missing",
        "-d", extra / "java", "--module-source-path", f"io.libgather={ROOT / 'bindings/java/src/main/java'}",
        "--module", "io.libgather",
    )  # fmt: skip
    return True


def java_page(source, made):
    """Writes the page that leads to the pages of javadoc."""
    link = '<a href="../java/index.html">io.libgather</a>' if made else "io.libgather"
    (source / "reference/java.md").write_text(
        f"# Java: io.libgather\n\njavadoc generates the reference of the module: {link}. It has two packages:\n\n"
        "- `io.libgather`: gathers, scatters, gradients, bags, plans, columns and partition\n"
        "- `io.libgather.tf`: the [operations of TensorFlow's Java API](../tensorflow-java.md)\n"
    )


def python_modules(exported):
    """Returns the public modules, except the package itself and the modules whose classes it exports."""
    package = Path(libgather.__file__).parent
    paths = (path.relative_to(package).with_suffix("") for path in package.rglob("*.py"))
    names = {".".join(part for part in path.parts if part != "__init__") for path in paths}
    public = {f"libgather.{name}" for name in names if name and not re.search(r"(^|\.)_", name)}
    return sorted(public - {each.__module__ for each in exported if isinstance(each, type)})


def python(source):
    """Writes the reference of the package: its functions, classes and errors, and then its other modules."""
    exported = [getattr(libgather, name) for name in dir(libgather) if not name.startswith("_")]
    errors = [each for each in exported if isinstance(each, type) and issubclass(each, Exception)]
    classes = [each for each in exported if isinstance(each, type) and each not in errors]
    functions = [each for each in exported if inspect.isroutine(each)]
    lines = ["Python: libgather", "=" * 17, "", ".. automodule:: libgather", ""]
    for title, kind, members in (
        ("Functions", "function", functions),
        ("Classes", "class", classes),
        ("Errors", "exception", errors),
    ):
        lines += [title, "-" * len(title), ""]
        for each in members:
            lines += [f".. auto{kind}:: libgather.{each.__name__}"]
            lines += ["   :members:", "   :show-inheritance:"] * (kind != "function")
            lines += ["   :inherited-members:"] * (kind == "class") + [""]
    for name in python_modules(exported):
        lines += [name, "-" * len(name), "", f".. automodule:: {name}", "   :members:", ""]
    (source / "reference/python.rst").write_text("\n".join(lines))


def with_links_to_pages(text, name):
    """Returns the text of a page of the tree with its links to files replaced.

    A link to a page of the site leads to that page. A link to another file of the tree becomes its words.
    """

    def replaced(match):
        words, target, place = match[1], match[2], match[3] or ""
        path = Path(os.path.normpath(Path(name).parent / target)).as_posix()
        if path in PAGES:
            return f"[{words}]({PAGES[path]}{place})"
        if path in REPLACED:
            return f"[{words}]({REPLACED[path]})"
        return words if (ROOT / path).exists() else match[0]

    return re.sub(r"(?<!!)\[([^\[\]]*)\]\(([^()\s#]+)(#[^()\s]*)?\)", replaced, text)


def stage(out):
    """Copies the pages to OUT/source, with a link to the tree from which they include, and returns that folder."""
    source = out / "source"
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(HERE, source, ignore=shutil.ignore_patterns("__pycache__", "godoc"))
    (source / "tree").symlink_to(ROOT)
    for name, page in PAGES.items():
        (source / page).write_text(with_links_to_pages((ROOT / name).read_text(), name))
    return source


def build(out):
    source = stage(out)
    run(sys.executable, HERE / "pictures.py", source / "generated/pictures")
    headers(source / "generated")
    c(source)
    go(source)
    python(source)
    rust(out, source / "generated/extra")
    java_page(source, java(source / "generated/extra"))
    shutil.rmtree(out / "html", ignore_errors=True)
    run(
        sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-E", "-b", "html", source, out / "html", cwd=source
    )
    return links.report(out / "html")


def serve(folder, port):
    handler = partial(http.server.SimpleHTTPRequestHandler, directory=folder)
    print(f"http://localhost:{port}/, until it is interrupted")
    http.server.ThreadingHTTPServer(("localhost", port), handler).serve_forever()


def main(out, arguments):
    failed = build(out)
    print(f"The site is in {out / 'html'}")
    if arguments[:1] == ["--serve"]:
        serve(out / "html", int(arguments[1]) if len(arguments) > 1 else 8000)
    return failed


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), sys.argv[2:]))
