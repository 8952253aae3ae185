"""The table of rules that people read is the one that the code has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from solvers.rules import Rule

PATH = Path(__file__).parent.parent.parent / "solvers" / "README.md"
MARKS = re.compile(r"(<!-- rules: [^>]*-->\n)(.*?)(<!-- end of rules -->)", re.DOTALL)


def table() -> str:
    """The rules as a Markdown table."""
    rows = [f"| `{rule}` | {rule.formula.replace('|', '&#124;')} |" for rule in Rule]
    return "\n".join(["| rule | formula |", "|---|---|", *rows]) + "\n"


def test_the_readme_states_the_rules_as_they_are(update_goldens: bool) -> None:
    text = PATH.read_text(encoding="utf-8")
    if update_goldens:
        text = MARKS.sub(lambda found: found[1] + table() + found[3], text)
        PATH.write_text(text, encoding="utf-8")
    found = MARKS.search(text)
    assert found is not None
    assert found[2] == table(), "run: pytest tests/solvers/test_readme.py --update-goldens"


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`(\w+\.py)`", PATH.read_text(encoding="utf-8")))))
def test_every_module_that_the_readme_names_exists(name: str) -> None:
    assert list(PATH.parent.rglob(name))
