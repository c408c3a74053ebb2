"""Waits without a copy, copies on the device, and what only seems to read."""

from __future__ import annotations

from syncscope.simcuda.explanations.spelling import Spelling

OTHERS = (
    Spelling(
        ("torch.cuda.synchronize", "torch.accelerator.synchronize"),
        "The host waits for everything that the device was given.",
        by="torch.cuda.synchronize",
        kind="wait",
        before="y = x * 2\ntorch.cuda.synchronize()",
        after="y = x * 2",
    ),
    Spelling(
        ("Tensor.clone", "copy.deepcopy", "Tensor.__deepcopy__", "Tensor.contiguous"),
        "A copy on the device, which nobody waits for.",
        by="clone",
        kind="copy",
        figures="1 DtoD where a dense tensor keeps its dtype and order; nothing otherwise: that is a kernel",
        instead="the tensor itself, where neither of the two is written to",
        before="y = x.clone()",
        after="y = x.detach()",
    ),
    Spelling(
        ("for row in x", "for", "iter", "zip", "list(x)", "Tensor.__iter__", "Tensor.unbind"),
        "Iterating over a tensor makes views; the host reads nothing until it wants a number of one.",
        by="",
        why="how many there are is known from the shape",
        figures="nothing",
        source="torch/_tensor.py, __iter__",
    ),
    Spelling(
        ("torch.nn.functional.unfold", "torch.nn.Unfold"),
        "The patches of images, as columns; Tensor.unfold is a view, and free.",
        by="im2col",
        kind="copy",
    ),
    Spelling(
        ("torch.sort", "Tensor.sort", "torch.argsort", "torch.msort", "Tensor.msort", "torch.quantile",
         "torch.nanquantile"),
        "The elements are sorted, on the device.",
        by="sort.stable",
        kind="copy",
    ),
    Spelling(
        ("threading.Thread.start", "threading.Thread", "concurrent.futures.ThreadPoolExecutor",
         "_thread.start_new_thread", "subprocess.Popen", "multiprocessing.Process.start", "os.fork",
         "os.forkpty", "os.system", "os.posix_spawn", "os.posix_spawnp", "thread", "process"),
        "A thread or a process is started, and what runs in it isn't watched.",
        by="",
        kind="unknown",
        why="a scope watches the thread that entered it; what another one does may wait, and isn't counted",
        figures="1 unknown for each start; nothing for threads with threads=True: they are heard",
        instead="--threads, or threads=True, hears threads; a process needs a scope of its own",
        source="syncscope/observe/starts.py",
    ),
)  # fmt: skip
