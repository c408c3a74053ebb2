"""Lists of values: where they begin, where they end, and what a wrong value says."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from syncscope.cli.options import DTYPE, NUMBER, OPERATOR, SWEEP, WHOLE_NUMBER, ListCommand, Values, spread
from syncscope.subjects import Unusable


@click.command(cls=ListCommand)
@click.argument("old")
@click.argument("new")
@click.option("--frames", cls=Values, form=WHOLE_NUMBER, example="2 8 32")
@click.option("--tokens-per-frame", cls=Values, form=WHOLE_NUMBER, example="196")
@click.option("--q", cls=Values, form=NUMBER, example="0.5")
@click.option("--dtype", cls=Values, form=DTYPE, example="bfloat16")
@click.option("--count", cls=Values, form=OPERATOR, example="sort")
@click.option("--sweep", cls=Values, form=SWEEP, example="n=4,8,12")
@click.option("--calls", type=int, default=20)
@click.option("-v", "verbose", is_flag=True)
def toy(**given: object) -> dict[str, object]:
    return given


def parsed(line: str) -> dict[str, object]:
    result = CliRunner().invoke(toy, line.split(), standalone_mode=False)
    if result.exception is not None:
        raise result.exception
    given: dict[str, object] = result.return_value
    return given


def complaint(line: str) -> str:
    with pytest.raises((Unusable, click.UsageError)) as raised:
        parsed(line)
    error = raised.value
    if isinstance(error, click.BadParameter) and error.param and error.param.name:
        return f"{error.param.name.replace('_', '-')}: {error.message}"
    return str(error)


@pytest.mark.parametrize(
    "line",
    [
        "old.py new.py --frames 2 8 32",
        "--frames 2 8 32 old.py new.py",
        "old.py --frames 2 8 32 new.py",
        "old.py new.py --frames 2 8 32 --calls 20",
        "--frames 2 8 32 -v old.py new.py",
        "--frames 2 8 32 -- old.py new.py",
        "--frames=2 --frames=8 --frames=32 old.py new.py",
        "--frames 2 --frames 8 32 old.py new.py",
        "--frames=2 8 32 old.py new.py",
        "--frames 2 old.py --frames 8 new.py --frames 32",
    ],
)
def test_a_list_may_stand_anywhere(line: str) -> None:
    given = parsed(line)
    assert (given["old"], given["new"], given["frames"]) == ("old.py", "new.py", (2, 8, 32))


@pytest.mark.parametrize(
    "subject",
    [
        "old.py",
        "old.py::masks",
        "package.module",
        "package.module:masks",
        "main:old.py",
        "HEAD~2:./old.py::masks",
        "./8",
        "old/8",
        "2024.py",
    ],
)
@pytest.mark.parametrize(
    ("option", "values"),
    [
        ("frames", (2, 8)),
        ("q", (0.25, 0.5)),
        ("dtype", ("bfloat16", "float32")),
        ("count", ("sort", "cumsum")),
        ("sweep", ("n=4,8", "m=2")),
    ],
)
def test_a_list_ends_at_a_subject_of_any_form(option: str, values: tuple[object, ...], subject: str) -> None:
    given = parsed(f"--{option} {' '.join(map(str, values))} {subject} new.py")
    assert (given[option], given["old"], given["new"]) == (values, subject, "new.py")


def test_lists_follow_each_other() -> None:
    given = parsed(
        "--frames 2 8 --q 0.5 .25 1e-1 --dtype float32 bfloat16 old.py new.py --tokens-per-frame 196"
    )
    assert given["frames"] == (2, 8)
    assert given["q"] == (0.5, 0.25, 0.1)
    assert given["dtype"] == ("float32", "bfloat16")
    assert given["tokens_per_frame"] == (196,)


def test_names_are_taken_with_their_prefix_too() -> None:
    given = parsed("--count aten::cumsum sort --dtype torch.float32 float16 old.py new.py")
    assert (given["count"], given["dtype"], given["old"]) == (
        ("cumsum", "sort"),
        ("float32", "float16"),
        "old.py",
    )


def test_a_negative_number_is_a_value_and_no_option() -> None:
    given = parsed("old.py new.py --frames 2 -1 --q -0.5")
    assert (given["frames"], given["q"]) == ((2, -1), (-0.5,))


def test_an_option_with_one_value_is_left_alone() -> None:
    given = parsed("--calls 3 old.py new.py")
    assert (given["calls"], given["frames"]) == (3, ())


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("old.py new.py --frames abc", "frames: 'abc' is no whole number; write for example --frames 2 8 32"),
        ("--frames abc old.py new.py", "frames: 'abc' is no whole number; write for example --frames 2 8 32"),
        (
            "--frames 2 abc 8 old.py new.py",
            "frames: 'abc' is no whole number; write for example --frames 2 8 32",
        ),
        ("old.py new.py --frames 2.5", "frames: '2.5' is no whole number; write for example --frames 2 8 32"),
        ("old.py new.py --frames 2,8", "frames: '2,8' is no whole number; write for example --frames 2 8 32"),
        ("old.py new.py --frames -", "frames: '-' is no whole number; write for example --frames 2 8 32"),
        ("old.py new.py --frames=", "frames: '' is no whole number; write for example --frames 2 8 32"),
        ("old.py new.py --frames ٣", "frames: '٣' is no whole number; write for example --frames 2 8 32"),
        ("old.py new.py --q half", "q: 'half' is no number; write for example --q 0.5"),
        ("old.py new.py --q nan", "q: 'nan' is no number; write for example --q 0.5"),
        ("old.py new.py --dtype 16", "dtype: '16' is no dtype's name; write for example --dtype bfloat16"),
        ("old.py new.py --count 5", "count: '5' is no ATen operator's name; write for example --count sort"),
        (
            "old.py new.py --sweep n",
            "sweep: 'n' is no variable with its values; write for example --sweep n=4,8,12",
        ),
        ("old.py new.py --frames", "frames: no value is given; write for example --frames 2 8 32"),
        ("--frames --q 0.5 old.py new.py", "frames: no value is given; write for example --frames 2 8 32"),
        ("--frames old.py new.py", "frames: no value is given; write for example --frames 2 8 32"),
        (
            "--tokens-per-frame -- old.py new.py",
            "tokens-per-frame: no value is given; write for example --tokens-per-frame 196",
        ),
    ],
)
def test_a_wrong_value_is_named_with_its_option(line: str, message: str) -> None:
    assert complaint(line) == message


def test_too_many_subjects_are_an_error_of_click() -> None:
    assert "new2.py" in complaint("--frames 2 old.py new.py new2.py")


whole_numbers = st.lists(st.integers(), min_size=1, max_size=5)


@settings(deadline=None)
@given(whole_numbers, st.integers(min_value=0, max_value=2))
def test_the_place_of_a_list_changes_nothing(numbers: list[int], place: int) -> None:
    line = ["old.py", "new.py"]
    line[place:place] = ["--frames", *map(str, numbers)]
    given = parsed(" ".join(line))
    assert (given["old"], given["new"], given["frames"]) == ("old.py", "new.py", tuple(numbers))


@settings(deadline=None)
@given(st.lists(st.text(min_size=1).filter(lambda token: not token.startswith("--frames"))))
def test_arguments_without_a_list_stay_as_they_are(args: list[str]) -> None:
    lists = {"--frames": toy.params[2]}
    assert spread(args, lists) == args
