"""Ways to read a device value: every test here reads, and has to fail under ``no_host_reads``."""

import asyncio
import bisect
import copy
import decimal
import functools
import heapq
import io
import itertools
import json
import logging
import math
import operator
import pickle
import random
import statistics
import struct
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pytest
import reading_elsewhere
import torch
import torch.nn.functional as F

pytestmark = pytest.mark.no_host_reads


@pytest.fixture
def x(syncscope_device):
    return torch.tensor([3.0, 1.0, 2.0], device=syncscope_device)


@pytest.fixture
def n(syncscope_device):
    return torch.tensor(2, device=syncscope_device)


@pytest.fixture
def mask(x):
    return x > 1


def test_item(x):
    x[0].item()


def test_item_unbound(x):
    torch.Tensor.item(x[0])


def test_item_by_getattr(x):
    getattr(x[0], "it" + "em")()


def test_item_by_methodcaller(x):
    operator.methodcaller("item")(x[0])


def test_item_of_the_operator(x):
    torch.ops.aten.item(x[0])


def test_local_scalar_dense(x):
    torch.ops.aten._local_scalar_dense(x[0])


def test_int(n):
    int(n)


def test_float(x):
    float(x[0])


def test_complex(x):
    complex(x[0])


def test_bool(mask):
    bool(mask[0])


def test_if(mask):
    if mask.any():
        pass


def test_while(mask):
    while mask.all():
        pass


def test_not(mask):
    not mask[0]


def test_and(mask):
    mask[0] and 1


def test_conditional_expression(mask):
    1 if mask[0] else 0


def test_assert(mask):
    assert mask.any()


def test_index(n):
    [1, 2, 3][n]


def test_operator_index(n):
    operator.index(n)


def test_slice_bound(n, x):
    x[:n]


def test_slice_of_a_list(n):
    [1, 2, 3][:n]


def test_range(n):
    range(n)


def test_repeat_a_list(n):
    [0] * n


def test_hex(n):
    hex(n)


def test_chr(n):
    chr(n)


def test_round(x):
    round(x[0].item())


def test_format_with_spec(x):
    len(f"{x[0]:.2f}")


def test_f_string(x):
    len(f"{x[0]}")


def test_percent_format(x):
    "%f" % x[0]  # noqa: UP031


def test_percent_s(x):
    "%s" % x  # noqa: UP031


def test_str(x):
    str(x)


def test_repr(x):
    repr(x)


def test_print(x):
    print(x)


def test_print_to_a_file(x):
    print(x, file=io.StringIO())


def test_tolist(x):
    x.tolist()


def test_list_of_items(x):
    [int(v) for v in x]


def test_generator_expression(x):
    sum(float(v) for v in x)


def test_map(x):
    list(map(float, x))


def test_cpu(x):
    x.cpu()


def test_to_cpu(x):
    x.to("cpu")


def test_to_cpu_nonblocking(x):
    x.to("cpu", non_blocking=True)


def test_to_the_device_of_another(x):
    x.to(torch.zeros(1))


def test_numpy_forced(x):
    x.numpy(force=True)


def test_asarray_of_cpu(x):
    np.asarray(x.cpu())


def test_np_asarray_of_a_list(x):
    np.asarray([float(v) for v in x])


def test_copy_into_a_cpu_tensor(x):
    torch.empty(3).copy_(x)


def test_assign_into_a_cpu_tensor(x):
    torch.zeros(3)[:] = x.cpu()


def test_math(x):
    math.sqrt(x[0])


def test_math_isclose(x):
    math.isclose(x[0], 3.0)


def test_max_of_two(x):
    max(x[0], x[1])


def test_min_of_an_iterable(x):
    min(x)


def test_sorted(x):
    sorted(x)


def test_sorted_by_key(x):
    sorted([0, 1, 2], key=lambda i: x[i])


def test_max_by_key(x):
    max(range(3), key=x.__getitem__)


def test_in_a_list(x):
    x[0] in [1.0, 2.0]  # noqa: B015


def test_list_index(x):
    [1.0, x[0]].index(x[0] * 1)


def test_list_count(x):
    [1.0, 2.0].count(x[0])


def test_list_equality(x):
    [x[0]] == [3.0]  # noqa: B015


def test_tuple_equality(x):
    (1, x[0]) == (1, x[0] + 0)  # noqa: B015


def test_contains_of_a_tensor(x):
    3.0 in x  # noqa: B015


def test_any(mask):
    any(mask)


def test_all(mask):
    all(mask)


def test_filter(mask):
    list(filter(None, mask))


def test_zip_and_compare(x):
    [a for a, b in zip(x, x.flip(0), strict=True) if a > b]


def test_random_choices(x):
    random.choices("abc", weights=x)


def test_heap(x):
    heapq.nlargest(2, x)


def test_bisect(x):
    bisect.bisect([1.0, 2.0, 3.0], x[2])


def test_accumulate_with_max(x):
    list(itertools.accumulate(x, max))


def test_reduce(x):
    functools.reduce(lambda a, b: a if a > b else b, x)


def test_takewhile(mask):
    list(itertools.takewhile(bool, mask))


def test_statistics(x):
    statistics.mean(float(v) for v in x)


def test_struct(x):
    struct.pack("f", x[0])


def test_bytes(n):
    bytes(n)


def test_decimal(x):
    decimal.Decimal(float(x[0]))


def test_json(x):
    json.dumps(x.tolist())


def test_pow(n):
    pow(2, int(n))


def test_divmod(n):
    divmod(7, int(n))


