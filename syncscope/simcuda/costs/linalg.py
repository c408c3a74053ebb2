"""Linear algebra: copies into column order, and error checks that read back.

Waits inside cuSOLVER and MAGMA aren't in PyTorch's hands and aren't here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from syncscope.simcuda import preferences
from syncscope.simcuda.charges import Charge
from syncscope.simcuda.costs.layouts import INTO_COLUMNS, VERSION, by_columns, charged, copy_to_columns
from syncscope.simcuda.costs.table import Call, cost, device_copy, fetch, read
from syncscope.simcuda.hearing import unheard

_CHECK = "the host learns whether the factorisation failed"
_INFO = "whether the factorisation failed is one flag: all() of a single element copies it"
_FINITE = "the host learns whether all elements are finite"
_MAGMA = "MAGMA, which takes what cuSOLVER can't, waits for its queue"
_NO_CHECK = "the _ex form with check_errors=False doesn't read"


def error_check(matrices: Tensor) -> list[Charge]:
    """``info`` of every matrix is read as one flag; of a single one it is copied first (allany_impl)."""
    one = matrices.shape[:-2].numel() == 1
    read_flag = Charge("scalar_read", dtoh=1, waits=1, dtype="bool", why=_CHECK)
    return charged(_info(matrices) if one else None, read_flag)


def _info(matrices: Tensor) -> Charge:
    return Charge("copy", dtod=1, shape=tuple(matrices.shape[:-2]), dtype="int32", why=_INFO)


@cost(
    "_linalg_check_errors",
    why=_CHECK,
    source="aten/src/ATen/native/BatchLinearAlgebra.cpp, _linalg_check_errors",
    figures="1 DtoH, 1 wait; 1 DtoD more for a single matrix; 1 DtoH, 1 wait more where one failed",
    instead=_NO_CHECK,
    enters=True,
    fails_late=True,
)
def check_errors(call: Call) -> Charge | None:
    """any() and item() are heard; where one of a batch failed the host fetches which."""
    info = call["info"]
    with unheard():
        failed = not call["is_matrix"] and bool(info.numpy().any())
    return fetch(info, why=_CHECK) if failed else None


def _eliminated(call: Call, run: Callable[..., Any]) -> Any:
    """LAPACK always pivots: where the call asks for none the elimination is done here."""
    if call["pivot"]:
        return run(*call.args, **call.kwargs)
    if call.operator.name == "linalg_lu":
        return _unpacked(call["A"])
    return _without_pivots(call["A"])


def _unpacked(matrices: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    factors, pivots, _ = _without_pivots(matrices)
    _, lower, upper = torch.lu_unpack(factors, pivots, unpack_pivots=False)
    return matrices.new_empty(0), lower, upper


def _without_pivots(matrices: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    factors = matrices.clone()
    steps = min(factors.shape[-2:])
    for k in range(steps):
        factors[..., k + 1 :, k] /= factors[..., k, k, None]
        below = factors[..., k + 1 :, k, None] * factors[..., k, None, k + 1 :]
        factors[..., k + 1 :, k + 1 :] -= below
    pivots = torch.arange(1, steps + 1, dtype=torch.int32).expand(*factors.shape[:-2], steps)
    return factors, pivots.contiguous(), torch.zeros(factors.shape[:-2], dtype=torch.int32)


@cost(
    "linalg_lu_factor_ex",
    "linalg_lu",
    stand_in=_eliminated,
    why="without pivots the matrix is copied first; of a matrix that isn't square MAGMA waits for its queue",
    source="aten/src/ATen/native/cuda/linalg/BatchLinearAlgebra.cpp, lu_factor; magma's queues",
    figures="1 DtoH, 1 wait with check_errors=True; 3 waits where the matrices aren't square, but none "
    'with preferred_linalg_library("cusolver"); 1 DtoD by the order in memory',
    instead="check_errors=False, as by default, and square matrices",
)
def lu_factor_ex(call: Call) -> list[Charge]:
    """A copy in column order, MAGMA's waits, and the check where it is asked for."""
    matrices = call["A"]
    waits = [Charge("wait", waits=3, why=_MAGMA, silent=True)] if _needs_magma(matrices) else []
    copied = copy_to_columns(matrices) if call["pivot"] else _unless_batched(matrices)
    checked = call.operator.name != "linalg_lu" and call["check_errors"]
    return [*waits, *charged(copied), *(error_check(matrices) if checked else [])]


