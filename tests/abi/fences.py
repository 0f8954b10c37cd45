"""Usage: fences.py LIBRARY Checks the machine code of a library for x86-64: after a non-temporal store, sfence is
executed before the kernel returns. Without it, another thread may see a later store first. A function may leave the
fence to its callers, if all of them call it directly. Exits with 77 if the library is for another machine."""

import re
import subprocess
import sys
from dataclasses import dataclass

STREAMS, FENCE = re.compile(r"v?movnt(?!dqa)"), re.compile(r"[sm]fence")
LINE = re.compile(r"\s*([0-9a-f]+):\t(?:notrack |bnd )?([a-z0-9]+)\s*([^#]*)(?:#.*<(.*?)>)?")
TARGET = re.compile(r"([0-9a-f]+) <(.*?)(?:\+0x[0-9a-f]+)?>")


@dataclass
class Instruction:
    address: int
    mnemonic: str
    target: int  # of a jump or a call, or -1
    callee: str  # the function that contains the target, or ""
    mentions: str  # the function whose address is computed, or ""


def read_instruction(match):
    found = TARGET.match(match[3])
    target, callee = (int(found[1], 16), found[2]) if found else (-1, "")
    return Instruction(int(match[1], 16), match[2], target, callee, match[4] or "")


def functions(library):
    """Returns the instructions of each function by its name."""
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", library], check=True, capture_output=True, text=True)
    found = {}
    for block in text.stdout.split("\n\n"):
        lines = block.strip().splitlines()
        if lines and (header := re.match(r"[0-9a-f]+ <(.*)>:", lines[0])):
            found[header[1]] = [read_instruction(match) for line in lines[1:] if (match := LINE.match(line))]
    return found


def leaves_open(instructions, open_callees):
    """Returns True if the function can return with an unfenced store, of its own or of a callee in open_callees."""
    places = {each.address: i for i, each in enumerate(instructions)}
    open_paths = [
        i + 1
        for i, each in enumerate(instructions)
        if STREAMS.match(each.mnemonic) or (each.mnemonic == "call" and each.callee in open_callees)
    ]
    visited = set()
    while open_paths:
        at = open_paths.pop()
        if at in visited or at >= len(instructions) or FENCE.match(instructions[at].mnemonic):
            continue
        visited.add(at)
        each = instructions[at]
        is_jump = each.mnemonic.startswith("j")
        if each.mnemonic == "ret" or (is_jump and each.target not in places):  # a return or a tail call
            return True
        if is_jump:
            open_paths.append(places[each.target])
        if each.mnemonic != "jmp":
            open_paths.append(at + 1)
    # A tail call of a function that leaves its stores unfenced.
    return any(each.mnemonic == "jmp" and each.callee in open_callees for each in instructions)


def find_open(code):
    """Returns the functions that can return with an unfenced store."""
    found, before = set(), None
    while found != before:
        before = set(found)
        found = {name for name, instructions in code.items() if leaves_open(instructions, before - {name})}
    return found


def main(library):
    machine = subprocess.run(["objdump", "-f", library], check=True, capture_output=True, text=True).stdout
    if "x86-64" not in machine:
        print("skipped: the library is not for x86-64")
        return 77
    code = functions(library)
    everything = [each for instructions in code.values() for each in instructions]
    streaming = [name for name, found in code.items() if any(STREAMS.match(each.mnemonic) for each in found)]
    called = {each.callee for each in everything if each.mnemonic in ("call", "jmp")}
    mentioned = {each.mentions for each in everything if each.mnemonic == "lea"}
    leaks = [name for name in find_open(code) if name not in called or name in mentioned]
    print(f"{len(streaming)} functions have non-temporal stores")
    for name in leaks:
        print(f"{name} returns without a fence after a non-temporal store")
    return 1 if leaks or not streaming else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
