"""Runs two CUDA graphs of torch that share a context, one of two streams, one with a new output, and 33 streams.

Exits with 77 if torch is missing or has no device.
"""

import sys

ROWS, WIDTH, PICKS, REPLAYS, STREAMS, ROUNDS = 5000, 64, 4096, 2000, 33, 10


def skip(why):
    print(why)
    sys.exit(77)


try:
    import torch
except ImportError as error:
    skip(f"there is no torch: {error}")
if not torch.cuda.is_available():
    skip("torch has no CUDA device")

import libgather  # noqa: E402


def expect(condition, what):
    if not condition:
        sys.exit(f"wrong: {what}")


def picks(seed):
    return torch.randint(0, ROWS, (PICKS,), generator=torch.Generator("cuda").manual_seed(seed), device="cuda")


def capture(table, indices, out):
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        libgather.gather(table, indices, out=out)
    return graph


def two_graphs(table):
    """Captures on torch's capture stream and replays on two overlapping streams. One replay fails sometimes."""
    indices = [picks(seed) for seed in (1, 2)]
    outs = [torch.zeros(PICKS, WIDTH, device="cuda") for _ in indices]
    warm = torch.zeros(PICKS, WIDTH, device="cuda")
    libgather.gather(table, indices[0], out=warm)
    libgather.sync()
    graphs = [capture(table, i, o) for i, o in zip(indices, outs)]
    streams = [torch.cuda.Stream() for _ in graphs]
    torch.cuda.synchronize()
    for _ in range(REPLAYS):
        for graph, stream in zip(graphs, streams):
            with torch.cuda.stream(stream):
                graph.replay()
    torch.cuda.synchronize()
    libgather.sync()
    for i, o in zip(indices, outs):
        expect(torch.equal(o, table[i]), "an output of overlapping replays")
    for turn in range(20):
        kept = outs[0].clone()
        good = int(indices[0][7])
        indices[0][7] = ROWS + turn
        torch.cuda.synchronize()
        graphs[0].replay()
        graphs[1].replay()
        try:
            libgather.sync()
        except libgather.IndexError as error:
            expect(str(ROWS + turn) in str(error), f"the error names another value: {error}")
        else:
            expect(False, "a bad index was not told")
        expect(torch.equal(outs[0], kept), "the output of a bad call was written")
        indices[0][7] = good
        torch.cuda.synchronize()
        graphs[0].replay()
        libgather.sync()
        expect(torch.equal(outs[0], table[indices[0]]), "the replay after a bad one")
    print(f"two graphs, {REPLAYS} overlapping replays each: right")


def forked_capture(table):
    """Captures two streams in one graph: the second one starts after the first, and is joined to it."""
    indices = [picks(seed) for seed in (3, 4)]
    outs = [torch.zeros(PICKS, WIDTH, device="cuda") for _ in indices]
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        libgather.gather(table, indices[1], out=outs[1])
    libgather.sync()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        side.wait_stream(torch.cuda.current_stream())
        libgather.gather(table, indices[0], out=outs[0])
        with torch.cuda.stream(side):
            libgather.gather(table, indices[1], out=outs[1])
        torch.cuda.current_stream().wait_stream(side)
    for _ in range(20):
        for out in outs:
            out.zero_()
        graph.replay()
        torch.cuda.synchronize()
        for i, o in zip(indices, outs):
            expect(torch.equal(o, table[i]), "an output of two captured streams")
    libgather.sync()
    print("one capture of two streams: right")


def graph_of_new_output(table):
    """Captures a call whose output torch allocates, and compares torch's statistics with the size of an output."""
    indices = picks(5)
    before = torch.cuda.memory_allocated()
    rows = libgather.gather(table, indices)
    added = torch.cuda.memory_allocated() - before
    expect(added == rows.nbytes, f"torch counts {added} bytes for an output of {rows.nbytes}")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        made = libgather.gather(table, indices)
    for seed in range(20):
        indices.copy_(picks(seed))
        graph.replay()
        torch.cuda.synchronize()
        expect(torch.equal(made, table[indices]), "a new output of a graph")
    libgather.sync()
    print("a graph with a new output: right")


def many_streams(table):
    streams = [torch.cuda.Stream() for _ in range(STREAMS)]
    free = None
    for turn in range(ROUNDS):
        made = []
        for number, stream in enumerate(streams):
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                indices = picks(100 * turn + number)
                made.append((indices, libgather.gather(table, indices)))
        torch.cuda.synchronize()
        for indices, rows in made:
            expect(torch.equal(torch.as_tensor(rows), table[indices]), "an output of one of many streams")
        del made, rows
        libgather.sync()
        torch.cuda.synchronize()
        left = torch.cuda.mem_get_info()[0]
        if turn == 1:
            free = left
        if free is not None:
            expect(free - left < 64 << 20, f"{free - left} bytes have gone since the second round")
    print(f"{STREAMS} streams, {ROUNDS} rounds: right, and no memory went")


source = torch.randn(ROWS, WIDTH, device="cuda")
torch.cuda.synchronize()
two_graphs(source)
forked_capture(source)
graph_of_new_output(source)
many_streams(source)
