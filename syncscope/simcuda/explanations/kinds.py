"""The kinds of events that a report counts."""

from __future__ import annotations

from syncscope.simcuda.explanations.explanation import Explanation

KINDS = (
    Explanation(
        ("scalar_read", "scalar read", "scalar_reads", "host read"),
        what="The host obtains one element of a device tensor: item(), int(), if, a tensor as slice bound.",
        why="Python needs the value to go on, and the device computes it after all that was launched before.",
        figures="1 DtoH, 1 wait",
        instead="keep the value on the device (torch.where, clamp, index_select), or read many at once with "
        "tolist()",
        kind="scalar_read",
    ),
    Explanation(
        ("vector_read", "vector read", "vector_reads"),
        what="The host obtains a whole device tensor: tolist(), cpu(), numpy(force=True), to('cpu').",
        why="The copy is blocking: the host waits for all that was launched before, and for the copy.",
        figures="1 DtoH, 1 wait; 1 DtoH, 0 waits with non_blocking=True",
        instead="one read of a tensor in place of one for each element; fetch late",
        kind="vector_read",
    ),
    Explanation(
        ("size_read", "size read", "size_reads"),
        what="The host learns a shape that the values decide: nonzero, x[mask], unique.",
        why="Memory for the result is asked for on the host, and its size is a number on the device.",
        figures="1 DtoH, 1 wait; 1 DtoH, 2 to 7 waits where Thrust does the work",
        instead="a result of a known size: torch.where with three arguments, nonzero_static, output_size",
        kind="size_read",
    ),
    Explanation(
        ("upload", "uploads", "htod", "memcpy htod"),
        what="Values of the host go to the device: torch.tensor(list, device='cuda'), to('cuda'), x[i] = 3.",
        why="The copy is blocking unless non_blocking=True is given, for pinned memory too: the host waits.",
        figures="1 HtoD, 1 wait; 1 HtoD, 0 waits with non_blocking=True: from pageable "
        "memory the driver may wait",
        instead="make it on the device (arange, full, fill_), or once outside the loop, or from pinned "
        "memory with non_blocking=True",
        kind="upload",
    ),
    Explanation(
        ("dtoh", "memcpy dtoh", "download"),
        what="One CUDA memcpy from the device to the host: every scalar, vector and size read makes one.",
        why="What the host wants to know is computed on the device.",
        figures="1 DtoH, 1 wait; 1 DtoH, 0 waits with non_blocking=True",
        instead="keep it on the device; or gather what the host wants into one tensor and fetch it once",
    ),
    Explanation(
        ("copy", "copies", "memcpy", "dtod", "memcpy dtod", "cudaMemcpyAsync", "hipMemcpyWithStream"),
        what="One CUDA memcpy. As a kind of event it is one that stays on the device (DtoD).",
        why="Dense tensors of one dtype and order are copied by memcpy, all others by a kernel.",
        figures="1 DtoD",
        instead="an operation in place, or a view",
        kind="copy",
    ),
    Explanation(
        (
            "wait",
            "waits",
            "sync",
            "cudaStreamSynchronize",
            "cudaDeviceSynchronize",
            "cudaEventSynchronize",
            "hipStreamSynchronize",
            "hipDeviceSynchronize",
            "hipEventSynchronize",
        ),
        what="The host blocks until the device has caught up. As a kind of event it is one without a copy.",
        why="synchronize() was called, or PyTorch's own code waits between the steps of Thrust or MAGMA.",
        figures="1 wait",
        instead="leave synchronize() out: a value that is read waits for itself; let streams wait for events",
        kind="wait",
    ),
    Explanation(
        ("launch", "launches"),
        what="One call of a counted operator family, such as Top-K or Scatter (--count adds others).",
        why="It is counted to show that both sides do the same work; it neither copies nor waits.",
        figures="nothing",
        kind="launch",
    ),
    Explanation(
        (
            "unknown",
            "unknown_ops",
            "unknown operator",
            "custom operator",
            "custom op",
            "triton",
            "C++ extension",
        ),
        what="Something that may wait and isn't known: a custom operator (torch.library, Triton, a C++ "
        "extension), an address that left Python (data_ptr), a thread or process that wasn't watched.",
        why="Nothing says what its host code does, so it is counted and shown, never taken for zero.",
        figures="1 unknown",
        instead="profile it on a GPU (--device cuda), or ask for an entry in the cost table",
        kind="unknown",
    ),
)
"""Each kind, in the order of ``syncscope.events.KINDS``, with the names of its counts."""