def _needs_magma(matrices: Tensor) -> bool:
    square = matrices.dim() < 2 or matrices.shape[-1] == matrices.shape[-2]
    return not square and matrices.numel() > 0 and preferences.magma_takes_what_is_not_square()


def _unless_batched(matrices: Tensor) -> Charge | None:
    why = "without pivots the matrix is copied first"
    return device_copy(matrices, why=why) if matrices.dim() == 2 else None


@cost(
    "linalg_ldl_factor_ex",
    "linalg_cholesky_ex",
    "linalg_inv_ex",
    why=INTO_COLUMNS,
    source="aten/src/ATen/native/BatchLinearAlgebra.cpp, linalg_cholesky_ex_out, linalg_inv_ex_out",
    figures="1 DtoH, 1 wait with check_errors=True; 1 DtoD where the matrix is in column order; "
    "nothing otherwise",
    instead="check_errors=False, as by default",
)
def factor_ex(call: Call) -> list[Charge]:
    """A copy in column order, and the check where it is asked for."""
    matrices = call["self" if "self" in call.operator.arguments else "A"]
    copies = call.operator.name != "linalg_ldl_factor_ex" and _copied_by_columns(call, matrices)
    checks = error_check(matrices) if call["check_errors"] else []
    return [*charged(device_copy(matrices, why=INTO_COLUMNS) if copies else None), *checks]


def _copied_by_columns(call: Call, matrices: Tensor) -> bool:
    upper = "upper" in call.operator.arguments and call["upper"]
    return by_columns(matrices) and not upper


@cost(
    "_linalg_solve_ex",
    why=INTO_COLUMNS,
    source="aten/src/ATen/native/BatchLinearAlgebra.cpp, _linalg_solve_ex_out, linalg_lu_solve_out",
    figures="1 DtoH, 1 wait with check_errors=True; 1 DtoD for each side in column order, 2 for a "
    "vector; nothing otherwise",
    instead="check_errors=False, as by default",
)
def solve_ex(call: Call) -> list[Charge]:
    """Both matrices in column order, a vector twice, and the check where it is asked for."""
    matrices, right = call["A"], call["B"]
    vector = right.dim() == 1 or (right.dim() == matrices.dim() - 1 and right.shape == matrices.shape[:-1])
    copied = _vector(right) if vector else _right_side(right, call["left"], matrices)
    checks = error_check(matrices) if call["check_errors"] else []
    return [*charged(copy_to_columns(matrices), copied), *checks]


def _vector(right: Tensor) -> Charge | None:
    why = "a vector is a matrix of one column, copied as it is"
    return device_copy(right, 2 if right.dim() == 1 else 1, why=why)


def _right_side(right: Tensor, left: bool, matrices: Tensor) -> Charge | None:
    """A right side that is the same for a batch of matrices is spread out by a kernel."""
    if right.shape[:-2].numel() < matrices.shape[:-2].numel():
        return None
    return copy_to_columns(right if left else right.transpose(-2, -1))


@cost(
    "linalg_lu_solve",
    "linalg_solve_triangular",
    "triangular_solve",
    "_cholesky_solve_helper",
    "cholesky_solve",
    "linalg_ldl_solve",
    why=INTO_COLUMNS,
    source="aten/src/ATen/native/BatchLinearAlgebra.cpp, linalg_lu_solve_out, linalg_solve_triangular_out",
    figures="1 DtoD where the right side is in column order; 1 wait for linalg_ldl_solve; nothing otherwise",
    instead="linalg.lu_solve or cholesky_solve: of these only ldl_solve waits",
)
def solve(call: Call) -> list[Charge]:
    """The right side in column order; MAGMA's LDL solve waits for its queue."""
    right = call["self" if "self" in call.operator.arguments and "B" not in call.operator.arguments else "B"]
    waits = [Charge("wait", waits=1, why=_MAGMA)] if _is_ldl(call) and right.numel() else []
    turned = call.operator.name == "linalg_lu_solve" and not call["left"]
    return [*charged(copy_to_columns(right.mT if turned else right)), *waits]


def _is_ldl(call: Call) -> bool:
    return call.operator.name == "linalg_ldl_solve"


