"""Facts about the machine of a measurement."""

from __future__ import annotations

import importlib.metadata
import platform
from pathlib import Path

DISTRIBUTIONS = {"tensorflow": ("tensorflow-cpu", "tensorflow")}


def processor() -> str:
    """Returns a text such as "AMD EPYC, family 25, model 1". The brand of a virtual processor often has no model."""
    fields: dict[str, str] = {}
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        name, _, value = line.partition(":")
        fields.setdefault(name.strip(), value.strip())
    if "model name" not in fields:
        return platform.machine()
    return f"{fields['model name']}, family {fields['cpu family']}, model {fields['model']}"


def version_of(name: str) -> str | None:
    """Returns the version of an installed package."""
    for distribution in DISTRIBUTIONS.get(name, (name,)):
        try:
            return importlib.metadata.version(distribution)
        except importlib.metadata.PackageNotFoundError:
            continue
    return None
