"""Compares the files of a root before the installation of a package with those after its removal."""

import hashlib
import os
import stat
from fnmatch import fnmatch

#: The mounts of a running root.
MOUNTS = ("dev", "proc", "sys")

#: What apt, pip and the compilers of a root write themselves: caches, logs and locks. A file with the name of libgather
#: is a trace in these folders, too.
OTHERS = (
    "root/.cache",  # the folder itself, which several programs use
    "root/.cache/pip",
    "root/.cache/go-build",
    "root/.config",
    "root/.config/go",
    "root/.cargo",
    "root/go",
    "root/.wine",
    "run",
    "tmp/hsperfdata_root",
    "var/cache/apt",
    "var/cache/debconf",
    "var/cache/ldconfig",
    "var/lib/apt",
    "var/lib/dpkg/*-old",
    "var/lib/dpkg/lock*",
    "var/lib/dpkg/triggers/Lock",
    "var/log",
    "*/__pycache__",
)
OURS = "*gather*"


def contents(path, mode):
    """Returns what identifies the contents of a file or link."""
    if stat.S_ISLNK(mode):
        return os.readlink(path)
    if stat.S_ISREG(mode):
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    return ""


def snapshot(root):
    """Returns the mode, owner and contents of each file and folder, by its path in the root."""
    found = {}
    for folder, folders, files in os.walk(root):
        if folder == str(root):
            folders[:] = set(folders) - set(MOUNTS)
        for name in (*folders, *files):
            path = os.path.join(folder, name)
            state = os.lstat(path)
            found[os.path.relpath(path, root)] = state.st_mode, state.st_uid, contents(path, state.st_mode)
    return found


def is_of_others(path):
    return not fnmatch(path, OURS) and any(fnmatch(path, each) or fnmatch(path, f"{each}/*") for each in OTHERS)


def traces(before, after):
    """Returns a line for each file or folder that was added, changed or removed."""
    states = {
        "added": after.keys() - before.keys(),
        "removed": before.keys() - after.keys(),
        "changed": {path for path in before.keys() & after.keys() if before[path] != after[path]},
    }
    return [f"{state}: {path}" for state, paths in states.items() for path in sorted(paths) if not is_of_others(path)]
