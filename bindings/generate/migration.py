"""The calls of other libraries and those that replace them, which pages of docs/python and of the site have as tables.

bindings/python/tests/test_migration.py runs each row against the other library, with indices that are valid, negative,
out of bounds, and none. torch_names.py does the same for the operators of libgather.torch.
"""

import re
from dataclasses import dataclass

from header import ROOT

PAGES = {
    name: ROOT / f"docs/python/from-{name}.md" for name in ("numpy", "torch", "tensorflow", "onnx", "jax", "arrow")
}
TRAINING = ROOT / "docs/python/training.md"
SITE = ROOT / "docs/site/from.md"
SCATTERS = ROOT / "docs/python/scatter.md"
HEAD = "| You write | Here you write |"


@dataclass(frozen=True)
class Row:
    """Calls of the other library, and calls of this one. Each of them has the same result.

    Args:
        ids: The form of the indices: "rows", "tuples", "matrix" for elements along axis 1, "each" for one index of each
            row, or "sparse".
        cases: The indices that the row runs with. An empty string means all.
        of: The library, if the page is for several.
    """

    theirs: tuple
    ours: tuple
    ids: str = "rows"
    cases: str = ""
    of: str = ""

    @property
    def cells(self):
        theirs, ours = (" or ".join(f"`{call}`" for call in calls) for calls in (self.theirs, self.ours))
        return theirs + (f" of {self.of}" if self.of else ""), ours


def row(theirs, ours, ids="rows", cases="", of=""):
    return Row(*((each,) if isinstance(each, str) else tuple(each) for each in (theirs, ours)), ids, cases, of)


@dataclass(frozen=True)
class Note:
    """A row of text instead of calls."""

    theirs: str
    ours: str

    @property
    def cells(self):
        return self.theirs, self.ours


