"""What is excused doesn't count, and what counts isn't excused: nothing is lost between the two."""

from hypothesis import given
from hypothesis import strategies as st

from syncscope.budgets.settled import known_excused, matters, settle
from syncscope.events import Event
from syncscope.observe.allowances import Allowance
from syncscope.observe.tally import Heard
from syncscope.sites import NOWHERE, Site


def heard(line, kind="scalar_read", waits=1):
    return Heard(
        Event(kind, "Tensor.item", waits=waits, site=Site("no-such-file.py", line, "f", f"line {line}")),
        NOWHERE,
    )


EVENTS = st.dictionaries(
    st.builds(heard, st.integers(1, 4), st.sampled_from(["scalar_read", "copy", "launch"])), st.integers(1, 5)
)


def total(*parts):
    return sum(sum(events.values()) for events in parts)


@given(EVENTS, st.data())
def test_allowed_and_charged_add_up(events, data):
    taken = {one: data.draw(st.integers(0, times)) for one, times in events.items()}
    taken = {one: times for one, times in taken.items() if times}
    settled = settle(events, {Allowance("why", "f.py", 1): taken})
    assert total(settled.charged, *settled.excused.values()) == total(events)
    assert (settled.unused == []) == bool(taken)


@given(EVENTS, st.dictionaries(st.integers(1, 4), st.integers(0, 9)))
def test_known_waits_are_excused_up_to_their_number(events, known):
    settled = known_excused(settle(events, {}), known, lambda event: event.site.line, "baseline.json")
    assert total(settled.charged, *settled.excused.values()) == total(events)
    for line, number in known.items():
        at = {
            one: times for one, times in events.items() if one.event.site.line == line and matters(one.event)
        }
        left = sum(settled.charged.get(one, 0) for one in at)
        assert left == max(0, total(at) - number)


@given(EVENTS)
def test_what_neither_reads_nor_waits_is_no_matter_of_a_baseline(events):
    everything = dict.fromkeys(range(1, 5), 10**9)
    settled = known_excused(settle(events, {}), everything, lambda event: event.site.line, "baseline.json")
    assert all(not matters(one.event) for one in settled.charged)