def test_dictionary_key(n):
    {0: "a", 2: "b"}[int(n)]


def test_dataclass_equality(x):
    @dataclass
    class Point:
        at: torch.Tensor

    Point(x[0]) == Point(x[0] + 0)  # noqa: B015


def test_property(x):
    reading_elsewhere.Budget(x).total  # noqa: B018


def test_another_module(x):
    reading_elsewhere.first(x)


def test_callback(x):
    list(map(reading_elsewhere.first, [x, x]))


def test_lambda(x):
    (lambda v: v.item())(x[0])


def test_partial(x):
    functools.partial(int, x[0])()


def test_cached(x):
    @functools.cache
    def read():
        return float(x[0])

    read()


def test_generator(x):
    def values():
        for v in x:
            yield v.item()

    next(values())


def test_coroutine(x):
    async def read():
        return x[0].item()

    asyncio.run(read())


def test_thread(x):
    thread = threading.Thread(target=x.tolist)
    thread.start()
    thread.join()


def test_pool(x):
    with ThreadPoolExecutor(1) as pool:
        pool.submit(x.tolist).result()


def test_timer(x):
    timer = threading.Timer(0, x.tolist)
    timer.start()
    timer.join()


def test_finalizer(x):
    class Reads:
        def __del__(self):
            x.tolist()

    Reads()


def test_context_manager(x):
    class Reads:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            x.tolist()

    with Reads():
        pass


def test_exception_text(x):
    with pytest.raises(ValueError, match="tensor"):
        raise ValueError(f"{x}")


def test_logging(x, caplog):
    caplog.set_level(logging.INFO)
    logging.getLogger("model").info("loss %s", x[0])


def test_logging_a_number(x, caplog):
    caplog.set_level(logging.INFO)
    logging.getLogger("model").info("loss %.3f", x[0])


def test_equal(x):
    torch.equal(x, x + 0)


def test_allclose(x):
    torch.allclose(x, x + 0)


def test_assert_close(x):
    torch.testing.assert_close(x, x + 0)


def test_is_nonzero(mask):
    torch.is_nonzero(mask[0])


def test_nonzero(mask):
    mask.nonzero()


def test_argwhere(mask):
    torch.argwhere(mask)


def test_where_of_one(mask):
    torch.where(mask)


def test_boolean_mask(x, mask):
    x[mask]


def test_masked_select(x, mask):
    torch.masked_select(x, mask)


def test_assign_a_tensor_by_mask(x, mask):
    x[mask] = torch.zeros(2, device=x.device)


def test_unique(x):
    x.unique()


def test_unique_consecutive(x):
    torch.unique_consecutive(x)


def test_bincount(n):
    torch.bincount(n.reshape(1))


def test_one_hot(n):
    F.one_hot(n.reshape(1))


def test_repeat_interleave(x):
    torch.repeat_interleave(x.long())


def test_topk_of_a_tensor(x, n):
    x.topk(n)


def test_reshape_by_a_tensor(x, n):
    x[:2].reshape(n, 1)


def test_zeros_of_a_tensor(n):
    torch.zeros(n)


def test_arange_of_a_tensor(n):
    torch.arange(n)


def test_split_by_a_list(x, n):
    x.split([1, n])


def test_tensor_split(x, n):
    x.tensor_split(n.reshape(1).cpu())


def test_tensor_of_tensors(x):
    torch.tensor([x[0], x[1]])


def test_full_of_a_tensor(x):
    torch.full((2,), x[0])


def test_clip_grad_error_if_nonfinite(x):
    x.requires_grad_()
    x.sum().backward()
    torch.nn.utils.clip_grad_norm_([x], 1.0, error_if_nonfinite=True)


def test_backward_of_a_mask(x, mask):
    x.requires_grad_()
    x[mask].sum().backward()


def test_hook(x):
    y = x.clone().requires_grad_()
    y.register_hook(lambda grad: print(grad))
    y.sum().backward()


def test_module_hook(x):
    layer = torch.nn.Linear(3, 1).to(x.device)
    layer.register_forward_hook(lambda module, args, out: out.item())
    layer(x)


def test_pickle(x):
    pickle.dumps(x)


def test_save(x):
    torch.save(x, io.BytesIO())


def test_deepcopy_to_cpu(x):
    copy.deepcopy(x.cpu())


def test_state_dict_to_cpu(x):
    layer = torch.nn.Linear(3, 1).to(x.device)
    {name: value.cpu() for name, value in layer.state_dict().items()}


def test_inside_no_grad(x):
    with torch.no_grad():
        x.sum().item()


def test_inside_inference_mode(x):
    with torch.inference_mode():
        x.sum().item()


def test_detached(x):
    x.detach()[0].item()


def test_data(x):
    x.data[0].item()


def test_view(x):
    x.view(3)[0].item()


def test_parameter(x):
    torch.nn.Parameter(x).sum().item()


def test_subclass(x):
    class Mine(torch.Tensor):
        pass

    x.as_subclass(Mine)[0].item()


def test_unpack_and_compare(x):
    a, b, c = x
    if a > b > c:
        pass


def test_match(n):
    match n:
        case 2:
            pass


def test_swallowed_error(x):
    try:
        x.sum().item()
        raise ValueError
    except ValueError:
        pass


def test_method_that_was_patched(x, monkeypatch):
    own = torch.Tensor.item
    monkeypatch.setattr(torch.Tensor, "item", lambda self: own(self))
    x[0].item()


@pytest.mark.parametrize("at", [0, 1])
def test_parametrised(x, at):
    x[at].item()
