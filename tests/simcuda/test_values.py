"""On the simulated device every value is the CPU's, bit for bit: shape, dtype and layout too."""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from syncscope.simcuda.simulation import SimulatedDevice

FLOATS = (torch.float32, torch.float64, torch.bfloat16, torch.float16)
INTEGERS = (torch.int64, torch.int32, torch.uint8)
DTYPES = (*FLOATS, *INTEGERS, torch.bool, torch.complex64)
NUMBERS = (0, 1, 2, -3, 7, 0.5, -1.25, 1e-3, 3.0, True, 2 + 1j)
SHAPES = ((), (1,), (4,), (3, 4), (0,), (2, 1, 3))

# Of a tensor x, one of the same shape y, and a number n.
CALLS = {
    "x + n": lambda x, y, n: x + n,
    "n + x": lambda x, y, n: n + x,
    "n - x": lambda x, y, n: n - x,
    "x * n": lambda x, y, n: x * n,
    "x / n": lambda x, y, n: x / n,
    "n / x": lambda x, y, n: n / x,
    "x // n": lambda x, y, n: x // n,
    "n // x": lambda x, y, n: n // x,
    "x % n": lambda x, y, n: x % n,
    "n % x": lambda x, y, n: n % x,
    "x ** n": lambda x, y, n: x**n,
    "n ** x": lambda x, y, n: n**x,
    "x & n": lambda x, y, n: x & n,
    "n | x": lambda x, y, n: n | x,
    "x ^ n": lambda x, y, n: x ^ n,
    "x << n": lambda x, y, n: x << n,
    "x < n": lambda x, y, n: x < n,
    "x == n": lambda x, y, n: x == n,
    "n >= x": lambda x, y, n: n >= x,
    "x + y": lambda x, y, n: x + y,
    "x - y*n": lambda x, y, n: torch.sub(x, y, alpha=n),
    "add alpha": lambda x, y, n: torch.add(x, n, alpha=2),
    "rsub": lambda x, y, n: torch.rsub(x, n),
    "x += n": lambda x, y, n: x.clone().add_(n),
    "x *= n": lambda x, y, n: x.clone().mul_(n),
    "x -= y": lambda x, y, n: x.clone().sub_(y, alpha=2),
    "x /= n": lambda x, y, n: x.clone().div_(n),
    "div trunc": lambda x, y, n: torch.div(x, n, rounding_mode="trunc"),
    "div floor": lambda x, y, n: torch.div(x, y + 1, rounding_mode="floor"),
    "remainder": lambda x, y, n: torch.remainder(n, x),
    "fmod": lambda x, y, n: torch.fmod(x, n),
    "maximum": lambda x, y, n: torch.maximum(x, y),
    "where number": lambda x, y, n: torch.where(x > 0, x, n),
    "where numbers": lambda x, y, n: torch.where(x > 0, n, 0.5),
    "where number first": lambda x, y, n: torch.where(x > 0, n, y),
    "clamp": lambda x, y, n: x.clamp(min=n),
    "clamp both": lambda x, y, n: torch.clamp(x, -1, n),
    "clamp tensors": lambda x, y, n: torch.clamp(x, min=y),
    "lerp": lambda x, y, n: torch.lerp(x, y, n),
    "addcmul": lambda x, y, n: torch.addcmul(x, y, y, value=n),
    "addcdiv": lambda x, y, n: torch.addcdiv(x, y, y + 2, value=n),
    "atan2": lambda x, y, n: torch.atan2(x, y),
    "xlogy": lambda x, y, n: torch.xlogy(n, x),
    "xlogy other": lambda x, y, n: torch.xlogy(x, n),
    "copysign": lambda x, y, n: torch.copysign(x, n),
    "float_power": lambda x, y, n: torch.float_power(x, n),
    "ldexp": lambda x, y, n: torch.ldexp(x, torch.tensor(2, device=x.device)),
    "logical_or": lambda x, y, n: torch.logical_or(x, y),
    "bitwise_and": lambda x, y, n: torch.bitwise_and(n, x),
    "isclose": lambda x, y, n: torch.isclose(x, y),
    "masked_fill": lambda x, y, n: x.masked_fill(x > 0, n),
    "full_like": lambda x, y, n: torch.full_like(x, n),
    "fill_": lambda x, y, n: x.clone().fill_(n),
    "eq number": lambda x, y, n: torch.eq(x, n),
    "ne in place": lambda x, y, n: x.clone().ne_(n),
    "nextafter": lambda x, y, n: torch.nextafter(x, y),
    "exp": lambda x, y, n: x.exp(),
    "neg": lambda x, y, n: -x,
    "abs": lambda x, y, n: x.abs(),
    "sigmoid": lambda x, y, n: x.sigmoid(),
    "gelu": lambda x, y, n: F.gelu(x),
    "relu": lambda x, y, n: F.relu(x),
    "leaky_relu": lambda x, y, n: F.leaky_relu(x, n),
    "threshold": lambda x, y, n: F.threshold(x, 0.1, n),
    "elu": lambda x, y, n: F.elu(x, n),
    "softmax": lambda x, y, n: x.softmax(-1),
    "softmax to float": lambda x, y, n: F.softmax(x, -1, dtype=torch.float32),
    "layer_norm": lambda x, y, n: F.layer_norm(x, x.shape[-1:]),
    "sum": lambda x, y, n: x.sum(),
    "sum dim": lambda x, y, n: x.sum(-1, keepdim=True),
    "mean": lambda x, y, n: x.mean(),
    "var": lambda x, y, n: x.var(),
    "norm": lambda x, y, n: x.norm(),
    "amax": lambda x, y, n: x.amax(),
    "argmax": lambda x, y, n: x.argmax(),
    "cumsum": lambda x, y, n: x.cumsum(-1),
    "sort": lambda x, y, n: x.sort(dim=-1, stable=True),
    "topk": lambda x, y, n: x.topk(1),
    "unique": lambda x, y, n: x.unique(),
    "nonzero": lambda x, y, n: x.nonzero(),
    "x[mask]": lambda x, y, n: x[x == x],
    "matmul": lambda x, y, n: x @ y.mT,
    "outer": lambda x, y, n: torch.outer(x, y),
    "einsum": lambda x, y, n: torch.einsum("...i,...i->...", x, y),
    "cat": lambda x, y, n: torch.cat([x, y], -1),
    "stack": lambda x, y, n: torch.stack([x, y]),
    "flip": lambda x, y, n: x.flip(-1),
    "transposed": lambda x, y, n: x.mT,
    "gather": lambda x, y, n: x.gather(-1, torch.zeros(x.shape, dtype=torch.int64, device=x.device)),
    "to float": lambda x, y, n: x.to(torch.float32),
    "half": lambda x, y, n: x.half(),
    "0-dim host tensor": lambda x, y, n: x + torch.tensor(n, device="cpu"),
    "host tensor times": lambda x, y, n: torch.tensor(n, device="cpu") * x,
    "0-dim device tensor": lambda x, y, n: x * torch.tensor(n, device=x.device),
    "new_full": lambda x, y, n: x.new_full((2,), n),
    "arange": lambda x, y, n: torch.arange(4, device=x.device) * n,
    "result_type": lambda x, y, n: torch.zeros(1, dtype=torch.result_type(x, n), device=x.device),
    "type promotion": lambda x, y, n: x + y.to(torch.float32) * n,
    "foreach": lambda x, y, n: torch._foreach_add([x, y], n),
    "foreach list": lambda x, y, n: torch._foreach_mul([x, y], [y, x]),
    "polar": lambda x, y, n: torch.polar(x, y),
    "dot": lambda x, y, n: torch.dot(x, y),
    "heaviside": lambda x, y, n: torch.heaviside(x, y),
    "diff": lambda x, y, n: torch.diff(x),
    "logaddexp": lambda x, y, n: torch.logaddexp(x, y),
    "dropout off": lambda x, y, n: F.dropout(x, 0.5, training=False),
}  # fmt: skip


