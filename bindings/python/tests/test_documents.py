"""Runs the examples of documents and docstrings, and checks the annotations."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import libgather
from conftest import BINDING

DOCS = BINDING.parents[1] / "docs" / "python"
MODULES = [
    info.name
    for info in pkgutil.walk_packages(libgather.__path__, "libgather.")
    if info.name.rsplit(".", 1)[1] not in ("_abi", "_low", "_objects")
    # test_torch.py runs those of libgather.torch, because most of its functions need the extension.
    and not info.name.startswith("libgather.torch")
]


@pytest.mark.parametrize("name", ["libgather", *MODULES])
def test_docstrings(name: str) -> None:
    if name.startswith(("libgather.jax", "libgather._operations.jax_programs")):
        pytest.importorskip("jax", reason="jax is not installed")
    if name.startswith("libgather.dask"):
        pytest.importorskip("dask.array", reason="dask is not installed")
    if name.startswith("libgather.ray"):
        pytest.importorskip("ray", reason="ray is not installed")
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0


def test_everything_public_has_a_docstring_with_an_example() -> None:
    for name in libgather.__all__:
        thing = getattr(libgather, name)
        if name in ("__version__", "tf", "onnx", "shutdown", "BoundPlan") or isinstance(thing, dict):
            continue
        documented = thing.__doc__ or ""
        if not (isinstance(thing, type) and issubclass(thing, Exception) and thing is not libgather.Error):
            assert ">>>" in documented, name
        assert documented, name


#: The pages, with the package that each one needs.
PAGES = {
    BINDING / "README.md": "libgather",
    **{DOCS / f"from-{name}.md": name for name in ("numpy", "torch", "jax", "tensorflow", "onnx")},
    DOCS / "from-arrow.md": "pyarrow",
    DOCS / "scatter.md": "numpy",
    DOCS / "dask.md": "dask",
    DOCS / "ray.md": "ray",
    DOCS / "xarray.md": "xarray",
}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_code_of_page_prints_what_the_page_shows(page: Path) -> None:
    if importlib.util.find_spec(PAGES[page]) is None:
        pytest.skip(f"{PAGES[page]} is not installed")
    run_page(page)


def run_page(page: Path, **environment: str) -> None:
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    assert blocks and all(">>>" not in block for block in blocks)
    for block in blocks:
        result = subprocess.run(
            [sys.executable, "-c", block], env=os.environ | environment, capture_output=True, text=True, check=False
        )
        assert result.returncode == 0, result.stderr
        shown = re.findall(r"# -> (.*)", block)
        assert [line for line in result.stdout.splitlines() if line] == shown


def test_every_page_runs() -> None:
    # test_torch.py runs the page of training, because it needs the extension.
    assert {*DOCS.glob("*.md")} <= {*PAGES, DOCS / "training.md"}


def test_types(tmp_path: Path) -> None:
    user = tmp_path / "user.py"
    user.write_text(
        "import libgather\n"
        "import libgather.onnx\n"
        "import libgather.tf\n"
        "shape: tuple[int, ...] = libgather.output_shape((4, 2), (3,))\n"
        "libgather.gather([1], [0], bounds='fill', negative='wrap', profile='onnx')\n"
        "plan = libgather.Plan([1], libgather.Spec('int64', (-1,)))\n"
        "call: libgather.BoundPlan = plan.bind([1], [0], bytearray(8))\n"
        "try:\n"
        "    libgather.tf.gather([1], [0])\n"
        "except libgather.IndexError as error:\n"
        "    position: int = error.position\n"
        "libgather.take_along_axis([1], [0], axis=None)\n"
        "import numpy as np\n"
        "params = np.zeros((4, 2), np.float32)\n"
        "rows: np.ndarray[tuple[int, int], np.dtype[np.float32]] = libgather.gather(params, [1])\n"
        "pairs: np.ndarray[tuple[int, int], np.dtype[np.float32]] = libgather.gather_nd(params, [[1]], opset=None)\n"
        "wrong: str = libgather.gather(params, [1])  # type: ignore[assignment]\n"
        "written: bytearray = libgather.gather(params, [1], out=bytearray(8))\n"
        "taken: np.ndarray[tuple[int, int], np.dtype[np.float32]] = libgather.take(params, [1], 0, mode='wrap')\n"
        "number: float = libgather.gather(params, 1)\n"
        "bounds: libgather.types.Bounds = 'fill'\n"
        "libgather.Plan([1], [0], op='gather_elements', extents='prefix')\n"
        "libgather.output_shape((4, 2), (3, 2), op='elements')  # type: ignore[arg-type]\n"
        "written_to: np.ndarray[tuple[int, int], np.dtype[np.float32]] = libgather.scatter(params, [1], params[:1])\n"
        "summed: np.ndarray[tuple[int, int], np.dtype[np.float32]] = libgather.scatter_nd(\n"
        "    params, [[1]], params[:1], reduction='add', bounds='skip', inplace=True)\n"
        "wrong_too: str = libgather.scatter_elements(params, params, params)  # type: ignore[assignment]\n"
        "libgather.put_along_axis(params, [[1]], 5, 1)\n"
        "count: libgather.BoundPlan = libgather.ScatterPlan([1], [0], reduction='max').bind(bytearray(8), [0], [1])\n"
        "shape = libgather.updates_shape((4, 2), (3, 2), op='scatter_elements')\n"
        "libgather.scatter([1], [0], [1], reduction='sum')  # type: ignore[call-overload]\n"
        "libgather.scatter([1], [0], [1], bounds='fill')  # type: ignore[call-overload]\n"
        "parts: libgather.Partition = libgather.partition([1], 2, shards=1, kind='modulo')\n"
        "order: np.ndarray[tuple[int], np.dtype[np.int64]] | None = parts.order\n"
        "libgather.partition([1], 2, shards=1, kind='rows')  # type: ignore[arg-type]\n"
        "libgather.gather([1], [0], bounds='never')  # type: ignore[call-overload]\n"
        "libgather.gather([1], [0], axle=1)  # type: ignore[call-overload]\n",
        encoding="utf-8",
    )
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--config-file",
        str(BINDING / "pyproject.toml"),
        "--cache-dir",
        str(tmp_path / "cache"),
    ]
    for target in (["-p", "libgather"], [str(user)]):
        result = subprocess.run([*command, *target], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert result.returncode == 0, result.stdout
