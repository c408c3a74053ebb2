"""Options that several commands have, and those with a free number of values.

``--frames 2 8 32`` may stand before or after the two subjects.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import click

from syncscope.subjects import Unusable

if TYPE_CHECKING:
    from syncscope.subjects.cases import Sweep

_F = TypeVar("_F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Form:
    """How one value is written: ``pattern`` matches it whole, ``read`` makes the value.

    ``metavar`` stands for it in the help, ``what`` in messages.
    """

    metavar: str
    pattern: str
    what: str
    read: Callable[[str], Any] = str

    def fits(self, token: str) -> bool:
        """Whether ``token`` is written so."""
        return re.fullmatch(self.pattern, token, re.ASCII) is not None


WHOLE_NUMBER = Form("N", r"[+-]?\d+", "whole number", int)
NUMBER = Form("X", r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", "number", float)
DTYPE = Form("NAME", r"(torch\.)?[a-z]\w*", "dtype's name", lambda text: text.removeprefix("torch."))
OPERATOR = Form(
    "NAME", r"(aten::)?[A-Za-z_]\w*", "ATen operator's name", lambda text: text.removeprefix("aten::")
)
SWEEP = Form("NAME=A,B,C", r"[A-Za-z_]\w*=.*", "variable with its values")


class Values(click.Option):
    """An option that takes one value or more; given twice, its values add up."""

    def __init__(self, declarations: Sequence[str], *, form: Form, example: str, **attributes: Any) -> None:
        """Take ``declarations`` (long ones only) and ``attributes`` as click does.

        ``form`` is how a value is written; messages show the values in ``example``.
        """
        self.form = form
        self.spoken = declarations[0].lstrip("-")
        self.mend = f"write for example {declarations[0]} {example}"
        metavar = f"{form.metavar} ..."
        super().__init__(declarations, multiple=True, metavar=metavar, callback=self._read, **attributes)

    def _read(self, ctx: click.Context, param: click.Parameter, texts: Sequence[str]) -> tuple[Any, ...]:
        """Click's hook after the parsing; a setting's values pass through it as well."""
        for text in texts:
            if not self.form.fits(text):
                raise click.BadParameter(f"{text!r} is no {self.form.what}; {self.mend}", ctx, param)
        return tuple(map(self.form.read, texts))


def listed(declaration: str, form: Form, example: str, help: str) -> Callable[[_F], _F]:
    """Decorate a command with an option for one value or more."""
    return click.option(declaration, cls=Values, form=form, example=example, help=help)


class _WholeNumber(click.IntRange):
    """One whole number, called so in click's messages."""

    name = "whole number"


def number(
    declaration: str, least: int, default: int, help: str, most: int | None = None
) -> Callable[[_F], _F]:
    """Decorate a command with an option for one whole number."""
    kind = _WholeNumber(least, most)
    return click.option(declaration, type=kind, metavar="N", default=default, show_default=True, help=help)


device = click.option(
    "--device",
    type=click.Choice(["auto", "cuda", "sim"]),
    default="auto",
    show_default=True,
    help="auto takes a GPU where torch has one, and simulates one elsewhere.",
)


def cases(command: _F) -> _F:
    """Decorate a command with what makes its cases: variables, seeds, and who makes the inputs."""
    for option in reversed(_CASES):
        command = option(command)
    return command


# What calls add to it has to stay below 2**32: numpy's generator takes no more.
_LARGEST_SEED = 10**9

_CASES: tuple[Callable[[Any], Any], ...] = (
    listed("--frames", WHOLE_NUMBER, "2 8 32", "Frames of the video."),
    listed(
        "--tokens-per-frame", WHOLE_NUMBER, "196", "Tokens of a frame after merging; they fill a rectangle."
    ),
    listed("--hidden", WHOLE_NUMBER, "1024", "Channels of a token."),
    listed("--q", NUMBER, "0.5", "The fraction pruned, in [0, 1)."),
    listed("--dtype", DTYPE, "bfloat16 float32", "The features' dtype."),
    listed("--sweep", SWEEP, "n=4,8,12", "Another variable of make_inputs; several multiply."),
    number("--seed", least=0, most=_LARGEST_SEED, default=0, help="The first seed."),
    number("--seeds", least=1, most=10_000, default=1, help="How many, counted from --seed."),
    click.option("--inputs", metavar="FILE::FUNCTION", help="Who makes the inputs of both subjects."),
    click.option(
        "--workload",
        type=click.Choice(["scenes", "noise"]),
        help="The built-in video: frames with means of their own, or independent tokens.",
    ),
)


def sweep_of_cases(sweep: Sequence[str], **variables: Sequence[Any]) -> Sweep:
    """The video's variables that were given, then those of ``--sweep``.

    Raises:
        UnusableSweep: a variable has a value that it can't have, or comes twice.
    """
    from syncscope.subjects.cases import parse_sweep, sweep_of

    given = [(name, values) for name, values in variables.items() if values]
    return sweep_of([*given, *map(parse_sweep, sweep)])


class ListCommand(click.Command):
    """A command whose ``Values`` options may stand anywhere."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse as click does, after every list became one option a value."""
        lists = {name: option for option in self.params if isinstance(option, Values) for name in option.opts}
        return super().parse_args(ctx, spread(args, lists))


def spread(args: Sequence[str], lists: Mapping[str, Values]) -> list[str]:
    """Write ``--frames 2 8`` as ``--frames=2 --frames=8``, and leave every other argument as it is.

    A list ends at the next option, at ``--``, and at the first subject: a token that has not the form of a
    value but that of a file or of a module. Any other token is a value, so that its message names the list.

    Raises:
        Unusable: a list has no value.
    """
    rest = deque(args)
    written: list[str] = []
    while rest:
        token = rest.popleft()
        if token == "--":
            return [*written, token, *rest]
        name, equals, first = token.partition("=")
        if name in lists:
            values = [first] if equals else []
            written += _each(lists[name], name, values + taken(rest, lists[name].form))
        else:
            written.append(token)
    return written


def _each(option: Values, name: str, values: Sequence[str]) -> list[str]:
    if not values:
        raise Unusable(f"{option.spoken}: no value is given; {option.mend}")
    return [f"{name}={value}" for value in values]


def taken(rest: deque[str], form: Form) -> list[str]:
    """Take the leading values off ``rest``."""
    values = []
    while rest and (form.fits(rest[0]) or not (_is_option(rest[0]) or _is_subject(rest[0]))):
        values.append(rest.popleft())
    return values


def _is_option(token: str) -> bool:
    return token.startswith("-") and token != "-" and not NUMBER.fits(token)


def _is_subject(token: str) -> bool:
    """Whether ``token`` is written as subjects are: a path, ``REV:path``, ``package.module:function``."""
    return token.endswith(".py") or ":" in token or "/" in token or _is_module(token)


def _is_module(token: str) -> bool:
    return "." in token and all(part.isidentifier() for part in token.split("."))
