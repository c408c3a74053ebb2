"""A scope hears its own thread, all that are started in it if asked to, and says what it misses."""

import _thread
import concurrent.futures
import multiprocessing
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.process import BaseProcess

import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

import syncscope
from syncscope.observe.scope import Scope

EXCHANGED = [
    (threading.Thread, "start"), (BaseProcess, "start"), (subprocess.Popen, "__init__"), (os, "fork"),
    (os, "posix_spawn"), (os, "system"), (_thread, "start_new_thread"),
]  # fmt: skip


def exchanged():
    return [getattr(owner, name, None) for owner, name in EXCHANGED]


@pytest.fixture(autouse=True)
def all_is_put_back():
    before = exchanged()
    yield
    assert exchanged() == before


def in_thread(function):
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()


def unknown(scope):
    return [(event.api, event.site.text) for event in scope.events if event.kind == "unknown"]


def test_another_threads_reads_are_never_charged_to_a_scope():
    with syncscope.observe() as scope:
        x = torch.ones(3, device="cuda")
        in_thread(x.tolist)
        x.sum().item()
    assert (scope.counts.vector_reads, scope.counts.scalar_reads, scope.counts.waits) == (0, 1, 1)


def test_a_thread_that_is_not_heard_is_unknown_at_the_line_that_starts_it():
    with syncscope.observe() as scope:
        thread = threading.Thread(target=int)
        thread.start()  # here
        thread.join()
    assert unknown(scope) == [("threading.Thread.start", "thread.start()  # here")]
    assert scope.counts.unknown_ops == 1
    assert scope.events[0].reason.endswith("threads=True (run --threads) hears it")


def test_a_thread_that_is_not_heard_has_the_device_nevertheless():
    found = []

    def inner():
        found.append(torch.ones(3, device="cuda").device)

    with syncscope.observe() as scope:
        in_thread(lambda: (inner(), in_thread(inner)))
    assert found == [torch.device("cuda:0")] * 2
    assert len(unknown(scope)) == len(scope.events) == 1


def test_with_threads_all_that_are_started_are_heard():
    with syncscope.observe(threads=True) as scope:
        x = torch.ones(3, device="cuda")

        def read():
            x.tolist()

        in_thread(lambda: (read(), in_thread(read)))
        read()
    assert (scope.counts.vector_reads, scope.counts.unknown_ops) == (3, 0)
    assert [(one.site.text, one.events) for one in scope.sites] == [("x.tolist()", 3)]


def test_with_threads_a_pools_workers_are_heard():
    with syncscope.observe(threads=True) as scope, concurrent.futures.ThreadPoolExecutor(3) as pool:
        x = torch.arange(50, device="cuda")
        assert sum(pool.map(lambda i: x[i].item(), range(50))) == sum(range(50))
    assert (scope.counts.scalar_reads, scope.counts.unknown_ops) == (50, 0)


def test_without_threads_a_pools_workers_are_unknown_at_the_users_line():
    with syncscope.observe() as scope, concurrent.futures.ThreadPoolExecutor(1) as pool:
        pool.submit(int).result()  # here
    assert unknown(scope) == [("threading.Thread.start", "pool.submit(int).result()  # here")]