@cost(
    "_linalg_det",
    "_linalg_slogdet",
    why="the matrix or its transpose is factored, whichever is in column order",
    source="aten/src/ATen/native/BatchLinearAlgebra.cpp, _linalg_det_out, _linalg_slogdet_out",
    figures="1 DtoD where the matrix is dense, in rows or in columns, a complex one in columns; nothing "
    "otherwise",
)
def determinant(call: Call) -> Charge | None:
    """A memcpy of a dense matrix; of a complex one, where it is in column order."""
    matrices = call["A"]
    turned = matrices.is_contiguous() and not matrices.is_complex()
    return device_copy(matrices) if turned or by_columns(matrices) else None


@cost(
    "cholesky",
    why=_CHECK,
    source="aten/src/ATen/native/BatchLinearAlgebra.cpp, cholesky",
    figures="1 DtoH, 1 wait; 1 DtoD more for a single matrix, and where the matrix is in column order; "
    "nothing without elements",
    instead="torch.linalg.cholesky_ex with check_errors=False, which doesn't read",
)
def cholesky(call: Call) -> list[Charge]:
    """A copy in column order, and the check."""
    matrices = call["self"]
    return [*charged(copy_to_columns(matrices)), *error_check(matrices)] if matrices.numel() else []


@cost(
    "cholesky_inverse",
    why="the factor is cloned into column order and the result copied back",
    source="aten/src/ATen/native/BatchLinearAlgebra.cpp, cholesky_inverse_out; cuda/linalg, potri",
    figures="2 DtoD for a single matrix; 1 DtoD for a batch; 1 DtoD more where the matrix is in column order",
    versions="up to 2.11: 1 DtoD for a single matrix",
)
def cholesky_inverse(call: Call) -> list[Charge]:
    """A matrix twice, a batch once; once more where it is in column order."""
    matrices = call["self"]
    times = 2 if matrices.shape[:-2].numel() == 1 and not VERSION <= (2, 11) else 1
    in_order = by_columns(matrices) and not matrices.is_contiguous()
    return charged(device_copy(matrices, times), device_copy(matrices) if in_order else None)


@cost(
    "geqrf",
    "linalg_householder_product",
    why=INTO_COLUMNS,
    source="aten/src/ATen/native/BatchLinearAlgebra.cpp, geqrf_out, linalg_householder_product_out",
    figures="1 DtoD where the matrix is in column order; nothing otherwise",
)
def reflectors(call: Call) -> Charge | None:
    """The matrix."""
    return copy_to_columns(call[call.operator.arguments[0]])


@cost(
    "ormqr",
    why=INTO_COLUMNS,
    source="aten/src/ATen/native/BatchLinearAlgebra.cpp, ormqr_out",
    figures="1 DtoD where the matrix that is multiplied is in column order; nothing otherwise",
)
def ormqr(call: Call) -> Charge | None:
    """The matrix that is multiplied."""
    return copy_to_columns(call["input3"])


@cost(
    "linalg_qr",
    why="the matrix is copied into column order, and back where Q and R have other sizes",
    source="aten/src/ATen/native/BatchLinearAlgebra.cpp, linalg_qr_out",
    figures="1 DtoD where the matrix is in column order; 1 DtoD more where Q and R have other sizes; "
    "nothing otherwise",
)
def qr(call: Call) -> list[Charge]:
    """One or two memcpys of a matrix, by its order and its sizes."""
    matrices = call["A"]
    if matrices.dim() < 2:
        return []
    rows, columns = matrices.shape[-2:]
    single = matrices.shape[:-2].numel() == 1
    wide = (
        call["mode"] != "r" and single and (rows < columns or (call["mode"] == "complete" and rows > columns))
    )
    why = "Q or R has another size than the matrix, and is copied out of it"
    return charged(copy_to_columns(matrices), device_copy(matrices, why=why) if wide else None)


@cost(
    "_linalg_eigh",
    why=_CHECK,
    source="aten/src/ATen/native/BatchLinearAlgebra.cpp, linalg_eigh_out",
    figures="1 DtoH, 1 wait; 1 DtoD for a single matrix; 1 DtoD more where it is in column order; "
    "nothing where empty",
    instead="one call on a batch of matrices reads once for all",
)
def eigh(call: Call) -> list[Charge]:
    """A copy in column order and the check, unless there is nothing."""
    if not call["A"].numel():
        return []
    return [*charged(copy_to_columns(call["A"])), *error_check(call["A"])]


