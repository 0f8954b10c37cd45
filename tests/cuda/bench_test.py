"""bench_test.py LIBRARY: tests the driver of the benchmark on the emulated device, and the evaluation of its
results."""

import ctypes
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).parent
LIBRARY = pathlib.Path(sys.argv.pop(1)).resolve()
SECTIONS = (
    "Machine",
    "Where others are ahead",
    "Method",
    "Limits",
    "Rows",
    "Indices of int32",
    "A misaligned table",
    "Large outputs",
    "Tables",
    "Distributions",
    "gather_nd",
    "Axis and batch dims",
    "Counts",
    "Host time",
    "Left out",
)

sys.path.insert(0, str(HERE))
from bench import cases, contenders, library, memory  # noqa: E402
from bench.analysis import Measured  # noqa: E402


def rehearse(folder, *options):
    """Runs a rehearsal and returns its report and results."""
    report = pathlib.Path(folder, "report.md")
    command = [sys.executable, "-B", "-m", "bench", "--library", LIBRARY, "--output", report, "--rehearse", *options]
    subprocess.run(command, check=True, cwd=HERE, stderr=subprocess.DEVNULL)
    return report.read_text(), json.loads((report.with_suffix("") / "results.json").read_text())


class Rehearsal(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.text, cls.results = rehearse(cls.folder.name, "--peers", "numpy")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_every_section_is_there(self):
        titles = [line[3:] for line in self.text.splitlines() if line.startswith("## ")]
        self.assertEqual(titles, list(SECTIONS))
        self.assertNotIn("Not measured.", self.text)

    def test_it_is_labelled(self):
        self.assertIn("no figure here means anything", self.text)

    def test_every_cell_is_measured_and_right(self):
        keys = [cases.from_json(fields).key for fields in self.results["plan"]]
        self.assertEqual(sorted(found["key"] for found in self.results["cells"]), sorted(keys))
        self.assertEqual(len(set(keys)), len(keys))
        self.assertEqual({name for found in self.results["cells"] for name in found["wrong"]}, set())
        self.assertEqual((self.results["left_out"], self.results["failures"]), ({}, []))

    def test_every_contender_takes_part_in_every_round(self):
        for found in self.results["cells"]:
            ways = 9 if found["key"].startswith("host") else 1
            self.assertEqual({len(times) for times in found["times"].values()}, {ways * self.results["rounds"]})
            self.assertTrue(all(each > 0 for times in found["times"].values() for each in times))

    def render(self, results):
        """Returns the report for the given results."""
        folder = pathlib.Path(self.folder.name, "again")
        folder.mkdir(exist_ok=True)
        (folder / "given.json").write_text(json.dumps(results))
        command = [
            sys.executable,
            "-B",
            "-m",
            "bench",
            "--output",
            folder / "report.md",
            "--render",
            folder / "given.json",
        ]
        subprocess.run(command, check=True, cwd=HERE)
        return (folder / "report.md").read_text()

    def test_results_give_the_report_again(self):
        self.assertEqual(self.render(self.results), self.text)

    def test_wrong_results_are_told(self):
        results = json.loads(json.dumps(self.results))
        for found in results["cells"]:
            for name in [name for name, role in found["roles"].items() if role == "ours"]:
                del found["times"][name], found["roles"][name]
                found["wrong"][name] = 12
        results["failures"] = ["a wrong result"]
        text = self.render(results)
        self.assertIn("**Failures:**\n\n- a wrong result\n", text)
        self.assertIn("error: its result is wrong in 12 bytes", text)


class Budget(unittest.TestCase):
    def test_what_there_is_no_time_for_is_left_out_and_listed(self):
        with tempfile.TemporaryDirectory() as folder:
            began = time.monotonic()
            text, results = rehearse(folder, "--peers", "none", "--budget", "0.1")
            self.assertLess(time.monotonic() - began, 60)
        measured = {found["key"] for found in results["cells"]}
        keys = {cases.from_json(fields).key for fields in results["plan"]}
        self.assertEqual(measured | set(results["left_out"]), keys)
        self.assertTrue(results["left_out"])
        left_out = text.partition("## Left out")[2]
        for key in results["left_out"]:
            self.assertIn(f"- {key}: no time was left\n", left_out)

    def test_one_cell_is_measured_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            _, results = rehearse(folder, "--peers", "none", "--rounds", "1", "--cell", "100,10000000")
        self.assertEqual(
            [(cell["row"], cell["n"]) for cell in results["plan"]], [(100, cases.RehearsalSizes().n(10**7))]
        )
        self.assertEqual(len(results["cells"]), 1)

    def test_docs_get_no_rehearsal(self):
        command = [
            sys.executable,
            "-B",
            "-m",
            "bench",
            "--library",
            LIBRARY,
            "--output",
            "docs/x.md",
            "--rehearse",
        ]
        ended = subprocess.run(command, cwd=HERE, capture_output=True, text=True)
        self.assertEqual(ended.returncode, 1)
        self.assertIn("no report for docs/", ended.stderr)


class Plan(unittest.TestCase):
    def test_cells_of_a_real_run(self):
        plan = cases.plan(cases.Sizes(65 * cases.GIB))
        self.assertEqual({cell.row for cell in plan} & {1, 3, 4, 32, 64, 65536}, {1, 3, 4, 32, 64, 65536})
        self.assertEqual((min(cell.table for cell in plan), max(cell.table for cell in plan)), (1 << 20, 64 << 30))
        self.assertEqual((min(cell.n for cell in plan), max(cell.n for cell in plan)), (1, 1 << 28))
        self.assertTrue({264, 272, 400, 528, 1200} <= {cell.row for cell in plan if cell.section == "rows"})
        self.assertEqual(max(cell.output for cell in plan), 3 * cases.GIB)
        self.assertEqual({cell.depth for cell in plan}, set(range(6)))
        self.assertEqual([cell.priority for cell in plan], sorted(cell.priority for cell in plan))
        for cell in plan:
            self.assertLessEqual(cell.params_bytes, cell.table, cell.key)
            if cell.index_bytes == 4:
                self.assertLess(cell.size, 1 << 31, cell.key)

    def test_large_outputs_are_for_large_cards(self):
        outputs = [cell.output for cell in cases.plan(cases.Sizes(126 * cases.GIB))]
        self.assertEqual(max(outputs), 12 * cases.GIB)

    def test_small_cards_have_small_tables_and_outputs(self):
        plan = cases.plan(cases.Sizes(20 * cases.GIB))
        self.assertEqual(max(cell.table for cell in plan), 20 << 30)
        self.assertEqual(max(cell.output for cell in plan), 1 << 30)

    def test_counts_around_the_limit_of_validation_inside(self):
        counts = {cell.n for cell in cases.plan(cases.Sizes(20 * cases.GIB)) if cell.section == "counts"}
        self.assertTrue({1000, 4096, 5000, 10**4, 3 * 10**4, 10**5} <= counts)


class Device(unittest.TestCase):
    """Helpers that check results."""

    cell = cases.Cell("rows", 0, row=12, table=1200, n=50)

    def setUp(self):
        self.library = library.Library(str(LIBRARY))
        self.memory = memory.Memory(self.library)
        self.memory.reserve([self.cell])
        self.memory.reserve_table(self.cell, lambda: None)
        self.operands = memory.Operands(self.memory, self.cell)
        self.library.make_indices(self.operands.rows, 8, self.cell.n, self.cell.size, 0)
        self.library.set_geometry(self.operands.rows, 8, 1, 1, self.cell.size, self.cell.n, self.cell.row, 0)
        self.gather = contenders.Gather(self.library, self.cell, self.operands, False, contenders.ERROR)

    def tearDown(self):
        self.gather.release()

    def test_a_wrong_byte_is_found(self):
        self.gather.once()
        self.assertEqual(self.library.wrong_bytes(self.operands.out), 0)
        byte = ctypes.c_uint8.from_address(self.operands.out + 599)
        byte.value ^= 1
        self.assertEqual(self.library.wrong_bytes(self.operands.out), 1)

    def test_a_bad_index_fails(self):
        ctypes.c_int64.from_address(self.operands.rows + 8).value = 100
        with self.assertRaisesRegex(library.DeviceError, "GTH_E_INDEX"):
            self.gather.once()

    def test_sectors_are_counted(self):
        indices = [ctypes.c_int64.from_address(self.operands.rows + 8 * i).value for i in range(50)]
        for found, size in zip(self.library.sectors(), (32, 64), strict=True):
            self.assertEqual(found, sum((12 * i + 11) // size - 12 * i // size + 1 for i in indices))

    def test_indices_are_of_their_distribution(self):
        def make(number):
            self.library.make_indices(self.operands.rows, 8, 50, 1000, number)
            return [ctypes.c_int64.from_address(self.operands.rows + 8 * i).value for i in range(50)]

        uniform, ascending, zipf = (make(number) for number in range(3))
        for indices in (uniform, ascending, zipf):
            self.assertTrue(all(0 <= each < 1000 for each in indices))
        self.assertEqual(ascending, sorted(ascending))
        self.assertGreater(len(set(uniform)), 40)
        self.assertLess(len(set(zipf)), 40)


class Shares(unittest.TestCase):
    """Invented values: 2 GB/s for copies, 1 GB/s for random reads."""

    cell = cases.Cell("rows", 0, row=32, table=cases.GIB, n=1000)

    def measured(self, clamp, error, peer):
        moved = 72000
        seconds = {
            contenders.MEMCPY: moved / 2e9,
            contenders.COPY: moved / 1e9,
            contenders.PROBE: 32000 / 1e9,
            contenders.CLAMP: clamp,
            contenders.ERROR: error,
            "peer": peer,
        }
        roles = dict.fromkeys(seconds, "limit") | {"clamp": "ours", "error": "ours", "peer": "peer"}
        found = {"times": {name: [each] * 3 for name, each in seconds.items()}, "roles": roles}
        return Measured(self.cell, found | {"absent": {}, "wrong": {}, "sectors_32": 1000, "sectors_64": 1000})

    def test_shares(self):
        measured = self.measured(80e-6, 90e-6, 100e-6)
        self.assertAlmostEqual(measured.share("clamp"), 0.9)
        self.assertAlmostEqual(measured.share("error"), 0.8)


unittest.main()