def test_counts_are_exact_when_several_threads_read_at_once():
    with syncscope.observe(threads=True) as scope:
        x = torch.ones((), device="cuda")
        threads = [threading.Thread(target=lambda: [x.item() for _ in range(100)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert scope.counts.scalar_reads == len(scope.events) == 400
    assert scope.operators["_local_scalar_dense"] == 400


def test_a_thread_that_outlives_the_scope_is_heard_no_longer():
    go_on, done = threading.Event(), threading.Event()
    with syncscope.observe(threads=True) as scope:
        x = torch.ones(3, device="cuda")

        def read():
            x.tolist()
            done.set()
            go_on.wait(30)
            x.tolist()

        thread = threading.Thread(target=read)
        thread.start()
        done.wait(30)
    with scope:
        go_on.set()
        thread.join()
    assert scope.counts.vector_reads == 1


def test_threads_of_a_nested_scope_are_charged_to_each_scope_that_hears_threads():
    with syncscope.observe(threads=True) as outer:
        x = torch.ones(3, device="cuda")
        with syncscope.observe() as deaf, syncscope.observe(threads=True) as inner:
            in_thread(x.tolist)
    assert (outer.counts.vector_reads, inner.counts.vector_reads, deaf.counts.vector_reads) == (1, 1, 0)
    assert (outer.counts.unknown_ops, inner.counts.unknown_ops, deaf.counts.unknown_ops) == (0, 0, 1)


def test_a_thread_that_was_not_started_in_the_scope_is_not_told_of():
    ready, leave = threading.Event(), threading.Event()

    def other():
        ready.wait(30)
        in_thread(int)
        leave.set()

    thread = threading.Thread(target=other)
    thread.start()
    with syncscope.observe() as scope:
        ready.set()
        leave.wait(30)
    thread.join()
    assert scope.events == []


def test_a_thread_keeps_its_own_run():
    class Worker(threading.Thread):
        def run(self):
            self.seen = vars(self).get("run")

    with syncscope.observe(threads=True):
        worker = Worker()
        worker.start()
        worker.join()
        with pytest.raises(RuntimeError, match="only be started once"):
            worker.start()
    assert worker.seen is None
    assert "run" not in vars(worker)


@pytest.mark.parametrize(
    ("start", "api"),
    [
        (lambda: subprocess.run([sys.executable, "-c", ""], check=True), "subprocess.Popen"),
        (lambda: os.popen("true").close(), "subprocess.Popen"),
        (lambda: os.system("true"), "os.system"),
        (lambda: _thread.start_new_thread(int, ()), "_thread.start_new_thread"),
    ],
)
def test_a_process_is_unknown_at_the_line_that_starts_it(start, api):
    with syncscope.observe(threads=True) as scope:
        start()
    assert [event.api for event in scope.events] == [api]
    assert scope.events[0].site.text.startswith("(lambda: ")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_process_of_multiprocessing_is_one_unknown_event():
    with syncscope.observe() as scope:
        process = multiprocessing.get_context("fork").Process(target=int)
        process.start()
        process.join()
    assert unknown(scope) == [("multiprocessing.Process.start", "process.start()")]


@pytest.mark.parametrize("threads", [False, True])
def test_a_bare_thread_is_said_to_be_a_thread_and_how_it_would_be_heard(threads):
    with syncscope.observe(threads=threads) as scope:
        _thread.start_new_thread(int, ())
    (event,) = scope.events
    assert event.reason.startswith("what this thread reads")
    assert "start it as a threading.Thread" in event.reason


def test_a_process_that_could_not_be_started_is_not_told_of():
    with syncscope.observe() as scope, pytest.raises(FileNotFoundError):
        subprocess.run(["no-such-program-at-all"], check=False)
    assert scope.events == []


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
@pytest.mark.parametrize("threads", [False, True])
def test_a_loaders_own_threads_and_workers_are_not_unknown(threads):
    with syncscope.observe(threads=threads) as scope:
        loader = DataLoader(TensorDataset(torch.arange(4.0)), batch_size=2, num_workers=1, pin_memory=True)
        for (batch,) in loader:
            assert batch.to("cuda", non_blocking=True).is_cuda
    assert (scope.counts.htod, scope.counts.waits, scope.counts.unknown_ops) == (2, 0, 0)


def test_a_loaders_spawned_workers_can_reach_the_device_and_are_unknown():
    with syncscope.observe() as scope:
        loader = DataLoader(TensorDataset(torch.arange(4.0)), num_workers=1, multiprocessing_context="spawn")
        for _ in loader:
            pass
    assert unknown(scope) == [("multiprocessing.Process.start", "for _ in loader:")]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, GeneratorExit])
def test_all_is_put_back_after_an_error(error):
    with pytest.raises(error), syncscope.observe(threads=True):
        raise error


def test_what_another_tool_put_over_it_meanwhile_stays(monkeypatch):
    with syncscope.observe():
        ours = threading.Thread.start
        monkeypatch.setattr(threading.Thread, "start", lambda self: ours(self))
        theirs = threading.Thread.start
    assert threading.Thread.start is theirs
    in_thread(int)
    monkeypatch.undo()  # puts ours back, which only passes on
    in_thread(int)
    threading.Thread.start = ours.__wrapped__


def test_what_a_heard_thread_starts_is_told_of_while_the_scope_lasts():
    go_on, done = threading.Event(), threading.Event()

    def start():
        os.system("true")  # in time
        done.set()
        go_on.wait(30)
        os.system("true")

    with syncscope.observe(threads=True) as scope:
        thread = threading.Thread(target=start)
        thread.start()
        done.wait(30)
    with syncscope.observe():
        go_on.set()
        thread.join()
    assert unknown(scope) == [("os.system", 'os.system("true")  # in time')]


@pytest.fixture
def old_pool():
    """A pool whose only thread is older than any scope."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(int).result()
        yield pool


def test_work_for_a_thread_that_was_there_before_is_heard(old_pool):
    for _ in range(2):
        with Scope(threads=True) as scope:
            x = torch.ones(3, device="cuda")
            old_pool.submit(lambda x: x.tolist(), x).result()
            old_pool.submit(torch.cuda.synchronize).result()
        assert (scope.counts.vector_reads, scope.counts.waits) == (1, 2)
    assert old_pool.submit(lambda: torch.ones(1).is_cuda).result() is False


def test_work_for_a_thread_that_was_there_before_is_unknown_where_threads_are_not_heard(old_pool):
    with Scope() as scope:
        x = torch.ones(3, device="cuda")
        old_pool.submit(x.tolist).result()
    assert [(event.kind, event.api) for event in scope.events] == [("unknown", "ThreadPoolExecutor.submit")]


def test_work_is_charged_once_to_each_scope(old_pool):
    with Scope(threads=True) as outer, Scope(threads=True) as inner, ThreadPoolExecutor(1) as pool:
        x = torch.ones(3, device="cuda")
        pool.submit(x.tolist).result()
        pool.submit(x.tolist).result()
        old_pool.submit(x.tolist).result()
    assert outer.counts.vector_reads == inner.counts.vector_reads == 3


def test_what_no_python_function_reads_is_charged_to_the_line_that_had_it_done(old_pool):
    with Scope(threads=True) as scope:
        x = torch.ones(3, device="cuda")
        thread = threading.Thread(target=x.tolist)
        thread.start()
        thread.join()
        old_pool.submit(x.cpu).result()
    assert [event.site.text for event in scope.events] == [
        "thread.start()",
        "old_pool.submit(x.cpu).result()",
    ]
