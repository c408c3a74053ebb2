"""Which lines a comment stands for."""

import pytest

from syncscope.budgets import comments


@pytest.fixture
def lines_of(tmp_path):
    def lines_of(source):
        file = tmp_path / f"source{len(list(tmp_path.iterdir()))}.py"
        file.write_text(source)
        found = ((n, comments.at(str(file), n)) for n in range(1, source.count("\n") + 2))
        return {n: comment.reason for n, comment in found if comment is not None}

    return lines_of


@pytest.mark.parametrize(("source", "expected"), [
    ("a()  # syncscope: allow why\nb()\n", {1: "why"}),
    ("a(\n    1,\n)  # syncscope: allow why\nb()\n", {1: "why", 2: "why", 3: "why"}),
    ("a(  # syncscope: allow why\n    1,\n)\n", {1: "why", 2: "why", 3: "why"}),
    ("# syncscope: allow why\na(\n    1)\nb()\n", {2: "why", 3: "why"}),
    ("if a:  # syncscope: allow why\n    b()\n", {1: "why"}),
    ("def f():\n    # syncscope: allow why\n\n    a()\n    b()\n", {4: "why"}),
    ("a()  #syncscope:allow: why\n", {1: "why"}),
    ("a()  # type: ignore  # syncscope: allow why\n", {1: "why"}),
    ("a()  # syncscope: allow\n", {1: ""}),
    ("a('# syncscope: allow why')\n", {}),
    ("'''\n# syncscope: allow why\n'''\n", {}),
    ("a()  # see `# syncscope: allow why`\n", {}),
    ("a()  # syncscope: allowing\n", {}),
    ("a(  # syncscope: allow why\n", {}),
])  # fmt: skip
def test_a_comment_stands_for_its_statement(lines_of, source, expected):
    assert lines_of(source) == expected


def test_a_file_that_is_not_there_has_none():
    assert comments.within("<string>") == [] and comments.at("no-such-file.py", 1) is None
