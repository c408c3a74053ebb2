"""``syncscope explain`` in the user's words."""

from __future__ import annotations

import subprocess
import sys

import pytest

from syncscope.cli.main import main
from syncscope.events import KINDS


def words(capsys: pytest.CaptureFixture[str]) -> str:
    """Standard output as one line."""
    return " ".join(capsys.readouterr().out.split())


def test_a_call_is_told_with_its_reason_its_cost_and_code_that_does_without(folder, capsys):
    assert main(["explain", "x[mask]"]) == 0
    out = words(capsys)
    assert out.startswith(
        "x[mask], x[x > 0], x[a == b], Tensor.__getitem__ what Reading with a bool or uint8 mask"
    )
    assert "counted as size read" in out
    assert (
        "why how many elements the mask selects decides the result's size, and the host has to know it" in out
    )
    assert "how much 1 DtoH, 1 wait for each mask on the device 1 HtoD for each mask of the host" in out
    assert "before total = x[mask].sum() after total = torch.where(mask, x, 0).sum()" in out
    assert "operator aten::index.Tensor" in out
    assert "source aten/src/ATen/native/IndexingUtils.h, expandTensors" in out


def test_an_operator_is_told_with_the_versions_in_which_it_differs(folder, capsys):
    assert main(["explain", "aten::normal.float_Tensor"]) == 0
    assert "how much nothing versions up to 2.13: 2 DtoH, 2 waits; 1 DtoH, 1 wait with out=" in words(capsys)


def test_a_kind_may_be_written_with_a_space(folder, capsys):
    assert main(["explain", "scalar read"]) == 0
    assert words(capsys).startswith(
        "scalar_read, scalar read, scalar_reads, host read what The host obtains one"
    )


def test_what_holds_for_sparse_tensors_only_says_so(folder, capsys):
    assert main(["explain", "mm"]) == 0
    out = words(capsys)
    assert "nothing: of integers it is a NotImplementedError" in out
    assert "only with a sparse tensor among the arguments" in out


def test_square_brackets_are_no_markup(folder, capsys):
    assert main(["explain", "x[bold]"]) == 0
    assert "x[:t]" in words(capsys)


def test_without_a_name_kinds_calls_and_operators_are_listed(folder, capsys):
    assert main(["explain"]) == 0
    out = words(capsys)
    for name in (*KINDS, "Tensor.item", "x[mask] = y", "UntypedStorage.copy_", "unique_dim_consecutive"):
        assert name in out
    assert "Linear algebra may wait _linalg_check_errors, linalg_lu_factor_ex" in out
    assert "Joining tensors no wait cat, stack" in out


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("nonzeros", "did you mean aten::nonzero, "),
        ("Tensor.to_list", "did you mean Tensor.tolist"),
        ("qqqqqqqq", "name a kind of event, a call or an ATen operator; "),
    ],
)
def test_an_unknown_name_is_wrong_use_and_the_closest_names_are_said(folder, capsys, name, hint):
    assert main(["explain", name]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"syncscope: explain: nothing is known of {name!r}; {hint}")
    assert err.endswith("`syncscope explain` lists all\n")
    assert err.count("\n") == 1


def test_the_help_needs_no_torch():
    code = (
        "import sys; from syncscope.cli.main import main; main(['explain', '--help']); "
        "print(); print('torch' in sys.modules, 'rich' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "Explain KIND" in done.stdout
    assert done.stdout.splitlines()[-1] == "False False"
