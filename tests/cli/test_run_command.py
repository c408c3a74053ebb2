"""A program runs as it does without the tool, and every line of it that waits is reported."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from syncscope.cli.main import main
from syncscope.cli.options import OPERATOR, Values
from syncscope.cli.run import program_at

TRAIN = """
import torch

def train_step(model, optimizer, x):
    optimizer.zero_grad()
    loss = model(x).square().mean()
    loss.backward()
    optimizer.step()
    return loss.item()

def main():
    model = torch.nn.Linear(4, 1).to("cuda")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x = torch.rand(8, 4).cuda()
    losses = [train_step(model, optimizer, x) for _ in range(5)]
    print(len(losses), x.device)

if __name__ == "__main__":
    main()
"""

WHO = """
import os, sys, __main__
print(__name__, sys.argv, os.path.abspath(sys.path[0]), __file__, __spec__ and __spec__.name, __package__)
print(type(__loader__).__name__, __doc__, sys.modules["__main__"].__dict__ is globals(), __main__.sys is sys)
"""

AS_WITHOUT = {
    "its globals": "print(sorted(globals()))\nx: int = 3\nprint(__annotations__)",
    "what it is, arguments, pickling, input and binary output": WHO
    + """
import argparse, pickle
from dataclasses import dataclass

@dataclass
class Config:
    rest: list

parser = argparse.ArgumentParser()
parser.add_argument("--device"), parser.add_argument("rest", nargs="*")
config = Config(parser.parse_args().rest)
print(pickle.loads(pickle.dumps(config)) == config, config, Config.__module__, input(), input(), flush=True)
sys.stdout.buffer.write(bytes(range(256)))
""",
    "an exit code": "import sys; print('before'); sys.exit(3)",
    "an exit with a text": "import sys; sys.exit('no data: give --data')",
    "an exception": """
def inner():
    raise ValueError("wrong value")
try:
    inner()
except ValueError as error:
    raise KeyError("lost") from error
""",
    "a hook for exceptions": """
import sys
sys.excepthook = lambda kind, error, trace: print("hook:", kind.__name__, error, trace.tb_lineno)
1 / 0
""",
    "an interrupt": "raise KeyboardInterrupt",
    "exit handlers and threads": """
import atexit, threading, time
atexit.register(print, "last")
threading.Thread(target=lambda: (time.sleep(0.05), print("thread"))).start()
print("main")
""",
    "os._exit": "import os; print('gone', flush=True); os._exit(5)",
    "a process that is forked": """
import os, sys
child = os.fork()
if not child:
    sys.exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
""",
    "processes that are spawned": """
import multiprocessing
def double(x):
    return 2 * x
