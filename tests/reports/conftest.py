"""Records to report on, modelled on the published change: one read a frame, against one read in all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from syncscope.comparison.results import (
    Branch,
    CaseResult,
    Comparison,
    Difference,
    Environment,
    Extra,
    Law,
    Parity,
    Range,
    SideResult,
    SiteResult,
    SubjectRecord,
)
from syncscope.events import Counts

OLD_LABEL = "examples/vidcom2/per_frame_reads.py"
NEW_LABEL = "examples/vidcom2/read_once.py"
OLD_FILE = f"/home/someone/vllm/{OLD_LABEL}"
NEW_FILE = f"/home/someone/vllm/{NEW_LABEL}"
FRAMES = (2, 8, 32)
CALLS = 20

# Totals over 20 calls: item, memcpy, topk and scatter, old before new.
PUBLISHED = {
    2: (60, 0, 60, 20, 60, 60, 40, 40),
    8: (180, 0, 220, 60, 200, 200, 160, 160),
    32: (660, 0, 700, 60, 680, 680, 640, 640),
}

RECONCILED = {"old": (74, 78), "new": (71, 75)}


def law(base: int = 0, slope: int = 0, side: str = "new", extra: int = 0) -> Law:
    """``base + slope * T``, with an addition where the reconcile step runs."""
    main = {(0, 0): "0"}.get((base, slope)) or " + ".join(
        part for part in ({0: "", 1: "T"}.get(slope, f"{slope}*T"), str(base or "")) if part
    )
    first, last = RECONCILED[side]
    return Law(
        kind="linear" if slope else "constant",
        base=base,
        slope=slope,
        variable="frames" if slope else "",
        extras=[Extra((first, last), Law("constant", extra, text=str(extra)))] if extra else [],
        text=f"{main} (+{extra} where lines {first}-{last} run)" if extra else main,
    )


def laws(side: str) -> dict[str, Law]:
    slope = 1 if side == "old" else 0
    return {
        "scalar_reads": law(slope, slope),
        "vector_reads": law(1 - slope),
        "size_reads": law(side=side, extra=1),
        "dtoh": law(1, slope, side, extra=1),
        "htod": law(side=side, extra=1),
        "dtod": law(),
        "memcpy": law(1, slope, side, extra=2),
        "waits": law(1, slope, side, extra=2),
        "unknown_ops": law(),
        "launches.topk": law(1, 1, side, extra=1),
        "launches.scatter": law(0, 1),
    }


def side_result(frames: int, item: int, memcpy: int, topk: int, scatter: int) -> SideResult:
    reconciled = CALLS if frames > 2 else 0
    counts = Counts(
        scalar_reads=item,
        vector_reads=0 if item else CALLS,
        size_reads=reconciled,
        dtoh=memcpy - reconciled,
        htod=reconciled,
        memcpy=memcpy,
        waits=memcpy,
        launches={"topk": topk, "scatter": scatter},
    )
    figures = {name: getattr(counts, name) for name in Counts.__dataclass_fields__ if name != "launches"}
    figures |= {"launches.topk": topk, "launches.scatter": scatter}
    return SideResult(
        calls=CALLS,
        counts=counts,
        per_call={name: Range(total // CALLS, total // CALLS) for name, total in figures.items()},
        aten={"item": memcpy, "topk": topk, "scatter_": scatter, "add": 5},
    )


def case(frames: int) -> CaseResult:
    item_old, item_new, memcpy_old, memcpy_new, topk_old, topk_new, scatter_old, scatter_new = PUBLISHED[
        frames
    ]
    return CaseResult(
        sweep={"frames": frames, "tokens_per_frame": 196, "q": 0.5, "dtype": "bfloat16", "hidden": 64},
        parity=Parity(equal=True, compared=CALLS),
        old=side_result(frames, item_old, memcpy_old, topk_old, scatter_old),
        new=side_result(frames, item_new, memcpy_new, topk_new, scatter_new),
    )


def site(
    subject: str, line: int, text: str, kind: str, api: str, growth: Law, per_call: list[int], **costs: object
) -> SiteResult:
    return SiteResult(
        subject=subject,  # type: ignore[arg-type]
        file=OLD_FILE if subject == "old" else NEW_FILE,
        line=line,
        function="compute_retention_mask",
        text=text,
        kind=kind,
        api=api,
        per_case=[Range(events, events) for events in per_call],
        growth=growth,
        **costs,  # type: ignore[arg-type]
    )


def reconcile(side: str, first: int) -> list[SiteResult]:
    """The two copies that remain, in old as in new."""
    growth = law(side=side, extra=1)
    return [
        site(side, first, "kept = mask.nonzero()", "size_read", "Tensor.nonzero", growth, [0, 1, 1],
             dtype="int64", dtoh=1, waits=1, reason="nonzero copies its number of rows to the host"),
        site(side, first + 2, "mask[kept[drop]] = False", "upload", "Tensor.__setitem__", growth, [0, 1, 1],
             dtype="bool", htod=1, waits=1, reason="an indexed write uploads its scalar"),
    ]  # fmt: skip


def sites() -> list[SiteResult]:
    read = {"dtoh": 1, "waits": 1}
    return [
        site("old", 60, "k = int(budgets[frame].item())", "scalar_read", "Tensor.item", law(0, 1), [2, 8, 32],
             dtype="int64", reason="the host asks for the value", **read),
        site("old", 68, "total = int(mask.sum().item())", "scalar_read", "Tensor.item", law(1), [1, 1, 1],
             dtype="int64", reason="the host asks for the value", **read),
        *reconcile("old", 75),
        site("new", 58, "budget_list = budgets.tolist()", "vector_read", "Tensor.tolist", law(1), [1, 1, 1],
             dtype="int64", reason="the host asks for all values at once", **read),
        *reconcile("new", 72),
        site("new", 61, "scores.topk(k, largest=False)", "launch", "torch.topk", law(0, 1), [2, 8, 32]),
    ]  # fmt: skip


def published() -> Comparison:
    return Comparison(
        provenance="simulated",
        command=f"syncscope compare {OLD_LABEL} {NEW_LABEL} --frames 2 8 32",
        old=SubjectRecord(OLD_LABEL, OLD_FILE, "compute_retention_mask", "", "ab" * 32),
        new=SubjectRecord(NEW_LABEL, NEW_FILE, "compute_retention_mask", "", "cd" * 32),
        swept=["frames"],
        workload="scenes: each frame with its own mean",
        calls=CALLS,
        seeds=[0],
        cases=[case(frames) for frames in FRAMES],
        sites=sites(),
        growth={"old": laws("old"), "new": laws("new")},
        branches=[Branch("old", (74, 78), 2, 3), Branch("new", (71, 75), 2, 3)],
        environment=Environment(
            python="3.12.3", torch="2.13.0+cpu", platform="Linux-6.1-x86_64", device="cuda:0 (simulated)",
            commit="0123456789ab", dirty=True, threads=2,
        ),
        families=["topk", "scatter"],
        tool="0.1.0",
    )  # fmt: skip


def with_case(comparison: Comparison, index: int, change: Callable[[CaseResult], CaseResult]) -> Comparison:
    cases = [change(each) if at == index else each for at, each in enumerate(comparison.cases)]
    return replace(comparison, cases=cases)


@pytest.fixture
def comparison() -> Comparison:
    """The published change: equal outputs, nothing unknown."""
    return published()


@pytest.fixture
def differing(comparison: Comparison) -> Comparison:
    """The outputs at T = 8 are not equal."""
    found = [
        Difference("[0]['mask']", "values", "2, 0, ...", "1, 1, ...", 7, 1568, [[4], [9], [11]], largest=1),
        Difference("[1]", "shape", "(8, 4)", "(8, 5)"),
    ]
    return with_case(comparison, 1, lambda each: replace(each, parity=Parity(False, CALLS, found)))


@pytest.fixture
def varying(comparison: Comparison) -> Comparison:
    """Old's calls at T = 8 differ in how often they copy."""
    per_call = {**comparison.cases[1].old.per_call, "memcpy": Range(9, 11), "waits": Range(9, 11)}
    return with_case(comparison, 1, lambda each: replace(each, old=replace(each.old, per_call=per_call)))