PRODUCTS = ("matmul", "dot", "einsum")


def data(shape, dtype, seed):
    values = torch.randint(-4, 5, shape, generator=torch.Generator().manual_seed(seed))
    return (values / 2).to(dtype) if dtype in FLOATS else values.to(dtype)


def outcome(call, x, y, n):
    try:
        return call(x, y, n)
    except (RuntimeError, TypeError, IndexError, ValueError) as error:
        return type(error)


def parts(value):
    """What a result is made of, in bits."""
    if isinstance(value, torch.Tensor):
        flat = value.detach().resolve_conj().resolve_neg().contiguous().view(-1)
        return value.dtype, value.shape, value.stride(), bytes(flat.view(torch.uint8).tolist())
    return [parts(item) for item in value] if isinstance(value, (tuple, list)) else value


def check(name, shape, dtype, n, seed):
    call = CALLS[name]
    x, y = data(shape, dtype, seed), data(shape, dtype, seed + 1)
    with SimulatedDevice(lambda event: None):
        simulated = outcome(call, x.to("cuda"), y.to("cuda"), n)
    expected = outcome(call, x, y, n)
    if name in PRODUCTS and dtype not in FLOATS:
        return  # CUDA multiplies no integers: see test_costs_other_spellings.py
    # An operator that the CPU lacks, or that fails, fails in the same way.
    assert parts(simulated) == parts(expected), f"{name} with {n!r} on {dtype} {tuple(shape)}"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_values_are_the_cpus_for_every_dtype(name):
    for dtype in DTYPES:
        for n in (2, 0.5):
            check(name, (3, 4), dtype, n, seed=0)


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(sorted(CALLS)),
    st.sampled_from(SHAPES),
    st.sampled_from(DTYPES),
    st.sampled_from(NUMBERS),
    st.integers(0, 99),
)
def test_values_are_the_cpus(name, shape, dtype, n, seed):
    check(name, shape, dtype, n, seed)


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.sampled_from(sorted(CALLS)), min_size=2, max_size=5),
    st.sampled_from(FLOATS),
    st.integers(0, 99),
)
def test_values_are_the_cpus_through_several_calls_and_backward(names, dtype, seed):
    def chain(x):
        leaf = x.clone().requires_grad_()
        value = leaf
        for name in names:
            result = outcome(CALLS[name], value, value, 0.5)
            if isinstance(result, torch.Tensor) and result.is_floating_point() and result.shape == x.shape:
                value = result
        gradient = outcome(lambda total, *_: torch.autograd.grad(total, leaf), value.sum(), None, None)
        return [value.detach(), gradient]

    x = data((3, 4), dtype, seed)
    with SimulatedDevice(lambda event: None):
        simulated = chain(x.to("cuda"))
    assert parts(simulated) == parts(chain(x))


