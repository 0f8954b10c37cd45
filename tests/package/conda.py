"""Builds the conda packages by their recipe, and tests them as it says: conda.py FOLDER [CHANNEL]

Without a CHANNEL nothing is downloaded: what the recipe requires is stood in for by packages of the same names that
have nothing in them, and the tools are those of this machine. Needs py-rattler-build and patchelf.
"""

import platform
import sys
import sysconfig
import tempfile
from pathlib import Path

import rattler_build

RECIPE = Path(__file__).resolve().parents[2] / "src/package/conda/recipe.yaml"
# Of what the recipe requires, all but Python.
STAND_INS = ("gxx_linux-64", "gxx_linux-aarch64", "cmake", "ninja", "pip", "scikit-build-core", "cffi")

STAND_IN = """
schema_version: 1
package: {{name: {name}, version: "{version}"}}
build: {{script: {script}}}
about: {{license: Apache-2.0}}
"""

# This Python, which installs into the environment that it is called in, and finds what is installed there.
PYTHON = """#!/bin/sh
prefix=$(cd "$(dirname "$0")/.." && pwd)
export PIP_PREFIX="$prefix" PYTHONPATH="$prefix{packages}"
exec "{python}" "$@"
"""


def make(recipe, folder, channel):
    """Builds and tests into a folder, with what a channel has."""
    tools = rattler_build.ToolConfiguration(test_strategy="native")
    recipe.run_build(tool_config=tools, output_dir=folder, channels=[channel])


def stand_in(channel, name, version, script="'true'"):
    text = STAND_IN.format(name=name, version=version, script=script)
    make(rattler_build.Stage0Recipe.from_yaml(text), channel, f"file://{channel}")


def make_channel(channel):
    for subdir in ("noarch", "linux-64", "linux-aarch64"):
        (channel / subdir).mkdir()
        (channel / subdir / "repodata.json").write_text('{"packages": {}, "packages.conda": {}}')
    for name in STAND_INS:
        stand_in(channel, name, "999")
    wrapper = channel / "python"
    packages = sysconfig.get_path("purelib", vars={"base": ""})
    wrapper.write_text(PYTHON.format(packages=packages, python=sys.executable))
    stand_in(channel, "python", platform.python_version(), f"install -D -m 755 {wrapper} $PREFIX/bin/python")


def main():
    folder, *channels = sys.argv[1:]
    with tempfile.TemporaryDirectory() as temporary:
        channel = Path(temporary)
        if not channels:
            make_channel(channel)
        recipe = rattler_build.Stage0Recipe.from_file(RECIPE)
        make(recipe, Path(folder).resolve(), channels[0] if channels else f"file://{channel}")


if __name__ == "__main__":
    main()
