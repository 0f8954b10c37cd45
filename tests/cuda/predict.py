"""predict.py --write|--check TESTS RESOURCES SASS: docs/cuda-kernels.md, what is predicted of the kernels.

TESTS is the program cuda_ptx90, whose tests of costs are run; RESOURCES is what ptxas says of the kernels (-v), SASS
what nvdisasm prints of them.
"""

import collections
import pathlib
import re
import subprocess
import sys

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "cuda-kernels.md"

REGISTERS, REGISTER_UNIT = 65536, 256  # of a multiprocessor; of a warp
BLOCK_WARPS, MOST_WARPS = 8, 64
# 132 multiprocessors of four schedulers at 1.98 GHz, 4.8 TB/s: issue slots for 512 bytes that are read and written.
BUDGET = round(132 * 4 * 1.98e9 * 1024 / 4.8e12)

COPIES = ("rows of 16 B", "rows of 8 B", "rows of 4 B", "rows of 2 B", "rows of 1 B", "stream")
JOBS = {
    "Index4, Job<1, 1>": "direct, 4 B indices",
    "Index8, Job<1, 1>": "direct, 8 B indices",
    "AnyIndex, Job<4, 8>": "small, any indices",
    "AnyIndex, Job<65, 64>": "any, any indices",
}

INTRODUCTION = """# Predictions of the CUDA kernels

Written by `tests/cuda/predict.py` out of what the compiler and the disassembler say of the kernels for compute
capability 9.0. **Nothing here was measured on a GPU**: it is arithmetic, held up to date by a test so that a change of
the kernels shows what it costs before one is at hand.

## Kernels

A *copying* kernel is named after its vectors (`Copy` in `cuda/kernels.hpp`) and its job: *direct* jobs have one line of
tuples of one aligned index, *small* ones up to 4 loops and 8 components, *any* the rest. *Blocks* of 256 threads are
resident on a multiprocessor at once, by their registers; the library asks the device for the number. What a kernel
spills are some words of a thread and round, which the nearest cache holds: to spill none it would need the registers of
one block more. Streams of *small* jobs get them, which would spill 344 bytes.
"""

COSTS = f"""## Issue slots

Instructions of the machine that warps issue for each 512 bytes of an output (or each 32 tuples that are judged), where
threads of a warp that part take one path after the other. What is counted is the PTX, run thread by thread by
`tests/cuda/ptx`, and for each of its lines the instructions that were made of it. An H200 has {BUDGET} slots in the
time in which its memory reads and writes 512 bytes, by its data sheet: what takes more cannot go at the pace of memory.
Rows of less than a sector of 32 bytes, or across more sectors than they fill, take longer to read, and have more.

Streams of several indices a tuple take more than there is: each of a thread's vectors may be of another row, and of
two, so each thread decodes up to eight tuples for four vectors, where threads of other kernels share that by fours.
Threads next to each other mostly have the same rows, and could share them as well; that is left until a GPU shows what
it would save.
"""


def demangled(names):
    def rename(match):
        return "12_GLOBAL__N_1" + match[2][int(match[1]) :]

    given = "\n".join(re.sub(r"(\d+)(_GLOBAL__N_.*)", rename, name) for name in names)
    shown = subprocess.run(["c++filt"], input=given, check=True, capture_output=True, text=True).stdout.splitlines()
    return dict(zip(names, shown, strict=True))


def label(kernel):
    """A name for readers, of a demangled one."""
    kernel = kernel.replace("gather::cuda::", "").replace("(anonymous namespace)::", "").replace("void ", "")
    if match := re.match(r"copy_kernel<\(Copy\)(\d), (.*?) >", kernel):
        return f"{COPIES[int(match[1])]}: {JOBS[match[2].replace(' >', '>')]}"
    if match := re.match(r"validate_kernel<(.*?) >", kernel):
        return f"judging: {JOBS[match[1].replace(' >', '>')]}"
    return kernel.partition("<")[0].partition("(")[0].replace("_kernel", "").replace("_", " ")


def read_resources(text):
    """By mangled name: (registers, bytes spilled)."""
    found = {}
    for part in text.split("Compiling entry function '")[1:]:
        name = part.partition("'")[0]
        spilled = re.search(r"Function properties for " + re.escape(name) + r"\s+.*?, (\d+) bytes spill stores", part)
        found[name] = int(re.search(r"Used (\d+) registers", part)[1]), int(spilled[1])
    return found


def count_instructions(text):
    """By mangled name of a kernel, with its copies of functions."""
    counts = collections.Counter()
    name = None
    for line in text.splitlines():
        if match := re.match(r"\s*\.section\s+\.text\.([\w$]+)", line):
            name = match[1]
        elif re.match(r"\s*/\*[0-9a-f]{4,}\*/\s+[^/\s]", line) and not re.search(r"\sNOP\s*;", line):
            counts[name] += 1
    return counts


def resident_blocks(registers):
    of_warp = -(-registers * 32 // REGISTER_UNIT) * REGISTER_UNIT
    return min(MOST_WARPS // BLOCK_WARPS, REGISTERS // of_warp // BLOCK_WARPS)


def table(head, rows):
    rows = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in rows) + "\n"


def kernels_table(resources, instructions):
    names = demangled(list(resources))
    rows = []
    for name, (registers, spilled) in resources.items():
        blocks = resident_blocks(registers)
        occupancy = f"{100 * blocks * BLOCK_WARPS // MOST_WARPS} %"
        rows.append([label(names[name]), registers, spilled, blocks, occupancy, instructions[name]])
    head = ["kernel", "registers", "bytes spilled", "blocks", "occupancy", "instructions"]
    return table(head, sorted(rows))


def costs_table(printed):
    rows = []
    for line in printed.splitlines():
        if line.startswith("COST "):
            case, kernel, unit, cost = line.removeprefix("COST ").split(" | ")
            rows.append([case, label(kernel), unit, cost])
    return table(["case", "kernel", "for", "issue slots"], list(map(list, dict.fromkeys(map(tuple, rows)))))


def page(tests, resources, sass):
    command = [tests, "--gtest_filter=Cost.*"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    kernels = kernels_table(read_resources(resources.read_text()), count_instructions(sass.read_text()))
    return "\n".join([INTRODUCTION, kernels, COSTS, costs_table(printed)])


def main():
    mode, tests, resources, sass = sys.argv[1:]
    text = page(tests, pathlib.Path(resources), pathlib.Path(sass))
    if mode == "--write":
        PAGE.write_text(text)
    elif mode != "--check" or not PAGE.exists() or PAGE.read_text() != text:
        sys.exit(f"{PAGE} is not what the kernels come to: run {pathlib.Path(__file__).name} --write")


main()