def volume(dtype):
    return torch.arange(8.0).reshape(1, 1, 2, 2, 2).to(dtype)


def image(dtype):
    return torch.arange(16.0).reshape(1, 1, 4, 4).to(dtype)


@pytest.mark.parametrize(
    "call, dtypes",
    [
        (lambda dtype: torch.histc(torch.tensor([0, 1, 1, 3]).to(dtype), 2, min=0, max=3), INTEGERS),
        (lambda dtype: F.avg_pool3d(volume(dtype), 2), FLOATS),
        (lambda dtype: F.interpolate(image(dtype), (2, 2), mode="bilinear", antialias=True), FLOATS),
        (lambda dtype: F.interpolate(image(dtype), (2, 2), mode="bicubic", antialias=True), FLOATS),
        (lambda dtype: F.multi_margin_loss(image(dtype)[0, 0], torch.arange(4)), FLOATS),
        (lambda dtype: F.multilabel_margin_loss(image(dtype)[0, 0], torch.eye(4).long()), FLOATS),
    ],
)
def test_dtypes_that_only_cudas_kernels_take(call, dtypes):
    wide = torch.float64
    expected = call(wide)
    with SimulatedDevice(lambda event: None), torch.device("cuda"):
        for dtype in dtypes:
            result = call(dtype)
            assert result.is_cuda and result.dtype == dtype
            torch.testing.assert_close(result.cpu().to(wide), expected, rtol=0.01, atol=0.01)
