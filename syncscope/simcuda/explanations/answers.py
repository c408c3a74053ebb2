"""Functions of torch that want an answer from the device: checks, comparisons, training."""

from __future__ import annotations

from syncscope.simcuda.explanations.spelling import Spelling

ANSWERS = (
    Spelling(
        ("torch.equal", "Tensor.equal"),
        "Whether two tensors are equal, as a Python bool.",
        by="equal",
        kind="scalar_read",
        before="same = torch.equal(x, y)",
        after="same = (x == y).all()",
    ),
    Spelling(
        ("torch.allclose", "Tensor.allclose"),
        "Whether two tensors are close to each other, as a Python bool.",
        by="_local_scalar_dense",
        kind="scalar_read",
        instead="torch.isclose(a, b).all() stays on the device",
        before="same = torch.allclose(x, y)",
        after="same = torch.isclose(x, y).all()",
    ),
    Spelling(
        ("Tensor.masked_fill", "torch.masked_fill", "Tensor.masked_fill_"),
        "A value where a mask says so: a Python number is free, a 0-dim device tensor is read.",
        by="masked_fill_.Tensor",
        kind="scalar_read",
        before="y = x.masked_fill(mask, t)",
        after="y = torch.where(mask, t, x)",
    ),
    Spelling(
        ("torch.linalg.inv", "torch.linalg.cholesky", "torch.linalg.solve", "torch.linalg.lu_factor",
         "torch.linalg.ldl_factor", "torch.linalg.tensorinv", "torch.linalg.tensorsolve", "torch.inverse",
         "torch.cholesky", "Tensor.inverse"),
        "A matrix is factored or inverted, and an error raised if that fails.",
        by="_linalg_check_errors",
        kind="scalar_read",
        before="y = torch.linalg.inv(A)",
        after="y = torch.linalg.inv_ex(A).inverse",
    ),
    Spelling(
        ("torch.linalg.svd", "torch.linalg.svdvals", "torch.linalg.pinv", "torch.linalg.matrix_rank",
         "torch.linalg.cond", "torch.svd", "torch.pinverse"),
        "Singular values, and what is made of them: so are norms of order 2 and nuclear norms of a matrix.",
        by="_linalg_svd",
        kind="vector_read",
        before="u, s, v = torch.linalg.svd(A)",
        after="u, s, v = torch.linalg.svd(A, driver='gesvd')",
    ),
    Spelling(
        ("torch.linalg.eigh", "torch.linalg.eigvalsh"),
        "Eigenvalues of symmetric matrices.",
        by="_linalg_eigh",
        kind="scalar_read",
    ),
    Spelling(
        ("torch.linalg.eig", "torch.linalg.eigvals"),
        "Eigenvalues of matrices of any kind.",
        by="linalg_eig",
        kind="scalar_read",
        before="values = torch.linalg.eigvals(A)",
        after="values = torch.linalg.eigvalsh(A)",
    ),
    Spelling(
        ("torch.nn.utils.clip_grad_norm_",),
        "Gradients are scaled down to a norm.",
        by="_local_scalar_dense",
        kind="scalar_read",
        why="with error_if_nonfinite=True the host reads whether the norm is finite",
        figures="1 DtoH, 1 wait with error_if_nonfinite=True; nothing otherwise",
        instead="leave error_if_nonfinite out, and look at the norm that is returned, rarely",
        before="torch.nn.utils.clip_grad_norm_([w], 1.0, error_if_nonfinite=True)",
        after="torch.nn.utils.clip_grad_norm_([w], 1.0)",
        source="torch/nn/utils/clip_grad.py, clip_grad_norm_",
    ),
    Spelling(
        ("torch.amp.GradScaler", "GradScaler.step", "GradScaler.get_scale"),
        "The loss is scaled, and a step left out if a gradient overflowed.",
        by="_local_scalar_dense",
        kind="scalar_read",
        why="the host reads whether a gradient overflowed, to leave the step out",
        figures="1 DtoH, 1 wait for each step, and for each get_scale(); nothing for step with an optimizer "
        "that has fused=True",
        instead="an optimizer with fused=True, which looks at the flag on the device",
        source="torch/amp/grad_scaler.py, _maybe_opt_step, get_scale",
    ),
    Spelling(
        ("torch.optim", "optimizer.step", "lr"),
        "A step of an optimizer waits for nothing by default; a learning rate in a device tensor is read.",
        by="_local_scalar_dense",
        kind="scalar_read",
        why="the for-loop form wants the learning rate as a number for each parameter",
        figures="1 DtoH, 1 wait for each parameter with a learning rate on the device; nothing with a float, "
        "fused=True or capturable=True",
        instead="a Python float as lr, or fused=True, or capturable=True",
        source="torch/optim/adam.py, _single_tensor_adam",
    ),
)  # fmt: skip
