"""Every template keeps to the few forms in which quoting by `finalize` is sound."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from jinja2 import Environment, nodes

import renderers
from renderers.environment import Language, language_of

ROOT = Path(renderers.__file__).parent
TEMPLATES = sorted(ROOT.glob("*/templates/*.j2"))
IDS = [path.name for path in TEMPLATES]

EXPRESSION = re.compile(r"\{\{.*?\}\}")
STATEMENT = re.compile(r"\{%.*?%\}|\{#.*?#\}")
VALUE = "\0"
SCALAR_BEFORE = re.compile(r"(^\s*|^\s*(- )+|: |[\[{]|, |# )$")
SCALAR_AFTER = re.compile(r"^(\s*$|:( |$)|,|[\]}])")
BLOCK_SCALAR = re.compile(r"(:|-)\s+[|>][+-]?\d*\s*$")
WORD_BEFORE = re.compile(r"(^|[\s=(;])$")
WORD_AFTER = re.compile(r"^($|[\s;)=])")


def violations(source: str, language: Language) -> list[str]:
    """The lines of `source` in which a quoted value would not stay one value."""
    found = [line for line in source.splitlines() if line.count("{{") != len(EXPRESSION.findall(line))]
    for line in source.splitlines():
        parts = EXPRESSION.sub(VALUE, STATEMENT.sub("", line)).split(VALUE)
        if not all(fits(VALUE.join(parts[:index]), parts[index], language) for index in range(1, len(parts))):
            found.append(line)
        if language in (Language.YAML, Language.COMPOSE) and BLOCK_SCALAR.search(line):
            found.append(line)
    return found


def fits(before: str, after: str, language: Language) -> bool:
    """Whether a value may stand between `before`, all of its line so far, and `after`, what follows up to the next."""
    match language:
        case Language.YAML | Language.COMPOSE:
            return bool(SCALAR_BEFORE.search(before) and SCALAR_AFTER.match(after))
        case Language.SHELL:
            return "#" not in before and bool(WORD_BEFORE.search(before) and WORD_AFTER.match(after))
        case Language.SBATCH:
            return before.startswith("#SBATCH --") and not re.search(r"['\"\\]", before + after)


@pytest.mark.parametrize("path", TEMPLATES, ids=IDS)
def test_a_value_is_a_whole_scalar_or_word(path: Path) -> None:
    assert violations(path.read_text(encoding="utf-8"), language_of(path.name)) == []


@pytest.mark.parametrize("path", TEMPLATES, ids=IDS)
def test_no_template_makes_text_that_would_be_quoted_twice(path: Path) -> None:
    tree = Environment().parse(path.read_text(encoding="utf-8"))
    banned = (
        nodes.Macro,
        nodes.CallBlock,
        nodes.AssignBlock,
        nodes.FilterBlock,
        nodes.Filter,
        nodes.Concat,
        nodes.Call,
        nodes.Import,
        nodes.FromImport,
    )
    assert [type(node).__name__ for node in tree.find_all(banned)] == []


def test_there_are_templates_to_lint() -> None:
    assert TEMPLATES


@pytest.mark.parametrize(
    ("language", "source"),
    [
        (Language.YAML, 'name: "{{ x }}"'),
        (Language.YAML, "name: '{{ x }}'"),
        (Language.YAML, "name: {{ x }}-job"),
        (Language.YAML, "name: job-{{ x }}"),
        (Language.YAML, "name: {{ x }}{{ y }}"),
        (Language.YAML, "text: |"),
        (Language.YAML, "- >-"),
        (Language.YAML, "a: {{ x }} b"),
        (Language.COMPOSE, 'image: "{{ x }}"'),
        (Language.SHELL, 'echo "{{ x }}"'),
        (Language.SHELL, "echo '{{ x }}'"),
        (Language.SHELL, "echo a{{ x }}"),
        (Language.SHELL, "echo {{ x }}b"),
        (Language.SHELL, "# {{ x }}"),
        (Language.SHELL, "echo $({{ x }}`"),
        (Language.SBATCH, "#SBATCH --comment='{{ x }}'"),
        (Language.SBATCH, "echo {{ x }}"),
    ],
)
def test_the_lint_sees_an_unsound_form(language: Language, source: str) -> None:
    assert violations(source, language) != []


@pytest.mark.parametrize(
    ("language", "source"),
    [
        (Language.YAML, "name: {{ x }}"),
        (Language.YAML, "  - {{ x }}"),
        (Language.YAML, "  - - {{ x }}"),
        (Language.YAML, "{{ x }}: {{ y }}"),
        (Language.YAML, "- {name: {{ x }}, value: {{ y }}}"),
        (Language.YAML, "[{{ x }}, {{ y }}]"),
        (Language.YAML, "# {{ x }}"),
        (Language.COMPOSE, "image: {{ x }}{% if y %} {% endif %}"),
        (Language.SHELL, "exec {{ x }}"),
        (Language.SHELL, "export {{ x }}={{ y }}"),
        (Language.SBATCH, "#SBATCH --time={{ x }}"),
        (Language.SBATCH, "#SBATCH --gres=gpu:{{ x }}:{{ y }}"),
    ],
)
def test_the_lint_allows_a_sound_form(language: Language, source: str) -> None:
    assert violations(source, language) == []
