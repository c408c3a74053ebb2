"""Calls by which the host learns a shape, or reads numbers to size a result."""

from __future__ import annotations

from syncscope.simcuda.explanations.spelling import Spelling

_MASK = "how many elements the mask selects decides the result's size, and the host has to know it"

SIZES = (
    Spelling(
        ("x[mask]", "x[x > 0]", "x[a == b]", "Tensor.__getitem__"),
        "Reading with a bool or uint8 mask: the mask is turned into indices.",
        by="index.Tensor",
        kind="size_read",
        why=_MASK,
        figures="1 DtoH, 1 wait for each mask on the device; 1 HtoD for each mask of the host, which is not "
        "waited for; 1 DtoH, 1 HtoD, 2 waits for each list of bools; 1 DtoH, 1 wait more in backward",
        instead="torch.where with three arguments, or an index of a known length",
        before="total = x[mask].sum()",
        after="total = torch.where(mask, x, 0).sum()",
    ),
    Spelling(
        ("x[mask] = y", "x[mask] = t", "x[mask] = 3", "x[mask] += 1", "Tensor.__setitem__"),
        "Writing a tensor where a mask says so; of a number (x[mask] = 3) it is a masked_fill, and free.",
        by="_index_put_impl_",
        kind="size_read",
        why=_MASK,
        figures="1 DtoH, 1 wait for a value in a device tensor; 2 DtoH, 2 waits for x[mask] += 1; nothing "
        "for a Python number; 1 HtoD for a mask of the host",
        instead="torch.where(mask, value, x)",
        before="x[mask] = t",
        after="x = torch.where(mask, t, x)",
    ),
    Spelling(
        ("torch.nonzero", "Tensor.nonzero", "torch.where(condition)", "torch.where", "torch.argwhere",
         "Tensor.argwhere"),
        "The indices of all elements that are not zero; torch.where with three arguments doesn't need them.",
        by="nonzero",
        kind="size_read",
        before="rows = (x > 2).nonzero()",
        after="rows = torch.nonzero_static(x > 2, size=4)",
    ),
    Spelling(
        ("torch.masked_select", "Tensor.masked_select"),
        "The elements that a mask selects.",
        by="masked_select",
        kind="size_read",
        before="total = x.masked_select(mask).sum()",
        after="total = torch.where(mask, x, 0).sum()",
    ),
    Spelling(
        ("torch.unique", "Tensor.unique"),
        "The distinct elements, or slices along a dimension.",
        by="_unique2",
        kind="size_read",
        figures="1 DtoH, 1 wait; 1 DtoH, 3 to 7 waits with dim; nothing where empty",
        before="present = labels.unique()",
        after="present = torch.zeros(10, device='cuda')\npresent.index_fill_(0, labels, 1)",
    ),
    Spelling(
        ("torch.repeat_interleave", "Tensor.repeat_interleave"),
        "Each element as often as a tensor says: the sum of the repeats is the size of the result.",
        by="repeat_interleave.Tensor",
        kind="scalar_read",
        before="y = x.repeat_interleave(repeats)",
        after="y = x.repeat_interleave(repeats, output_size=8)",
    ),
    Spelling(
        ("torch.nn.functional.one_hot", "F.one_hot"),
        "A row of zeros with a one for each label.",
        by="_local_scalar_dense",
        kind="scalar_read",
        why="without num_classes the host reads the largest label, to size the result",
        figures="1 DtoH, 1 wait; nothing with num_classes",
        instead="give num_classes",
        before="rows = torch.nn.functional.one_hot(labels)",
        after="rows = torch.nn.functional.one_hot(labels, num_classes=10)",
        source="aten/src/ATen/native/Onehot.cpp, one_hot",
    ),
    Spelling(
        ("torch.bincount", "Tensor.bincount"),
        "How often each label occurs.",
        by="bincount",
        kind="scalar_read",
        before="n = labels.bincount()",
        after="ones = torch.ones_like(labels)\nn = ones.new_zeros(10).index_add_(0, labels, ones)",
    ),
    Spelling(
        ("torch.histc", "Tensor.histc"),
        "How many elements lie in each of some bins.",
        by="histc",
        kind="scalar_read",
        before="n = x.histc(4)",
        after="n = x.histc(4, min=0, max=4)",
    ),
)  # fmt: skip
