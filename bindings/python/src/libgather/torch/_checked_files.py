"""Files of the user's cache: whether only this user may have written them, and whether they are complete.

A shared object ends with the digest of all bytes before it. A loader of ELF files does not read that.
"""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_DIGEST_BYTES = sha256().digest_size
#: What a new folder and a new shared object permit, whatever the umask is.
MODE = 0o755


def seal(path: Path) -> None:
    """Appends the digest to a new shared object, which only its owner may then write."""
    with path.open("r+b") as file:
        digest = sha256(file.read()).digest()
        file.write(digest)
    path.chmod(MODE)


@contextmanager
def checked(path: Path) -> Iterator[str]:
    """Yields the name by which a shared object of the cache is loaded.

    The name begins with a descriptor of the folder, so it stays valid if the folder is moved or replaced.

    Raises:
        ImportError: Another user may have written the file, it is a link, or it is not complete.
    """
    with opened_folder(path.parent) as folder:
        with _opened(path, path.name, os.O_NOFOLLOW | os.O_NONBLOCK, folder) as file:  # a FIFO would block
            _require_content(path, file)
        yield f"/proc/self/fd/{folder}/{path.name}"


@contextmanager
def opened_folder(path: Path) -> Iterator[int]:
    """Yields a descriptor of a folder. Raises ImportError if another user may write it."""
    with _opened(path, str(path), os.O_DIRECTORY) as folder:
        yield folder


@contextmanager
def _opened(path: Path, name: str, flags: int, folder: int | None = None) -> Iterator[int]:
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_CLOEXEC | flags, dir_fd=folder)
    except OSError as error:
        raise ImportError(f"{path} cannot be opened, or is a link: {error.strerror}") from None
    try:
        status = os.fstat(descriptor)
        if status.st_uid not in (0, os.geteuid()):
            raise ImportError(f"{path} belongs to another user")
        if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise ImportError(f"other users may write {path} (chmod go-w)")
        yield descriptor
    finally:
        os.close(descriptor)


def _require_content(path: Path, descriptor: int) -> None:
    content = b""
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        with open(descriptor, "rb", closefd=False) as file:
            content = file.read()
    if sha256(content[:-_DIGEST_BYTES]).digest() != content[-_DIGEST_BYTES:]:
        raise ImportError(f"{path} is not complete, or has been changed")
