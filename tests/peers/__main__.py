"""Records the results of other systems for the inputs of docs/hostile.md.

    PYTHON=... python3 tests/peers --record [SYSTEM...] [ENTRY...]

The program runs NumPy, torch, ONNX Runtime and TensorFlow, each in its own processes with a limit on memory and time.
It writes their results to answers.json. tests/reliability.py writes a part of docs/reliability.md from this file.
PYTHON is an interpreter that has them all (tests/conformance/record/requirements.txt).
"""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ANSWERS = HERE / "answers.json"
NAMES = ("numpy", "torch", "onnxruntime", "tensorflow")


def interpreter():
    return os.environ.get("PYTHON", sys.executable)


def run(system, names):
    """Returns the results that a worker printed before it ended, and the way in which it ended."""
    worker = subprocess.run(
        [interpreter(), HERE / "worker.py", system, *names],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONDONTWRITEBYTECODE": "1"},
        check=False,
    )
    return [json.loads(line) for line in worker.stdout.decode().splitlines()], worker.returncode


def ask(system, names):
    """Returns the result of a system for each input.

    If an input ends the process, it runs again in a process without other inputs.
    """
    found, version = {}, None
    while names:
        answers, code = run(system, names)
        for answer in answers:
            version = answer["version"]
            found[answer["input"]] = [answer["did"], answer["words"]]
        rest = names[len(answers) :]
        if code == 0 and rest:
            raise SystemExit(f"{system} tells nothing of {rest[0]}")
        if rest:
            alone, code = run(system, rest[:1])
            found[rest[0]] = [alone[0]["did"], alone[0]["words"]] if alone else end_of(code)
        names = rest[1:]
    return {"version": version, "answers": found}


def end_of(code):
    if code == -signal.SIGALRM:
        return ["hang", ""]
    return ["crash", signal.Signals(-code).name if code < 0 else f"exit code {code}"]


def inputs():
    listed = subprocess.run(
        [interpreter(), "-c", "import exchange, process, inputs; print(*inputs.INPUTS, sep='\\n')"],
        cwd=HERE,
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
        check=True,
    )
    names = listed.stdout.decode().split()
    return sorted(names, key=lambda name: (name[0], int(re.search(r"\d+", name)[0]), name))


def main():
    if sys.argv[1:2] != ["--record"]:
        raise SystemExit(__doc__)
    stored = json.loads(ANSWERS.read_text()) if ANSWERS.exists() else {}
    entries = [word for word in sys.argv[2:] if word not in NAMES]
    for system in [word for word in sys.argv[2:] if word in NAMES] or NAMES:
        told = ask(system, [name for name in inputs() if not entries or name.split(":")[0] in entries])
        known = stored.get(system, {}).get("answers", {}) if entries else {}
        stored[system] = {"version": told["version"], "answers": known | told["answers"]}
        ANSWERS.write_text(json.dumps({name: stored[name] for name in NAMES if name in stored}, indent=1) + "\n")


if __name__ == "__main__":
    main()
