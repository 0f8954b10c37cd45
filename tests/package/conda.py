"""Builds and tests the conda packages with their recipe: conda.py FOLDER [CHANNEL]

Without a CHANNEL nothing is downloaded. Empty packages replace the requirements of the recipe, and the build uses the
tools of this machine. Requires py-rattler-build and patchelf.
"""

import platform
import sys
import sysconfig
import tempfile
from pathlib import Path

import rattler_build

RECIPE = Path(__file__).resolve().parents[2] / "src/package/conda/recipe.yaml"
# The requirements of the recipe except Python.
STAND_INS = ("gxx_linux-64", "gxx_linux-aarch64", "cmake", "ninja", "pip", "scikit-build-core", "cffi")

STAND_IN = """
schema_version: 1
package: {{name: {name}, version: "{version}"}}
build: {{script: {script}}}
about: {{license: Apache-2.0}}
"""

# A wrapper of this Python. It installs into the environment that contains the wrapper, and imports packages from there.
PYTHON = """#!/bin/sh
prefix=$(cd "$(dirname "$0")/.." && pwd)
export PIP_PREFIX="$prefix" PYTHONPATH="$prefix{packages}"
exec "{python}" "$@"
"""


def make(recipe, folder, channel):
    """Builds and tests packages with the requirements from a channel. Writes them to a folder."""
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