@cost(
    "linalg_eig",
    "linalg_eigvals",
    "_linalg_eigvals",
    why="the host checks that the input is finite and that the computation succeeded",
    source="aten/src/ATen/native/BatchLinearAlgebra.cpp, linalg_eig_out, linalg_eigvals_out",
    figures="3 DtoH, 3 waits for real matrices; 2 DtoH, 2 waits for complex ones, or for the "
    "eigenvalues of real ones; 1 DtoH, 1 wait for the eigenvalues of complex ones; 1 or more "
    "DtoD by the layout",
    instead="torch.linalg.eigh, if the matrix is symmetric, reads once",
    fails_late=True,
)
def eig(call: Call) -> list[Charge]:
    """Two reads, and for real vectors a third: whether a pair is complex."""
    matrices = call["self"]
    if matrices.dim() < 2 or not _is_finite(matrices):
        return [read(matrices, why=_FINITE)]
    real_vectors = call.operator.name == "linalg_eig" and not matrices.is_complex()
    finite = read(matrices, why=_FINITE)
    pairs = read(
        matrices, why="the host learns whether an eigenvalue is complex, to join the vectors of a pair"
    )
    reads = [finite, pairs] if real_vectors else [finite]
    if matrices.is_complex():
        reads = reads[1:] if call.operator.name != "linalg_eig" else reads
    return [
        *reads,
        *charged(device_copy(matrices, why="the matrix is copied before")),
        *error_check(matrices),
    ]


def _is_finite(matrices: Tensor) -> bool:
    with unheard():
        return bool(torch.isfinite(matrices.detach()).all())


def _without_driver(call: Call, run: Callable[..., Any]) -> Any:
    """LAPACK knows no drivers."""
    return run(call["A"], call["full_matrices"], call["compute_uv"])


@cost(
    "_linalg_svd",
    why="the default drivers fetch info to see whether another driver is needed, then it is checked",
    source="aten/src/ATen/native/cuda/linalg/BatchLinearAlgebraLib.cpp, svd_cusolver; "
    "BatchLinearAlgebra.cpp, _linalg_svd_out",
    figures='2 DtoH, 2 waits; 1 DtoH, 1 wait with driver="gesvd"; 0 to 3 DtoD by the layout; nothing '
    "where empty",
    instead='driver="gesvd" reads once',
    stand_in=_without_driver,
)
def svd(call: Call) -> list[Charge]:
    """Copies in column order; two reads, one with gesvd."""
    matrices = call["A"]
    if matrices.dim() < 2 or not matrices.numel():
        return []
    rows, columns = matrices.shape[-2:]
    if call["driver"] == "gesvd":
        turned = matrices.transpose(-2, -1) if rows < columns else matrices
        return [*charged(copy_to_columns(turned)), *error_check(matrices)]
    thin = call["compute_uv"] and not call["full_matrices"]
    why = "of the full factor the part that was asked for is copied"
    cut = device_copy(matrices, why=why) if thin and rows != columns and matrices.dim() == 2 else None
    return [*charged(copy_to_columns(matrices), cut), _infos(matrices), *error_check(matrices)]


def _infos(matrices: Tensor) -> Charge:
    shape = tuple(matrices.shape[:-2])
    why = "the host fetches info to see whether the matrix needs another driver"
    return Charge("vector_read", dtoh=1, waits=1, shape=shape, dtype="int32", why=why)


@cost(
    "linalg_lstsq",
    why=_CHECK,
    source="aten/src/ATen/native/BatchLinearAlgebra.cpp, linalg_lstsq_out",
    figures="1 DtoH, 1 wait; 0 to 3 DtoD by the layout",
    instead="torch.linalg.solve_ex(A.mT @ A, A.mT @ b), if A is well conditioned",
)
def lstsq(call: Call) -> list[Charge]:
    """Both sides in column order, and the check.

    Raises:
        RuntimeError: another driver than the only one that CUDA has; as PyTorch words it.
    """
    if call["driver"] not in (None, "gels"):
        raise RuntimeError("torch.linalg.lstsq: `driver` other than `gels` is not supported on CUDA")
    sides = charged(copy_to_columns(call["self"]), copy_to_columns(call["b"]))
    return [*sides, *error_check(call["self"])]
