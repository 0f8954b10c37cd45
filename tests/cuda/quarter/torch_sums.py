"""torch_sums.py [--rehearse] [--out FILE]: times sums by libgather beside those of torch and CuPy on a CUDA device.

Every result is compared with that of torch, and with a second run of libgather. Exits with 77 if torch is missing or
has no device. With --rehearse, small sums run on the CPU, and their times mean nothing.
"""

import argparse
import statistics
import sys
import time

try:
    import torch
except ImportError as error:
    print(f"there is no torch: {error}")
    sys.exit(77)

import libgather

CACHED, LARGE = 50_000, 4_000_000  # rows of 64 bytes within the cache of a device, and beyond it
COUNTS = (10_000, 100_000, 1_000_000, 10_000_000)
WIDTHS = (16, 64, 256)
KINDS = ("uniform", "zipf", "sorted", "equal")
ROUNDS = 7


def draw(kind, count, rows, device):
    """Returns ids. Those of zipf are often small, and small ids are spread over the rows."""
    generator = torch.Generator(device).manual_seed(count + rows)
    if kind == "equal":
        return torch.full((count,), rows // 2, device=device)
    if kind == "zipf":
        uniform = torch.rand(count, generator=generator, device=device)
        return (rows**uniform).long().clamp_(max=rows - 1) * 7919 % rows
    ids = torch.randint(0, rows, (count,), generator=generator, device=device)
    return ids.sort().values if kind == "sorted" else ids


def deterministic(run):
    """Returns a function that runs with the deterministic algorithms of torch."""

    def run_so():
        torch.use_deterministic_algorithms(True)
        try:
            return run()
        finally:
            torch.use_deterministic_algorithms(False)

    return run_so


def scatter_contenders(target, ids, updates):
    """Returns the contenders for the sums of rows. Each adds to a copy of its own, in every run again."""
    ours, any_order, theirs, fixed = (target.clone() for _ in range(4))

    def add(to, order):
        return lambda: libgather.scatter(to, ids, updates, axis=0, reduction="add", inplace=True, order=order)

    result = {
        "libgather": add(ours, None),
        "libgather, any order": add(any_order, "any"),
        "torch index_add_": lambda: theirs.index_add_(0, ids, updates),
        "torch index_add_, deterministic": deterministic(lambda: fixed.index_add_(0, ids, updates)),
    }
    if target.device.type == "cuda":
        try:
            import cupy
            import cupyx
        except ImportError:
            return result
        to, rows, index = cupy.asarray(target.clone()), cupy.asarray(updates), cupy.asarray(ids)
        result["CuPy scatter_add"] = lambda: cupyx.scatter_add(to, index, rows)
    return result


def gradient_contenders(target, ids, updates):
    """Returns the contenders for the gradient of an embedding."""
    rows = target.shape[0]

    def backward():
        return torch.ops.aten.embedding_dense_backward(updates, ids, rows, -1, False)

    return {
        "libgather": lambda: libgather.gather_gradient(updates, ids, tuple(target.shape), axis=0),
        "torch embedding_dense_backward": backward,
        "torch embedding_dense_backward, deterministic": deterministic(backward),
    }


def bag_contenders(target, ids, updates):
    """Returns the contenders for sums of bags of 16 rows."""
    offsets = torch.arange(0, ids.numel() + 1, 16, device=ids.device)
    ids = ids[: int(offsets[-1])]
    return {
        "libgather": lambda: libgather.gather_bags(target, ids, offsets=offsets),
        "torch embedding_bag": lambda: torch.nn.functional.embedding_bag(
            ids, target, offsets, mode="sum", include_last_offset=True
        ),
    }


def bag_gradient_contenders(target, ids, updates):
    """Returns the contenders for the gradient of such bags with respect to the table."""
    offsets = torch.arange(0, ids.numel() + 1, 16, device=ids.device)
    ids = ids[: int(offsets[-1])]
    gradient = updates[: offsets.numel() - 1].contiguous()
    table = target.clone().requires_grad_(True)
    pooled = torch.nn.functional.embedding_bag(ids, table, offsets, mode="sum", include_last_offset=True)

    def backward():
        return torch.autograd.grad(pooled, table, gradient, retain_graph=True)[0]

    return {
        "libgather": lambda: libgather.gather_bags_gradient(gradient, ids, tuple(target.shape), offsets=offsets),
        "torch embedding_bag backward": backward,
        "torch embedding_bag backward, deterministic": deterministic(backward),
    }


SUMS = {
    "scatter": scatter_contenders,
    "gradient": gradient_contenders,
    "bags": bag_contenders,
    "bag gradient": bag_gradient_contenders,
}


def time_of(run, device, calls):
    """Returns the seconds of a call on the device."""
    if device == "cpu":
        start = time.perf_counter()
        for _ in range(calls):
            run()
        return (time.perf_counter() - start) / calls
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for _ in range(calls):
        run()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / 1000 / calls


def check(make, target, ids, updates, where):
    """Stops if a result is wrong, or if two runs of libgather differ."""
    first, second = (make(target, ids, updates) for _ in range(2))
    results = {name: run() for name, run in first.items()}
    again = second["libgather"]()
    ours = results["libgather"]
    ours, again = (torch.as_tensor(each) for each in (ours, again))
    if not torch.equal(ours, again):
        sys.exit(f"wrong: {where} differs from run to run")
    for name, result in results.items():
        theirs = torch.as_tensor(result, device=ours.device)
        close = torch.allclose(ours, theirs, rtol=1e-3, atol=1e-2 * max(1.0, float(theirs.abs().max())))
        if not close:
            sys.exit(f"wrong: {where}, {name}")


def measure(kind, count, rows, width, make, device, rounds):
    """Returns the median time of each contender, whose runs alternate."""
    ids = draw(kind, count, rows, device)
    updates = torch.rand(count, width, device=device)
    target = torch.zeros(rows, width, device=device)
    check(make, target, ids, updates, f"{make.__name__} of {count} {kind} ids, {rows} rows of {width}")
    contenders = make(target, ids, updates)
    times = {name: [] for name in contenders}
    calls = max(1, min(20, 2_000_000 // count))
    for _ in range(rounds):
        for name, run in contenders.items():
            times[name].append(time_of(run, device, calls))
    return {name: statistics.median(each) for name, each in times.items()}


def cells(rehearse):
    for rows, counts in ((CACHED, COUNTS), (LARGE, COUNTS)):
        for count in counts:
            for kind in KINDS:
                for width in WIDTHS:
                    if rehearse and (width != WIDTHS[0] or count != COUNTS[0]):
                        continue
                    if count * width * 4 <= 4 << 30 and rows * width * 4 <= 4 << 30:
                        yield rows // 1000 if rehearse else rows, count // 100 if rehearse else count, kind, width


def report(device, rounds, rehearse, until):
    """Returns a line for each cell: the times, and how many times as long the fastest other one takes."""
    lines = []
    for name, make in SUMS.items():
        for rows, count, kind, width in cells(rehearse):
            if time.monotonic() > until:
                lines.append((0.0, f"| {name} | {kind} | {count} | {rows} | {width} | not measured | |"))
                continue
            times = measure(kind, count, rows, width, make, device, rounds)
            others = {each: seconds for each, seconds in times.items() if not each.startswith("libgather")}
            ratio = min(others.values()) / times["libgather"]
            all_times = ", ".join(f"{each} {seconds * 1e6:.1f}" for each, seconds in times.items())
            lines.append((ratio, f"| {name} | {kind} | {count} | {rows} | {width} | {ratio:.2f} | {all_times} |"))
    return [line for _, line in sorted(lines)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rehearse", action="store_true")
    parser.add_argument("--out")
    parser.add_argument("--seconds", type=float, default=400)
    given = parser.parse_args()
    if not given.rehearse and not torch.cuda.is_available():
        print("torch has no CUDA device")
        sys.exit(77)
    device = "cpu" if given.rehearse else "cuda"
    name = "a rehearsal" if given.rehearse else torch.cuda.get_device_name()
    until = time.monotonic() + given.seconds
    lines = report(device, 1 if given.rehearse else ROUNDS, given.rehearse, until)
    head = [
        f"# Sums on {name}, torch {torch.__version__}",
        "",
        "Times in microseconds. The ratio is that of the fastest other one to libgather: losses come first.",
        "",
        "| sum | ids | updates | rows | width | ratio | times |",
        "|---|---|---|---|---|---|---|",
    ]
    text = "\n".join([*head, *lines, ""])
    if given.out:
        with open(given.out, "w", encoding="utf-8") as file:
            file.write(text)
    print(text)


if __name__ == "__main__":
    main()
