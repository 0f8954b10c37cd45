"""Writes docs/cuda-kernels.md, the predicted costs of the kernels: predict.py --write|--check TESTS RESOURCES SASS

TESTS is the program cuda_ptx90. Its tests of costs are run. RESOURCES is the output of ptxas -v for the kernels. SASS
is the output of nvdisasm for them.
"""

import collections
import pathlib
import re
import subprocess
import sys

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "cuda-kernels.md"

REGISTERS, REGISTER_UNIT = 65536, 256  # registers of a multiprocessor; unit in which a warp gets them
BLOCK_WARPS, MOST_WARPS = 8, 64
# An H200 has 132 multiprocessors with four schedulers at 1.98 GHz, and 4.8 TB/s. The budget is the number of issue
# slots in the time of reading and writing 512 bytes.
BUDGET = round(132 * 4 * 1.98e9 * 1024 / 4.8e12)

COPIES = ("rows of 16 B", "rows of 8 B", "rows of 4 B", "rows of 2 B", "rows of 1 B", "stream", "words")
COPIES += ("elements of 4 B", "elements of 2 B", "elements of 1 B")
JOBS = {
    "Index4, Job<1, 1>": "direct, 4 B indices",
    "Index8, Job<1, 1>": "direct, 8 B indices",
    "AnyIndex, Job<4, 8>": "small, any indices",
    "AnyIndex, Job<65, 64>": "any, any indices",
}

INTRODUCTION = """# Predictions of the CUDA kernels

`tests/cuda/predict.py` writes this page from the output of the compiler and the disassembler for compute capability
9.0. **Nothing here was measured on a GPU.** The values are computed. A test compares this page with the kernels, so
that a change of the kernels shows its predicted cost.

## Kernels

The name of a copying kernel has its vector size (`Copy` in `cuda/kernels.hpp`) and its kind of job. A *direct* job has
one line of tuples with one aligned index. A *small* job has up to 4 loops and 8 components. *any* means all other jobs.

*blocks* is the number of blocks of 256 threads that fit on a multiprocessor at the same time. It follows from the
number of registers. The library queries it from the device. The spilled bytes are a few words per thread and
iteration, and stay in the L1 cache. A kernel without spills would need more registers, and one block less would fit.
Only *stream* and *words* kernels with *small* jobs use that many registers, because they would spill hundreds of bytes.

*words* kernels copy rows of whole words of 4 bytes. Each thread of a warp resolves one row, and the warp exchanges the
addresses of the rows. *elements* kernels copy rows of 4, 2 or 1 bytes. A thread resolves neighbouring rows, computes
their place once, and stores 16 bytes.
"""

COSTS = f"""## Issue slots

The table counts the machine instructions that warps issue for each 512 bytes of output, or for each 32 validated
tuples. Diverged threads of a warp execute their paths one after the other. `tests/cuda/ptx` executes the PTX thread by
thread. Each PTX line counts as the number of machine instructions that ptxas made from it.

By its data sheet, an H200 has {BUDGET} issue slots in the time in which its memory reads and writes 512 bytes. A kernel
that needs more slots is slower than the memory. The budget is larger for rows below a sector of 32 bytes, and for rows
that use more sectors than they fill, because reading them takes longer.

The indices count, too: 512 bytes of elements of 4 bytes have 1,024 bytes of indices, so 446 slots are available. Of
elements of 2 bytes it is 669, and of 1 byte 1,115.
"""


def demangled(names):
    def rename(match):
        return "12_GLOBAL__N_1" + match[2][int(match[1]) :]

    given = "\n".join(re.sub(r"(\d+)(_GLOBAL__N_.*)", rename, name) for name in names)
    shown = subprocess.run(["c++filt"], input=given, check=True, capture_output=True, text=True).stdout.splitlines()
    return dict(zip(names, shown, strict=True))


def label(kernel):
    """Returns the name of a kernel on the page, from its demangled name."""
    kernel = kernel.replace("gather::cuda::", "").replace("(anonymous namespace)::", "").replace("void ", "")
    if match := re.match(r"copy_kernel<\(Copy\)(\d), (.*?) >", kernel):
        return f"{COPIES[int(match[1])]}: {JOBS[match[2].replace(' >', '>')]}"
    if match := re.match(r"validate_kernel<(.*?) >", kernel):
        return f"validating: {JOBS[match[1].replace(' >', '>')]}"
    return kernel.partition("<")[0].partition("(")[0].replace("_kernel", "").replace("_", " ")


def read_resources(text):
    """Returns (registers, bytes spilled) by mangled name."""
    found = {}
    for part in text.split("Compiling entry function '")[1:]:
        name = part.partition("'")[0]
        spilled = re.search(r"Function properties for " + re.escape(name) + r"\s+.*?, (\d+) bytes spill stores", part)
        found[name] = int(re.search(r"Used (\d+) registers", part)[1]), int(spilled[1])
    return found


def count_instructions(text):
    """Returns the number of instructions by mangled name. It includes the functions that are linked into a kernel."""
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
        sys.exit(f"{PAGE} is out of date: run {pathlib.Path(__file__).name} --write")


main()