if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.map(double, [1, 2]))
""",
    "a closed output": "import sys; print('said', flush=True); sys.stdout.close()",
}


def python(*args: str, folder: Path, **options: object) -> subprocess.CompletedProcess[bytes]:
    # The folder is what Python would look into: a path of the project's own is added for the tool.
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    return subprocess.run(
        [sys.executable, *args], capture_output=True, check=False, cwd=folder, env=environment, **options
    )


def run(*args: str, folder: Path, **options: object) -> subprocess.CompletedProcess[bytes]:
    return python("-m", "syncscope", "run", "--device", "sim", *args, folder=folder, **options)


def record(folder: Path, *args: str) -> dict:
    done = run("-o", "run.json", *args, folder=folder)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads((folder / "run.json").read_bytes())


@pytest.fixture(scope="module")
def trained(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[dict, subprocess.CompletedProcess[bytes], Path]:
    """A training script that was run with figures per step: its record, the process, and its folder."""
    folder = tmp_path_factory.mktemp("trained")
    (folder / "train.py").write_text(TRAIN)
    done = run("--per", "train_step", "-o", "run.json", "-o", "run.md", "train.py", folder=folder)
    return json.loads((folder / "run.json").read_bytes()), done, folder


@pytest.mark.parametrize("script", AS_WITHOUT.values(), ids=AS_WITHOUT)
def test_a_script_does_what_it_does_without_the_tool(script: str, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(script)
    args = ["script.py", "--device", "x", "-o", "--", "-m", "--count"]
    plain = python(*args, folder=tmp_path, input=b"a\nb\n")
    watched = run(*args, folder=tmp_path, input=b"a\nb\n")
    assert (watched.returncode, watched.stdout) == (plain.returncode, plain.stdout)
    assert watched.stderr.startswith(plain.stderr)
    reported = watched.stderr.removeprefix(plain.stderr)
    assert reported.count(b"The whole run, simulated (no GPU ran)") == (0 if "os._exit" in script else 1)


def test_a_module_does_what_it_does_without_the_tool(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text(WHO)
    (package / "part.py").write_text(WHO)
    for name in ("package", "package.part"):
        plain = python("-m", name, "--per", "x", folder=tmp_path)
        watched = run("-m", name, "--per", "x", folder=tmp_path)
        assert plain.stdout
        assert (watched.returncode, watched.stdout) == (plain.returncode, plain.stdout)


@pytest.mark.parametrize("name", ["./script.py", "app/../script.py", "link/../script.py"])
def test_the_script_is_the_one_that_python_runs(name: str, tmp_path: Path) -> None:
    for folder in ("app", "far/inner"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "link").symlink_to("far/inner")
    for place in (tmp_path, tmp_path / "far"):
        (place / "script.py").write_text(f"print({place.name!r}, __file__)")
    plain, watched = python(name, folder=tmp_path), run(name, folder=tmp_path)
    assert (watched.returncode, watched.stdout) == (plain.returncode, plain.stdout)
    assert plain.stdout


@pytest.mark.parametrize("name", ["app", "app.zip"])
def test_a_folder_or_archive_with_a_main_is_run_as_python_does(name: str, tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "__main__.py").write_text(
        "import sys, part; print(sys.argv, sys.path[0], __file__, part.__file__, part.name, __package__)"
    )
    (tmp_path / "app" / "part.py").write_text("name = __name__")
    shutil.make_archive(str(tmp_path / "app"), "zip", tmp_path / "app")
    plain, watched = python(name, "1", folder=tmp_path), run(name, "1", folder=tmp_path)
    assert (watched.returncode, watched.stdout) == (plain.returncode, plain.stdout)
    assert plain.stdout


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_an_interrupted_program_ends_by_the_signal_and_is_reported(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("raise KeyboardInterrupt")
    done = run("script.py", folder=tmp_path)
    assert done.returncode == -signal.SIGINT
    assert b"! The program was interrupted: the figures are those until then." in done.stderr


def test_every_line_that_waits_is_reported_with_its_source(trained) -> None:
    found, done, _ = trained
    assert (done.returncode, done.stdout) == (0, b"5 cuda:0\n")
    assert found["counts"]["scalar_reads"] == 5
    assert found["counts"]["unknown_ops"] == 0
    first = found["sites"][0]
    assert (first["file"], first["line"], first["function"], first["text"]) == (
        "train.py", 9, "train_step", "return loss.item()",
    )  # fmt: skip
    assert (first["kind"], first["api"], first["events"], first["waits"]) == (
        "scalar_read",
        "Tensor.item",
        5,
        5,
    )
    assert [site["waits"] for site in found["sites"]] == [5, 2, 1, 0]
    assert not any(site["library"] for site in found["sites"])


def test_figures_per_step_are_ranges_and_what_is_in_no_step_is_apart(trained) -> None:
    found, _, _ = trained
    steps = found["steps"]
    assert (steps["functions"], steps["steps"]) == (["train_step"], 5)
    assert steps["per_step"]["scalar_reads"] == {"low": 1, "high": 1}
    assert steps["per_step"]["htod"] == {"low": 0, "high": 0}
    assert (steps["inside"]["waits"], steps["outside"]["waits"]) == (5, 3)
    assert [site["per_step"]["high"] for site in found["sites"]] == [1, 0, 0, 1]


def test_a_file_is_written_in_place_of_the_printed_report(trained) -> None:
    _, done, folder = trained
    assert done.stderr.decode().splitlines() == [
        f"wrote {folder.resolve() / 'run.json'}",
        f"wrote {folder.resolve() / 'run.md'}",
    ]
    page = (folder / "run.md").read_text()
    each = "1 scalar read, 1 DtoH copy, 1 DtoD copy, 1 wait"
    assert f"A step is a call of train_step; 5 steps, each: {each}." in page
    assert "| `train.py:9` | `return loss.item()` | 5 times, 1 a step | scalar read by `Tensor.item`" in page


def test_a_saved_record_is_shown_and_written_again(trained, capsys: pytest.CaptureFixture[str]) -> None:
    _, _, folder = trained
    assert main(["report", str(folder / "run.json")]) == 0
    assert "train.py:9\n    return loss.item()" in capsys.readouterr().out
    assert main(["report", str(folder / "run.json"), "-o", str(folder / "again.md")]) == 0
    assert (folder / "again.md").read_text() == (folder / "run.md").read_text()
    assert main(["report", str(folder / "run.json"), "-o", "run.svg"]) == 2


def test_a_programs_end_is_told_with_its_figures(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(
        "import torch\nx = torch.ones(2, device='cuda')\nx.tolist()\nx.sum().item()\nraise ValueError"
    )
    done = run("script.py", folder=tmp_path)
    assert done.returncode == 1
    assert done.stderr.count(b"Traceback (most recent call last):\n") == 1
    assert b"syncscope/" not in done.stderr.partition(b"ValueError")[0]
    assert b"! The program raised ValueError: the figures are those until then." in done.stderr
    assert b"script.py:3\n    x.tolist()\n      once: vector read by Tensor.tolist, float32" in done.stderr


LIBRARY = "def total(x):\n    return x.sum().item()\n"
USER = """
import torch
from reader import total
x = torch.ones(3, device="cuda")
for _ in range(2):
    total(x)
