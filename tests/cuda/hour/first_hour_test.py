"""Runs first_hour.py with programs that end in every way that a step can. A step that did not run has not passed."""

import sys
import tarfile
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import first_hour
from first_hour import FAILED, PASSED, SKIPPED, Step

GOOGLE_TEST = """echo '[==========] {all} tests from 2 test suites ran. (5 ms total)'
echo '[  PASSED  ] {passed} tests.'
[ {skipped} = 0 ] || echo '[  SKIPPED ] {skipped} tests, listed below:'
"""


class Steps(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.bundle = Path(self.folder.name) / "bundle"
        self.out = Path(self.folder.name) / "out"
        self.bundle.mkdir()
        self.out.mkdir()

    def tearDown(self):
        self.folder.cleanup()

    def perform(self, *scripts, seconds=60, **how):
        steps = []
        for number, script in enumerate(scripts):
            (self.bundle / f"step{number}").write_text(script)
            steps.append(Step(f"step {number}", ("sh", f"step{number}"), seconds, **how))
        return first_hour.perform_part("part", steps, self.out, self.bundle, lambda text: None)

    def expect(self, script, how, why="", **settings):
        (outcome,) = self.perform(script, **settings)
        assert outcome.how == how, outcome.why
        assert why in outcome.why

    def test_a_program_that_succeeds(self):
        self.expect("exit 0", PASSED)

    def test_a_program_that_fails(self):
        self.expect("exit 2", FAILED, "exit status 2")
        self.expect("kill -SEGV $$", FAILED, "exit status -11")

    def test_a_program_that_skips_itself(self):
        self.expect("echo why; exit 77", SKIPPED, "why")
        self.expect("exit 77", SKIPPED, "it does not say why")

    def test_a_program_without_a_device(self):
        self.expect("echo there is no CUDA device", SKIPPED, "there is no CUDA device")
        self.expect("echo there is no CUDA device; exit 1", FAILED)

    def test_tests_that_skip_themselves(self):
        self.expect(GOOGLE_TEST.format(all=9, passed=9, skipped=0), PASSED)
        self.expect(GOOGLE_TEST.format(all=9, passed=7, skipped=2), PASSED, "2 of its tests skipped themselves")
        self.expect(GOOGLE_TEST.format(all=9, passed=0, skipped=9), SKIPPED, "every test skipped itself")
        self.expect(GOOGLE_TEST.format(all=0, passed=0, skipped=0), SKIPPED)
        brief = GOOGLE_TEST.replace(", listed below:", ".")
        self.expect(brief.format(all=9, passed=0, skipped=9), SKIPPED)
        self.expect("echo '==== 3 passed, 2 skipped in 0.1s ===='", PASSED, "2 of its tests")
        self.expect("echo '==== 4 skipped in 0.1s ===='", SKIPPED)
        self.expect("echo '==== no tests ran in 0.1s ===='", SKIPPED)

    def test_a_program_that_does_not_end(self):
        begin = time.monotonic()
        self.expect("sleep 600 & sleep 600", FAILED, "not done after 1 s", seconds=1)
        assert time.monotonic() - begin < 300

    def test_what_a_step_needs(self):
        self.expect("exit 0", SKIPPED, "there is no ./nothing", needs=("./nothing",))
        self.expect("exit 0", SKIPPED, "there is no no-such-command", needs=("no-such-command",))
        self.expect("exit 0", PASSED, needs=("./step0", "sh"))

    def test_a_command_that_cannot_be_run(self):
        (outcome,) = first_hour.perform_part(
            "part", [Step("x", ("./nothing",), 5)], self.out, self.bundle, lambda _: None
        )
        assert outcome.how == FAILED

    def test_the_environment(self):
        self.expect('[ "$GIVEN" = yes ] && [ "${LD_LIBRARY_PATH%%:*}" = "$PWD" ]', PASSED, environment={"GIVEN": "yes"})

    def test_what_is_left(self):
        outcomes = self.perform("echo one", "echo two; exit 1", "exit 77")
        assert sorted(path.name for path in self.out.iterdir()) == ["part.tar.gz", "part.txt"]
        lines = (self.out / "part.txt").read_text().splitlines()
        assert [line.split()[0] for line in lines] == [PASSED, FAILED, SKIPPED]
        with tarfile.open(self.out / "part.tar.gz") as archive:
            assert archive.extractfile("part/2-step-1.log").read() == b"two\n"
        assert first_hour.status_of(outcomes) == 1

    def test_the_exit_status(self):
        assert first_hour.status_of(self.perform("exit 0", "exit 0")) == 0
        assert first_hour.status_of(self.perform("exit 0", "exit 77")) == 3
        assert first_hour.status_of(self.perform("exit 1", "exit 77")) == 1
        assert first_hour.status_of([]) == 3

    def test_the_exit_status_of_a_rehearsal(self):
        assert first_hour.status_of(self.perform("exit 77", "exit 77"), is_rehearsal=True) == 0
        assert first_hour.status_of(self.perform("exit 0", "exit 77"), is_rehearsal=True) == 3
        assert first_hour.status_of(self.perform("exit 1", "exit 77"), is_rehearsal=True) == 1
        assert first_hour.status_of([], is_rehearsal=True) == 3


class Plan(unittest.TestCase):
    def test_parts_fit_into_ten_minutes(self):
        for name, steps in first_hour.PARTS.items():
            assert sum(step.seconds for step in steps) < 600, name

    def test_halves_have_all_parts_and_fit_into_28_minutes(self):
        assert sorted(part for half in first_hour.HALVES.values() for part in half) == sorted(first_hour.PARTS)
        for name in first_hour.HALVES:
            parts = first_hour.parts_of([name])
            assert sum(step.seconds for part in parts for step in first_hour.PARTS[part]) <= 28 * 60, name

    def test_a_part_needs_no_file_of_another_part(self):
        for name, steps in first_hour.PARTS.items():
            commands = [step.command for step in steps]
            for number, step in enumerate(steps):
                if "python/site" in step.needs:
                    assert ("sh", "install.sh") in commands[:number], name

    def test_steps_by_number(self):
        cuda = first_hour.PARTS["cuda"]
        assert first_hour.steps_of("cuda") == cuda
        assert [first_hour.steps_of(f"cuda.{number + 1}") for number in range(len(cuda))] == [(step,) for step in cuda]
        for name in ("cuda.0", "cuda.9", "cuda.", "cuda.x", "none", "none.1", ""):
            assert not first_hour.steps_of(name), name

    def test_steps_name_what_they_run(self):
        for steps in first_hour.PARTS.values():
            for step in steps:
                assert step.needs, step.name
                assert set(step.command) & set(step.needs) or step.command[0] == "sh", step.name

    def test_scripts_of_the_tree_are_there(self):
        here = Path(first_hour.__file__).parent
        for name in ("machine.sh", "install.sh", "torch_hour.py"):
            assert (here / name).is_file()


if __name__ == "__main__":
    unittest.main()