@pytest.fixture
def with_unknown(comparison: Comparison) -> Comparison:
    """New calls an operator that the cost table does not know."""
    counts = replace(comparison.cases[2].new.counts, unknown_ops=CALLS)
    unknown = site(
        "new", 80, "out = mine.pack(x)", "unknown", "mine.pack", law(1), [0, 0, 1], op="mine::pack.default"
    )
    growth = {"old": comparison.growth["old"], "new": {**comparison.growth["new"], "unknown_ops": law(1)}}
    grown = with_case(comparison, 2, lambda each: replace(each, new=replace(each.new, counts=counts)))
    return replace(grown, sites=[*comparison.sites, unknown], growth=growth)


@pytest.fixture
def other_sweep(comparison: Comparison) -> Comparison:
    """A function of the user's own, swept over ``n``, with ``sort`` counted in place of Top-K and scatter."""
    cases = [replace(each, sweep={"n": n}) for each, n in zip(comparison.cases, (4, 8, 12), strict=True)]
    growth = {side: {**each, "launches.sort": law()} for side, each in comparison.growth.items()}
    return replace(comparison, cases=cases, swept=["n"], families=["sort"], growth=growth)


@pytest.fixture
def huge(comparison: Comparison) -> Comparison:
    """A record of a large program: thousands of sites, cases, notes and branches, each with long texts."""
    long = "x" * 2_000 + " | `&<y>`" * 100
    sites = [replace(each, line=n, text=long, api=long, reason=long, file=f"/{long}/{n}.py")
             for n in range(200) for each in comparison.sites]  # fmt: skip
    cases = [replace(each, sweep={**each.sweep, "q": q, "kind": long}, parity=Parity(False, 1, [
        Difference(f"[{n}]{long}", "values", long, long, 3, 9, [[n]] * 3) for n in range(3)
    ])) for q in range(100) for each in comparison.cases]  # fmt: skip
    return replace(
        comparison,
        sites=sites,
        cases=cases,
        swept=["frames", "q", "kind"],
        notes=[long] * 500,
        disagreements=[long] * 500,
        branches=[Branch("new", (n, n + 1), n, 5000) for n in range(3000)],
        command=long,
        workload=long,
        seeds=list(range(2000)),
        old=replace(comparison.old, label=long),
        environment=replace(comparison.environment, gpu=long, platform=long),
    )
