"""The matrix exponential: the host reads the norm to choose a polynomial."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from syncscope.simcuda.charges import Charge
from syncscope.simcuda.costs.layouts import charged
from syncscope.simcuda.costs.table import Call, cost, device_copy, fetch, read
from syncscope.simcuda.hearing import unheard

_DEGREES = ((5.978858893805233e-04, 1), (5.116619363445086e-02, 3), (5.800524627688768e-01, 5))
_DEGREES_DOUBLE = ((2.220446049250313e-16, 1), (2.580956802971767e-08, 1), (3.397168839976962e-04, 3),
                   (4.991228871115323e-02, 5))  # fmt: skip

_NORM = "the norm decides the degree of the polynomial, so the host fetches it"
_SQUARINGS = "the norm decides how often the result is squared, so the host reads it"
_POWERS = "powers of the matrix are copied into one tensor"


@cost(
    "linalg_matrix_exp",
    why="the norm decides the degree of the polynomial, so the host fetches it; coefficients go up",
    source="aten/src/ATen/native/LinearAlgebra.cpp, compute_T18_scale_square, linalg_matrix_exp",
    figures="1 to 3 DtoH, 1 to 5 HtoD, 2 or more DtoD, 2 to 6 waits by the norm; nothing for matrices "
    "of one element",
    instead="keep the exponential of a matrix that doesn't change; one call on a batch waits 3 times for all",
)
def matrix_exp(call: Call) -> list[Charge]:
    """By the norm of the matrix; a batch is sorted into degrees."""
    matrices = call["self"]
    if matrices.dim() < 2 or not matrices.numel() or matrices.shape[-1] == 1:
        return []
    if matrices.shape[:-2].numel() > 1:
        return _of_a_batch(matrices)
    norm = _norms(matrices)[0]
    fetched = fetch(matrices[..., 0, 0].reshape(()), why=_NORM)
    return charged(fetched, *_polynomial(matrices, norm))


def _norms(matrices: Tensor) -> list[float]:
    with unheard():
        norms: list[float] = matrices.detach().abs().sum(-2).amax(-1).reshape(-1).tolist()
        return norms


def _squarings(norm: float, matrices: Tensor) -> int:
    limit = 3.010066362817634 if matrices.dtype is torch.float32 else 1.090863719290036
    return max(0, math.ceil(math.log2(norm / limit))) if norm > 0 else 0


def _polynomial(matrices: Tensor, norm: float) -> list[Charge | None]:
    double = matrices.dtype in (torch.float64, torch.complex128)
    for limit, coefficients in _DEGREES_DOUBLE if double else _DEGREES:
        if norm < limit:
            return [_coefficients(coefficients), device_copy(matrices, 2, _POWERS)]
    if norm < (2.996158913811580e-01 if double else 1.461661507209034):
        return [_coefficients(2), device_copy(matrices, 2, _POWERS)]
    copies = device_copy(matrices, 9 + _squarings(norm, matrices), _POWERS)
    return [_coefficients(3), copies, *[read(matrices, why=_SQUARINGS)] * 2]


def _of_a_batch(matrices: Tensor) -> list[Charge]:
    """A copy for each squaring, and one more where all are squared as often: joining one part is a memcpy."""
    norms = matrices[..., 0, 0]
    squarings = {_squarings(norm, matrices) for norm in _norms(matrices)}
    copies = device_copy(matrices, 8 + max(squarings) + (len(squarings) == 1), _POWERS)
    return charged(_coefficients(1), copies, read(matrices, why=_SQUARINGS), fetch(norms, why=_NORM))


def _coefficients(times: int) -> Charge:
    return Charge("upload", htod=times, waits=times, why="coefficients of the polynomial are uploaded")