#: The argmax. Where an element of x remains, torch_scatter has the number of updates.
SCATTER_MAX = row(
    "torch_scatter.scatter_max(u, i, 0, x)[1]",
    'torch.where((p := scatter_positions(x, i, u, reduction="max")) < 0, len(i), p // u.shape[1])',
    cases="valid empty",
)
ROWS = {
    "numpy": [
        row("np.take(a, i)", "take(a, i)"),
        row(["np.take(a, i, 0)", "a[i]"], 'gather(a, i, negative="wrap")'),
        row(["np.take(a, i, 1)", "a[:, i]"], 'gather(a, i, 1, negative="wrap")'),
        row("np.take(a, i, 0, out)", 'gather(a, i, negative="wrap", out=out)'),
        row('np.take(a, i, 0, mode="clip")', ['take(a, i, 0, mode="clip")', 'gather(a, i, profile="numpy_clip")']),
        row('np.take(a, i, 0, mode="wrap")', ['take(a, i, 0, mode="wrap")', 'gather(a, i, profile="numpy_wrap")']),
        row("np.take_along_axis(a, i, 1)", "take_along_axis(a, i, 1)", "matrix"),
        row("np.put_along_axis(a, i, v, 1)", "put_along_axis(a, i, v, 1)", "matrix"),
        row("a[i, j]", 'gather_nd(a, np.stack([i, j], -1), negative="wrap")'),
        row("a[np.arange(len(a)), i]", 'gather_nd(a, i[:, None], batch_dims=1, negative="wrap")', "each"),
        row("a[mask]", "gather(a, mask.nonzero()[0])"),
        row("a[i] = u", 'scatter(a, i, u, negative="wrap", inplace=True)'),
        row("np.add.at(a, i, u)", 'scatter(a, i, u, negative="wrap", reduction="add", inplace=True)'),
        row("a[i, j] = v", 'scatter_nd(a, np.stack([i, j], -1), v, negative="wrap", inplace=True)'),
        row('np.argsort(i // 3, kind="stable")', "partition(i, 6, shards=2).order", cases="valid empty"),
    ],
    "torch": [
        row("torch.index_select(x, dim, i)", "gather(x, i, dim)"),
        row("F.embedding(i, x)", "gather(x, i)"),
        row("x[i]", 'gather(x, i, negative="wrap")'),
        row("torch.gather(x, 1, i)", 'gather_elements(x, i, 1, extents="prefix")', "matrix"),
        row(
            "torch.take_along_dim(x, i, 1)", 'gather_elements(x, i, 1, extents="broadcast", bounds="modulo")', "matrix"
        ),
        row("x[i, j]", 'gather_nd(x, torch.stack([i, j], -1), negative="wrap")'),
        row("x[mask]", "gather(x, mask.nonzero()[:, 0])"),
        row("x.index_copy(dim, i, u)", "scatter(x, i, u, dim)"),
        row("x.index_add(dim, i, u)", 'scatter(x, i, u, dim, reduction="add")'),
        row("x.scatter(1, i, v)", 'scatter_elements(x, i, v, 1, extents="prefix")', "matrix"),
        row("x.scatter_add(1, i, v)", 'scatter_elements(x, i, v, 1, extents="prefix", reduction="add")', "matrix"),
        row(
            "x.index_put((i, j), v, accumulate=True)",
            'scatter_nd(x, torch.stack([i, j], -1), v, reduction="add", negative="wrap")',
        ),
        row('F.embedding_bag(i, x, offsets, mode="mean")', 'gather_bags(x, i, starts=offsets, pool="mean")'),
        row("torch.zeros_like(x).index_add(dim, i, u)", "gather_gradient(u, i, x.shape, dim)"),
        SCATTER_MAX,
    ],
    "tensorflow": [
        row("tf.gather(x, i)", ["libgather.tf.gather(x, i)", "gather(x, i)"]),
        row(
            "tf.gather(x, i, axis=1, batch_dims=1)",
            ["libgather.tf.gather(x, i, axis=1, batch_dims=1)", "gather(x, i, 1, 1)"],
            "matrix",
        ),
        row("tf.gather_nd(x, i)", ["libgather.tf.gather_nd(x, i)", "gather_nd(x, i)"], "tuples"),
        row(
            'tf.gather_nd(x, i, bad_indices_policy="IGNORE")',
            ['libgather.tf.gather_nd(x, i, bad_indices_policy="IGNORE")', 'gather_nd(x, i, bounds="fill")'],
            "tuples",
        ),
        row("tf.compat.v1.batch_gather(x, i)", "libgather.tf.batch_gather(x, i)", "matrix"),
        row("tf.raw_ops.GatherNd(params=x, indices=i)", "libgather.tf.raw.GatherNd(x, i)", "tuples"),
        row("tf.scatter_nd(i, v, shape)", "libgather.tf.scatter_nd(i, v, shape)", "tuples"),
        *(
            row(
                f"tf.tensor_scatter_nd_{name}(x, i, v)",
                [f"libgather.tf.tensor_scatter_nd_{name}(x, i, v)", f"scatter_nd(x, i, v{reduction})"],
                "tuples",
            )
            for name, reduction in (
                ("update", ""),
                ("add", ', reduction="add"'),
                ("max", ', reduction="max"'),
                ("min", ', reduction="min"'),
            )
        ),
        row(
            "tf.nn.embedding_lookup_sparse(x, ids, None)",
            "libgather.tf.embedding_lookup_sparse(x, ids, None)",
            "sparse",
        ),
        row(
            "tf.nn.safe_embedding_lookup_sparse(x, ids)",
            "libgather.tf.safe_embedding_lookup_sparse(x, ids)",
            "sparse",
        ),
        row("tf.function(tf.gather)(x, i)", "tf.function(libgather.tf.gather)(x, i)"),
        Note(
            "one of them on a GPU, where an invalid index gives zeros", 'the same call with `profile="tensorflow_gpu"`'
        ),
    ],
    "onnx": [
        row(
            "Gather(data, i, axis=1)",
            ["onnx.Gather(data, i, axis=1)", 'gather(data, i, 1, profile="onnx")'],
        ),
        row(
            "GatherElements(data, i, axis=1)",
            ["onnx.GatherElements(data, i, axis=1)", 'gather_elements(data, i, 1, profile="onnx")'],
            "matrix",
            "valid negative empty",  # ONNX forbids other indices, but its evaluator accepts them
        ),
        row("GatherND(data, i)", ["onnx.GatherND(data, i)", 'gather_nd(data, i, profile="onnx")'], "tuples"),
        row(
            "ScatterND(data, i, v)", ["onnx.ScatterND(data, i, v)", 'scatter_nd(data, i, v, profile="onnx")'], "tuples"
        ),
        row(
            'ScatterElements(data, i, v, axis=1, reduction="add")',
            [
                'onnx.ScatterElements(data, i, v, axis=1, reduction="add")',
                'scatter_elements(data, i, v, 1, profile="onnx", reduction="add")',
            ],
            "matrix",
        ),
        Note("one of them at opset 11", "the same call with `opset=11`"),
        Note("one of them with the behaviour of ONNX Runtime", 'the same call with `profile="ort"`'),
    ],
    "jax": [
        row("jnp.take(a, i, 0)", 'gather(a, i, profile="jax_fill")'),
        row('jnp.take(a, i, 1, mode="clip")', 'gather(a, i, 1, profile="jax_clip")'),
        row("a[i]", 'gather(a, i, negative="wrap", bounds="clamp")'),
        row(
            'a.at[i].get(mode="fill", fill_value=7)',
            [
                'gather(a, i, negative="wrap", fill_value=7)',
                'libgather.jax.gather(a, i, negative="wrap", fill_value=7)',
            ],
        ),
        row(
            "jnp.take_along_axis(a, i, 1)",
            'gather_elements(a, i, 1, profile="jax_fill")',
            "matrix",
        ),
        row("a[i, j]", 'gather_nd(a, jnp.stack([i, j], -1), negative="wrap", bounds="clamp")'),
        row('a.at[i, j].get(mode="fill")', 'gather_nd(a, jnp.stack([i, j], -1), profile="jax_fill")'),
        row(
            "a.at[i].set(u)",
            [
                'scatter(a, i, u, profile="jax_fill")',
                'libgather.jax.scatter(a, i, u, negative="wrap", bounds="skip")',
            ],
        ),
        *(
            row(
                f"a.at[i].{name}(u)",
                [
                    f'scatter(a, i, u, profile="jax_fill", reduction="{name}")',
                    f'libgather.jax.scatter(a, i, u, negative="wrap", bounds="skip", reduction="{name}")',
                ],
            )
            for name in ("add", "mul", "max", "min")
        ),
        row(
            "a.at[i, j].add(v)",
            'libgather.jax.scatter_nd(a, jnp.stack([i, j], -1), v, negative="wrap", bounds="skip", reduction="add")',
        ),
        row("jax.ops.segment_sum(u, i, 5)", "libgather.jax.segment_sum(u, i, 5)"),
        row("jax.ops.segment_max(u, i, 5)", "libgather.jax.segment_max(u, i, 5)"),
        row("jax.ops.segment_min(u, i, 5)", "libgather.jax.segment_min(u, i, 5)"),
        row(
            "jax.ops.segment_sum(a[i], s, 5)",
            'libgather.jax.gather_bags(a, i, segments=s, count=5, negative="wrap", bounds="clamp")',
        ),
        row(
            "jax.grad(lambda a: (jnp.take(a, i, 0) * u).sum())(a)",
            'gather_gradient(u, i, a.shape, profile="jax_fill")',
        ),
        Note("a gather or a scatter in a compiled program", "the functions of `libgather.jax`"),
    ],
    "arrow": [
        row(["array.take(i)", "pc.take(array, i)"], "gather(array, i)", of="pyarrow"),
        row("chunked.take(i)", "gather(chunked, i)", of="pyarrow"),
        row("table.take(i)", "gather(table, i)", of="pyarrow"),
        row(["series.take(i)"], 'gather(series, i, negative="wrap")', of="pandas"),
        row("frame.take(i)", 'gather(frame, i, negative="wrap")', of="pandas"),
        row("series.gather(i)", 'gather(series, i, negative="wrap")', of="polars"),
        row("frame[i]", 'gather(frame, i, negative="wrap")', of="polars"),
        Note("`array.take(i)`, `table.take(i)` of arro3", "`gather(array, i)`, `gather(table, i)`"),
    ],
}