total(x)
x.tolist()
"""


def test_what_runs_after_the_report_is_named(tmp_path: Path) -> None:
    lines = [
        "import torch",
        "class Kept:",
        "    def __del__(self):",
        "        torch.ones(1, device='cuda').item()",
        "kept, gone = Kept(), Kept()",
        "del gone",
    ]
    (tmp_path / "script.py").write_text("\n".join(lines))
    found = record(tmp_path, "script.py")
    assert found["counts"]["scalar_reads"] == 1
    (note,) = found["notes"]
    assert (
        note.startswith("Kept.__del__ (") and "script.py:3) runs when Python ends, after this report" in note
    )


@pytest.fixture
def with_library(tmp_path: Path) -> Path:
    """A script, ``user.py``, and a library of its own that reads."""
    (tmp_path / "site-packages").mkdir()
    (tmp_path / "site-packages" / "reader.py").write_text(LIBRARY)
    (tmp_path / "user.py").write_text("import sys; sys.path.append('site-packages')" + USER)
    return tmp_path


def test_a_librarys_line_is_apart_and_names_the_users_lines_that_called_it(with_library: Path) -> None:
    found = record(with_library, "user.py")
    library, own = found["sites"]
    assert (library["file"], library["line"], library["library"], library["events"]) == (
        "reader.py",
        2,
        True,
        3,
    )
    assert [(each["file"], each["line"], each["text"], each["events"]) for each in library["callers"]] == [
        ("user.py", 6, "total(x)", 2), ("user.py", 7, "total(x)", 1),
    ]  # fmt: skip
    assert (own["file"], own["line"], own["library"], own["callers"]) == ("user.py", 8, False, [])


def test_lines_can_be_chosen_and_the_totals_say_what_was_left_out(with_library: Path) -> None:
    found = record(with_library, "--skip", "site-packages", "user.py")
    assert [site["file"] for site in found["sites"]] == ["user.py"]
    assert (found["counts"]["waits"], found["left_out"]["counts"]["waits"]) == (4, 3)
    found = record(with_library, "--only", "*/reader.py", "user.py")
    assert [site["file"] for site in found["sites"]] == ["reader.py"]


def test_a_script_may_change_the_folder_and_have_modules_named_as_the_tools(tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "rich.py").write_text("raise ImportError('not that one')")
    (tmp_path / "app" / "script.py").write_text("import os; os.chdir('app')")
    done = run("-o", "run.md", "app/script.py", folder=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    assert (tmp_path / "run.md").exists()


@pytest.mark.parametrize(
    ("args", "code", "line"),
    [
        (["none.py"], 2, "none.py: no such script; name a file, or -m and a module"),
        (["broken.py"], 1, "broken.py:1: does not parse (invalid syntax); mend it"),
        (["empty"], 1, "empty: has no __main__.py; name a file"),
        (["-m", "no_such_module"], 1, "no_such_module: no such module, or a package without a __main__; "
                                      "see python -m no_such_module"),
    ],
)  # fmt: skip
def test_a_program_that_cannot_be_run_is_one_line_and_pythons_exit_code(
    args: list[str], code: int, line: str, tmp_path: Path
) -> None:
    (tmp_path / "broken.py").write_text("def :")
    (tmp_path / "empty").mkdir()
    python = subprocess.run([sys.executable, *args], cwd=tmp_path, capture_output=True)
    assert python.returncode == code
    done = run(*args, folder=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.decode()) == (code, b"", f"syncscope: {line}\n")


@pytest.mark.parametrize(
    ("args", "line"),
    [
        ([], "Missing argument 'SCRIPT'; see `syncscope run --help`"),
        (["-o", "run.svg", "s.py"], "run.svg: no report has the extension '.svg'; use one of .json .md"),
        (["-o", "no/run.md", "s.py"], "no: no such folder; make it first, or write elsewhere"),
        (["--only", "nowhere", "s.py"],
         "only: nowhere: no such file or folder; give one that is there, or a glob"),
        (["--per", "(", "s.py"], "per: '(' is no regular expression (missing ), unterminated subpattern at "
                                 "position 0): give a function's name, or mend it"),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("folder")
def test_wrong_use_is_found_before_the_program_runs(
    args: list[str], line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", *args]) == 2
    assert capsys.readouterr() == ("", f"syncscope: {line}\n")


@pytest.mark.parametrize(
    ("args", "program"),
    [
        (["s.py", "--only", "x"], "s.py"),
        (["--only", "a", "--threads", "s.py"], "s.py"),
        (["--only=a", "s.py", "-o", "y"], "s.py"),
        (["--count", "sort", "cumsum", "s.py", "--count", "3"], "s.py"),
        (["--count", "sort", "-m", "pkg.mod", "--threads"], "pkg.mod"),
        (["--", "s.py"], "--"),
        (["-o", "run.md", "-m", "pkg"], "pkg"),
        (["--threads"], None),
    ],
)
def test_the_tools_options_end_at_the_program(args: list[str], program: str | None) -> None:
    count = Values(["--count"], form=OPERATOR, example="sort")
    at = program_at(args, {"--only", "-o", "--output"}, {"--count": count})
    assert args[at : at + 1] == ([program] if program else [])


@pytest.mark.skipif(importlib.util.find_spec("transformers") is None, reason="transformers is not installed")
def test_a_whole_language_model_is_run_and_its_waits_named_by_line(tmp_path: Path) -> None:
    (tmp_path / "generate.py").write_text(
        """
import torch
from transformers import Qwen2Config, Qwen2ForCausalLM
config = Qwen2Config(vocab_size=64, hidden_size=32, intermediate_size=64, num_hidden_layers=2,
                     num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=64)
torch.manual_seed(0)
model = Qwen2ForCausalLM(config).eval().cuda()
tokens = torch.arange(8, device="cuda")[None]
print(model.generate(tokens, max_new_tokens=3, do_sample=False, pad_token_id=0).tolist()[0][:8])
"""
    )
    found = record(tmp_path, "generate.py")
    assert found["counts"]["waits"] > 0
    libraries = [site for site in found["sites"] if site["library"]]
    assert all(site["file"].startswith("transformers/") for site in libraries if site["callers"])
