"""Runs quarter.py with programs that end in every way that a step can. A step that did not run has not passed."""

import subprocess
import sys
import tarfile
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import quarter
from quarter import CUT, FAILED, LEFT_OUT, PASSED, SKIPPED, Step


def google_test(passed=(), skipped=(), failed=()):
    """Returns a script that prints what GoogleTest prints."""
    lines = [f"[ RUN      ] {name}\n[       OK ] {name} (3 ms)" for name in passed]
    lines += [f"[ RUN      ] {name}\nwhy\n[  SKIPPED ] {name} (0 ms)" for name in skipped]
    lines += [f"[ RUN      ] {name}\nx\n[  FAILED  ] {name} (0 ms)" for name in failed]
    lines.append(f"[==========] {len(passed) + len(skipped) + len(failed)} tests from 2 test suites ran. (5 ms total)")
    lines.append(f"[  PASSED  ] {len(passed)} tests.")
    lines += [f"[  SKIPPED ] {len(skipped)} tests, listed below:"] * bool(skipped)
    lines += [f"[  SKIPPED ] {name}" for name in skipped]
    lines += [f"[  FAILED  ] {len(failed)} tests, listed below:"] * bool(failed)
    lines += [f"[  FAILED  ] {name}" for name in failed]
    return "cat <<'END'\n" + "\n".join(lines) + f"\nEND\nexit {int(bool(failed))}\n"


def run_script(*arguments):
    command = [sys.executable, "-B", quarter.__file__, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


class Steps(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.bundle = Path(self.folder.name) / "bundle"
        self.out = Path(self.folder.name) / "out"
        self.bundle.mkdir()
        self.out.mkdir()

    def tearDown(self):
        self.folder.cleanup()

    def perform(self, *scripts, seconds=60, left=60, **how):
        steps = []
        for number, script in enumerate(scripts):
            (self.bundle / f"step{number}").write_text(script)
            steps.append(Step(f"step{number}", seconds, ("sh", f"step{number}"), **how))
        deadline = time.monotonic() + quarter.CLOSING_SECONDS + left
        return quarter.perform_all(steps, self.out, self.bundle, deadline, lambda line: None)

    def expect(self, script, how, why="", **settings):
        (outcome,) = self.perform(script, **settings)
        assert (outcome.how, outcome.why) == (how, why), outcome

    def test_a_program_that_succeeds(self):
        self.expect("exit 0", PASSED)

    def test_a_program_that_fails(self):
        self.expect("exit 2", FAILED, "exit status 2")
        self.expect("kill -SEGV $$", FAILED, "exit status -11")
        self.expect("echo '[       OK ] A.B (3 ms)'; kill -SEGV $$", FAILED, "exit status -11 after 1 passed")

    def test_a_program_that_skips_itself(self):
        self.expect("echo why; exit 77", SKIPPED, "why")
        self.expect("exit 77", SKIPPED, "it gives no reason")

    def test_tests_that_pass_fail_or_skip_themselves(self):
        self.expect(google_test(["A.B", "A.C"]), PASSED, "2 passed")
        self.expect(google_test(["A.B", "A.C"], ["A.D"]), PASSED, "2 passed, 1 skipped")
        self.expect(google_test([], ["A.D"]), SKIPPED, "no test has run")
        self.expect(google_test(), SKIPPED, "no test has run")
        self.expect(google_test(["A.B"], [], ["A.C", "P/A.D/1"]), FAILED, "A.C, P/A.D/1")
        self.expect("echo '==== 3 passed, 2 skipped in 0.1s ===='", PASSED, "3 passed, 2 skipped")
        self.expect("echo '==== 4 skipped in 0.1s ===='", SKIPPED, "no test has run")
        self.expect("echo '==== no tests ran in 0.1s ===='", SKIPPED, "no test has run")
        self.expect("echo 'FAILED t.py::test_a - x'; exit 1", FAILED, "t.py::test_a")

    def test_a_program_that_does_not_end(self):
        begin = time.monotonic()
        self.expect("sleep 600 & sleep 600", CUT, seconds=1)
        self.expect("echo '[       OK ] A.B (3 ms)'; sleep 600", CUT, "1 passed", seconds=1)
        self.expect("echo '[  FAILED  ] A.B (3 ms)'; sleep 600", FAILED, "A.B", seconds=1)
        assert time.monotonic() - begin < 300

    def test_steps_are_cut_to_the_time_that_is_left(self):
        outcomes = self.perform("exec sleep 600", "exit 0", left=quarter.LEAST_SECONDS + 1)
        assert [outcome.how for outcome in outcomes] == [CUT, LEFT_OUT]
        assert quarter.status_of(outcomes) == 3

    def test_a_command_that_the_machine_lacks(self):
        self.expect("exit 0", SKIPPED, "there is no no-such-command", needs=("no-such-command",))
        (outcome,) = quarter.perform_all(
            [Step("x", 5, ("./nothing",))], self.out, self.bundle, time.monotonic() + 60, lambda line: None
        )
        assert outcome.how == FAILED

    def test_a_machine_without_a_device_runs_one_step(self):
        outcomes = self.perform("echo there is no CUDA device; exit 77", "exit 1")
        assert [outcome.how for outcome in outcomes] == [SKIPPED]
        assert quarter.status_of(outcomes) == 77

    def test_the_environment(self):
        self.expect('[ "$GIVEN" = yes ] && [ "${LD_LIBRARY_PATH%%:*}" = "$PWD" ]', PASSED, environment={"GIVEN": "yes"})

    def test_the_files_of_a_run(self):
        outcomes = self.perform("echo one", "echo two; exit 1", "exit 77")
        assert sorted(path.name for path in self.out.iterdir()) == ["quarter.tar.gz", "steps.txt"]
        lines = (self.out / "steps.txt").read_text().splitlines()
        assert [line.split()[0] for line in lines] == [PASSED, FAILED, SKIPPED]
        with tarfile.open(self.out / "quarter.tar.gz") as archive:
            assert archive.extractfile("quarter/step1.log").read() == b"two\n"
        assert quarter.status_of(outcomes) == 1

    def test_the_exit_status(self):
        assert quarter.status_of(self.perform("exit 0", "exit 0")) == 0
        assert quarter.status_of(self.perform("exit 0", "exit 77")) == 3
        assert quarter.status_of(self.perform("exit 1", "exit 77")) == 1
        assert quarter.status_of([]) == 3


class Plan(unittest.TestCase):
    def test_names_are_unique_and_are_chosen_in_order(self):
        names = [step.name for step in quarter.STEPS]
        assert len(set(names)) == len(names)
        assert [step.name for step in quarter.chosen_steps(["torch", "install"])] == ["install", "torch"]
        ended = run_script("--steps", "none", "unused")
        assert ended.returncode == 1
        assert "there is no step none" in ended.stderr

    def test_scripts_of_the_tree_exist(self):
        here = Path(quarter.__file__).parent
        named = {word for step in quarter.STEPS for word in step.command if "/" not in word}
        scripts = {word for word in named if word.endswith((".py", ".sh"))}
        assert scripts
        for name in scripts:
            assert (here / name).is_file(), name

    def test_the_help_lists_every_step(self):
        printed = run_script("--help").stdout
        for step in quarter.STEPS:
            assert step.name in printed


if __name__ == "__main__":
    unittest.main()