# The calls of torch, and the operators of libgather.torch that replace them.
OPERATORS = [
    row("torch.index_select(x, dim, i)", ["index_select(x, dim, i)", "gather(x, i, dim)"]),
    row("torch.gather(x, 1, i)", 'gather_elements(x, i, 1, extents="prefix")', "matrix"),
    row(
        "torch.take_along_dim(x, i, 1)",
        "take_along_dim(x, i, 1)",
        "matrix",
        "valid negative empty",  # torch uses indices out of bounds modulo the size
    ),
    row("x[i, j]", 'gather_nd(x, torch.stack([i, j], -1), negative="wrap")'),
    row("torch.index_add(x, dim, i, u)", ["index_add(x, dim, i, u)", 'scatter(x, i, u, dim, reduction="add")']),
    row("torch.index_copy(x, dim, i, u)", "scatter(x, i, u, dim)"),
    row(
        'torch.index_reduce(x, dim, i, u, "mean", include_self=False)',
        'scatter(x, i, u, dim, reduction="mean", include_self=False)',
    ),
    SCATTER_MAX,
    row("torch.scatter(x, 1, i, v)", 'scatter_elements(x, i, v, 1, extents="prefix")', "matrix"),
    row("torch.scatter_add(x, 1, i, v)", 'scatter_elements(x, i, v, 1, extents="prefix", reduction="add")', "matrix"),
    *(
        row(
            f'torch.scatter_reduce(x, 1, i, v, "{theirs}")',
            f'scatter_elements(x, i, v, 1, extents="prefix", reduction="{ours}")',
            "matrix",
        )
        for theirs, ours in (("prod", "mul"), ("amax", "max"), ("amin", "min"), ("mean", "mean"))
    ),
    row(
        "torch.index_put(x, (i, j), v, accumulate=True)",
        'scatter_nd(x, torch.stack([i, j], -1), v, reduction="add", negative="wrap")',
    ),
    row("F.embedding(i, x, 0)", "embedding(i, x, 0)"),
    row(
        'F.embedding_bag(i, x, offsets, mode="sum")',
        ['embedding_bag(i, x, offsets, mode="sum")', "gather_bags(x, i, starts=offsets)"],
    ),
]


def table(rows):
    return "\n".join([HEAD, "|---|---|", *("| {} | {} |".format(*each.cells) for each in rows)])


def with_tables(text, tables):
    """Returns the text of a page with its tables replaced in their order."""
    lines, result, remaining = text.split("\n"), [], list(tables)
    for line in lines:
        if line == HEAD:
            result.append(remaining.pop(0))
        elif not (line.startswith("|") and result and result[-1].startswith(HEAD)):
            result.append(line)
    if remaining:
        raise ValueError(f"a page has {len(remaining)} tables less than migration.py")
    return "\n".join(result)


def files(header, operations):
    """Returns the pages with their tables. They do not depend on the header."""
    texts = {page: with_tables(page.read_text(), [table(ROWS[name])]) for name, page in PAGES.items()}
    writing = [each for rows in ROWS.values() for each in rows if re.search("(?i)scatter|put_", each.ours[0])]
    texts[SCATTERS] = with_tables(SCATTERS.read_text(), [table(writing)])
    texts[TRAINING] = with_tables(TRAINING.read_text(), [table(OPERATORS)])
    texts[SITE] = with_tables(SITE.read_text(), [table(rows) for rows in ROWS.values()])
    return texts
