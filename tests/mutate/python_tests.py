"""The tests of the Python package that execute a line. A mutant of the line needs no others."""

import ast
import hashlib
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE, Popen

from places import WORK

PLUGIN = Path(__file__).with_name("pytest_plugin")
# The files that a test runs in a process of its own. The last ones need the library that has an emulated CUDA device.
WITHOUT_NUMPY = ("lists_without_numpy.py",)
ON_EMULATED = ("emulated_devices.py", "emulated_streams.py", "failing_memory.py")
# The first of these need minutes. The others start processes in which no mutant is, or compare times.
NOT_RUN = ("test_leaks.py", "test_foreign.py", "test_notebooks.py", "test_package.py", "test_generated.py")
MOST = 5  # the time of a test in seconds, when it is traced
FIRST = 3  # files of tests, which run before the others
CRASH = "crash or time-out"


class Server:
    """A process that runs tests. It has already imported what they need, apart from the package."""

    def __init__(self, python, folder, environment):
        path = os.pathsep.join((environment["PYTHONPATH"], str(PLUGIN)))
        options = {"cwd": folder, "env": environment | {"PYTHONPATH": path}, "text": True, "bufsize": 1}
        self.process = Popen([python, PLUGIN / "pytest_server.py"], stdin=PIPE, stdout=PIPE, **options)

    def run(self, files, *options, **variables):
        """Returns the exit status and the output. The status is 0 if there is no such test."""
        words = ["-q", "-p", "no:cacheprovider", "-p", "lines_of_tests", "-c", "pyproject.toml", *options]
        output = WORK / "output_python.txt"
        variables = {key: str(value) for key, value in variables.items()}
        words += (f"tests/{file}" for file in files)
        print(json.dumps([words, str(output), variables]), file=self.process.stdin)
        status = int(self.process.stdout.readline())
        return 0 if status == 5 else status, output.read_text(errors="replace")


@dataclass(frozen=True)
class Group:
    """Files of tests, and the server that runs them."""

    files: tuple
    server: Server


def groups(python, folder, environment, emulated):
    plain = sorted(path.name for path in (folder / "tests").glob("test_*.py") if path.name not in NOT_RUN)
    server = Server(python, folder, environment)
    yield Group(tuple(plain), server)
    yield Group(WITHOUT_NUMPY, server)
    if emulated.is_file():
        yield Group(ON_EMULATED, Server(python, folder, environment | {"LD_PRELOAD": str(emulated)}))


class Tests:
    """The lines that each test executes. The file build/mutate/lines_python.json has them by file of tests.

    A file is measured again if it changes, or if a statement of the package moves to another line.
    """

    def __init__(self, python, folder, environment, emulated):
        self.folder, self.package = folder, folder / "src" / "libgather"
        self.groups = [*groups(python, folder, environment, emulated)]
        self.file, self.order = WORK / "lines_python.json", WORK / "chosen_tests.json"
        self.known = json.loads(self.file.read_text()) if self.file.is_file() else {}

    def measure(self):
        """Runs each file of tests that has changed. A test that fails when it is traced is not used."""
        statements = str([lines_of_statements(path) for path in sorted(self.package.rglob("*.py"))])
        for group in self.groups:
            for file in group.files:
                text = statements + (self.folder / "tests" / file).read_text()
                digest = hashlib.sha256(text.encode()).hexdigest()
                if self.known.get(file, [None])[0] != digest:
                    self.known[file] = (digest, self.traced(group, file))
                    self.file.write_text(json.dumps(self.known))

    def traced(self, group, file):
        result = WORK / "lines_of_a_file.json"
        result.write_text("{}")
        status, output = group.server.run([file], LINES_OF=self.package, LINES_TO=result)
        if status:
            print(f"{file} fails without a mutant:\n{output[-3000:]}", flush=True)
        return json.loads(result.read_text())

    def chosen(self, group, mutant):
        """Returns the tests of a group that execute a mutant, fastest first, by file.

        These are all tests of a file if the import of a module executes it, and the fastest one if a call during the
        import of the file does.
        """
        name = str(Path(mutant.file).relative_to("bindings/python/src/libgather"))
        whole, is_in_function = statement(self.package / name, mutant.line)
        by_file = {}
        for file in group.files:
            tests = self.known[file][1]
            executed = {test for test, (_, lines) in tests.items() if not whole.isdisjoint(lines.get(name, ()))}
            found = sorted((seconds, test) for test, (seconds, _) in tests.items() if test and seconds < MOST)
            if "" in executed:
                executed.update(test for _, test in (found[:1] if is_in_function else found))
            found = [timed for timed in found if timed[1] in executed]
            if found:
                by_file[file] = found
        return by_file

    def first_failure(self, mutant):
        """Returns the name of the file of tests that detects a mutant of the tree, or None. Few files run first."""
        try:
            compile((self.folder.parents[1] / mutant.file).read_text(), mutant.file, "exec")
        except SyntaxError:
            return "compiler"
        for group in self.groups:
            by_file = self.chosen(group, mutant)
            files = sorted(by_file, key=lambda file: -sum(seconds < 0.05 for seconds, _ in by_file[file]))
            for part in (files[:FIRST], files[FIRST:]):
                tests = sorted(timed for file in part for timed in by_file[file])
                found = self.failure(group, part, [test for _, test in tests])
                if found:
                    return found
        return None

    def failure(self, group, files, tests):
        """Returns the file of a test that fails twice, or None. The load of the machine may cause one failure.

        The second time the test runs alone. If it passes, all tests run again. The load causes no crash or time-out.
        """
        for _ in range(2):
            found = files and self.failed_file(group, files, tests)
            if not found:
                return None
            if found == CRASH or self.failed_file(group, [found], None):
                break
        return found.removeprefix("test_").removesuffix(".py")

    def failed_file(self, group, files, tests):
        """Runs tests, or those that failed last. Returns the file of the first one that fails, or None."""
        if tests is not None:
            self.order.write_text(json.dumps(tests))
        status, output = group.server.run(files, "-x", "--tb=no", "-rfE", CHOSEN_TESTS=self.order)
        failed = re.search(r"^(?:FAILED|ERROR) tests/(\w+\.py)", output, re.MULTILINE)
        return (failed[1] if failed else CRASH) if status else None


def lines_of_statements(file):
    return [node.lineno for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.stmt)]


def statement(file, number):
    """Returns the lines of the smallest statement around a line, without its body, and whether a function has it."""
    found, is_in_function = range(number, number + 1), False
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.stmt) and node.lineno <= number <= node.end_lineno:
            body = getattr(node, "body", None)
            last = max(body[0].lineno - 1, node.lineno) if body else node.end_lineno
            if number <= last:
                found = range(node.lineno, last + 1)
            elif isinstance(node, ast.FunctionDef):
                is_in_function = True
    return set(found), is_in_function
