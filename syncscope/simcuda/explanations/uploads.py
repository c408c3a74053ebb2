"""Calls that send Python data, or a tensor of the host, to the device."""

from __future__ import annotations

from syncscope.simcuda.explanations.spelling import Spelling

UPLOADS = (
    Spelling(
        ('x.to("cuda")', "Tensor.cuda", "Tensor.to", "nn.Module.to", "nn.Module.cuda", "Tensor.type",
         "Tensor.type_as"),
        "The values of a tensor of the host go to the device, in one copy a tensor.",
        by="Tensor.cuda",
        kind="upload",
        before="y = host.to('cuda')",
        after="y = pinned.to('cuda', non_blocking=True)",
    ),
    Spelling(
        ("non_blocking", "pinned", "pinned memory", "pin_memory", "Tensor.pin_memory", "pageable",
         "page-locked", "DataLoader", "torch.utils.data.DataLoader"),
        "A copy that the host doesn't wait for: from pinned (page-locked) memory, with non_blocking=True.",
        by="Tensor.cuda",
        kind="upload",
        why="both are needed: a pinned source is waited for without non_blocking=True, and from pageable "
        "memory the driver may wait",
        figures="1 HtoD, 0 waits with non_blocking=True; 1 HtoD, 1 wait without it, pinned or not",
        instead="DataLoader(pin_memory=True) and x.to('cuda', non_blocking=True)",
        before="y = pinned.to('cuda')",
        after="y = pinned.to('cuda', non_blocking=True)",
    ),
    Spelling(
        ('torch.tensor(list, device="cuda")', 'torch.tensor(data, device="cuda")', "torch.tensor",
         "torch.as_tensor", "torch.asarray", "Tensor.new_tensor", "torch.cuda.FloatTensor"),
        "A device tensor is made of Python data.",
        by="torch.cuda.FloatTensor",
        kind="upload",
        before="y = torch.tensor([0, 1, 2], device='cuda')",
        after="y = torch.arange(3, device='cuda')",
    ),
    Spelling(
        ("torch.tensor([t, t])", "torch.tensor", "torch.as_tensor", "torch.asarray", "Tensor.new_tensor"),
        "A tensor is made of a list with device tensors in it.",
        by="torch.tensor",
        kind="scalar_read",
        before="y = torch.tensor([t, t])",
        after="y = torch.stack([t, t])",
    ),
    Spelling(
        ("x[[0, 2]]", "x[list]", "x[host_index]", "x[array]", "Tensor.__getitem__"),
        "Reading with an index that the host has: a list, an array, a CPU tensor.",
        by="index.Tensor",
        kind="upload",
        why="the index becomes a tensor and is uploaded",
        figures="1 HtoD, 1 wait for each such index; nothing for an index tensor on the device; 1 HtoD for a "
        "mask of the host, which is not waited for",
        instead="an index tensor on the device, made once; a slice",
        before="y = x[[0, 2]]",
        after="y = x[index]",
    ),
    Spelling(
        ("x[i] = 3", "x[0] = 3", "Tensor.__setitem__"),
        "Writing a Python number into one element; into more (x[0:2] = 3) it is a fill, and free.",
        by="copy_",
        kind="upload",
        why="the number is uploaded as a 0-dim tensor and copied into the element",
        figures="1 HtoD, 1 wait for a single element; nothing for a target of one dimension or more; "
        "1 DtoD for a value in a device tensor",
        instead="x[i].fill_(3) takes the number as it is",
        before="x[0] = 3",
        after="x[0].fill_(3)",
        source="torch/csrc/autograd/python_variable_indexing.cpp, THPVariable_setitem; "
        "aten/src/ATen/native/cuda/Copy.cu, copy_kernel_cuda",
    ),
    Spelling(
        ("x[index] = 3", "x[[0, 2]] = 3", "Tensor.__setitem__", "Tensor.index_put_", "Tensor.index_put",
         "torch.index_put"),
        "Writing a Python number at an index tensor.",
        by="_index_put_impl_",
        kind="upload",
        why="the number is uploaded as a 0-dim tensor, and so is an index of the host",
        figures="1 HtoD, 1 wait for the number; 1 HtoD, 1 wait for each index of the host; nothing for a "
        "value and an index on the device",
        instead="x.index_fill_(dim, index, 3) takes the number as it is",
        before="x[index] = 3",
        after="x.index_fill_(0, index, 3)",
    ),
    Spelling(
        ("torch.where(mask, x, number)", "torch.where"),
        "A choice between tensors by a mask; a 0-dim tensor of the host as operand is uploaded.",
        by="where.self",
        kind="upload",
        before="y = torch.where(mask, x, torch.tensor(0.0))",
        after="y = torch.where(mask, x, 0.0)",
    ),
)  # fmt: skip
