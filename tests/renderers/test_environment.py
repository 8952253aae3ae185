"""Each language takes a value back to exactly what went in, or refuses it."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime

import pytest
import yaml
from jinja2 import TemplateNotFound, TemplateSyntaxError, UndefinedError

from renderers import environment
from renderers.environment import Language, compose_value, language_of, sbatch_value, shell_value, yaml_value

CODE_POINTS = (
    *range(1, 0x3001),
    *range(0xD7F0, 0xD800),
    *range(0xE000, 0xE010),
    *range(0xFE00, 0x10010),
    *range(0x10010, 0x110000, 97),
)


def from_template(language: Language, source: str, **values: object) -> str:
    """Render `source` as the environment of `language` would render a file."""
    return environment.environment(language).from_string(source).render(values)


def test_every_character_survives_yaml() -> None:
    for start in range(0, len(CODE_POINTS), 500):
        text = "".join(map(chr, CODE_POINTS[start : start + 500]))
        assert yaml.load(f"key: {yaml_value(text)}", Loader=yaml.CSafeLoader) == {"key": text}


@pytest.mark.parametrize(
    "text",
    ["NO", "0755", "1e3", "10:30", "null", "~", "", " ", "- a", "a: b", "#", "*a", "&a", "!t", "%", "@", "`", "---"],
)
def test_text_that_looks_like_another_type_stays_text(text: str) -> None:
    assert yaml.safe_load(f"- {yaml_value(text)}") == [text]


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (True, "true"),
        (False, "false"),
        (0, "0"),
        (-1, "-1"),
        (2**63, "9223372036854775808"),
        ((), "[]"),
        (("a", 1, True), '["a", 1, true]'),
    ],
)
def test_yaml_writes_integers_truth_and_sequences(value: object, written: str) -> None:
    assert yaml_value(value) == written


@pytest.mark.parametrize(
    "value",
    [
        1.0,
        1e16,
        float("nan"),
        None,
        b"a",
        {"a": 1},
        {1},
        datetime(2026, 12, 1, tzinfo=UTC),
        ("a", 1.5),
        "\ud800",
        "a\udfff",
        "a\0b",
    ],
)
@pytest.mark.parametrize("quote", [yaml_value, compose_value, shell_value, sbatch_value])
def test_what_no_reader_takes_back_is_refused(quote: environment.Finalize, value: object) -> None:
    with pytest.raises(TypeError):
        quote(value)


def test_compose_doubles_every_dollar() -> None:
    assert compose_value("$A ${B} $$") == '"$$A $${B} $$$$"'
    assert compose_value(("$A", 1)) == '["$$A", 1]'


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a b",
        "$(id)",
        "`id`",
        "'",
        '"',
        "\\",
        "a'b\"c",
        "\n",
        "a\nb",
        "-n",
        "*",
        "~",
        "!x",
        "#",
        "é",
        "\u2028",
        ";id",
        "&&",
        "|",
        "a=b",
    ],
)
def test_a_shell_word_arrives_whole(text: str) -> None:
    script = f"printf '%s\\0' x {shell_value((text, 'end'))}"
    printed = subprocess.run(["bash", "-c", script], check=True, capture_output=True).stdout
    assert printed.decode().split("\0") == ["x", text, "end", ""]


def test_the_shell_knows_no_truth_values() -> None:
    with pytest.raises(TypeError):
        shell_value(True)


@pytest.mark.parametrize(
    "word",
    [
        "gpu:h100:8,nvme:2",
        "1-12:00:00",
        "p2",
        "n[001-004,9]",
        "[a|b]",
        "a&b",
        "2026-12-01T00:00:00",
        "job/vision/r[3]@sha256:0a",
    ],
)
def test_a_directive_takes_bare_words(word: str) -> None:
    assert sbatch_value(word) == word
    assert sbatch_value(12) == "12"


@pytest.mark.parametrize(
    "word",
    [
        "",
        " ",
        "a b",
        "-x",
        "--wrap=id",
        "a#b",
        "a'b",
        'a"b',
        "a\\b",
        "a\nb",
        "a;b",
        "$(id)",
        "`id`",
        "é",
        "a%j",
        "a\u2028b",
        True,
    ],
)
def test_a_directive_refuses_everything_else(word: object) -> None:
    with pytest.raises(TypeError):
        sbatch_value(word)


def test_a_missing_name_is_an_error_that_names_it() -> None:
    for language in Language:
        with pytest.raises(UndefinedError, match="absent"):
            from_template(language, "{{ absent }}")


def test_a_value_is_quoted_and_never_read_as_a_template() -> None:
    assert from_template(Language.YAML, "a: {{ x }}\n", x="{{ 7 * 7 }}") == 'a: "{{ 7 * 7 }}"\n'
    assert from_template(Language.SHELL, "exec {{ x }}\n", x=("{{ 7 * 7 }}", "b")) == "exec '{{ 7 * 7 }}' b\n"


@pytest.mark.parametrize("source", ["{{ x|safe }}", "{{ x|tojson }}", "{{ x|indent }}", "{{ x|e }}", "{{ x|upper }}"])
def test_no_filter_can_touch_a_value(source: str) -> None:
    with pytest.raises(TemplateSyntaxError, match="No filter named"):
        from_template(Language.YAML, source, x="a")


def test_no_global_is_in_reach() -> None:
    for name in ("range", "lipsum", "cycler", "namespace", "dict"):
        with pytest.raises(UndefinedError, match=name):
            from_template(Language.YAML, f"{{{{ {name}() }}}}")


@pytest.mark.parametrize(
    "name",
    ["kubernetes/../environment.yaml.j2", "../kubernetes/job.yaml.j2", "/etc/passwd.yaml.j2", "kubernetes/a/b.yaml.j2"],
)
def test_a_template_name_cannot_leave_its_folder(name: str) -> None:
    with pytest.raises(TemplateNotFound):
        environment.render(name)


def test_the_language_follows_from_the_name() -> None:
    assert language_of("kubernetes/job.yaml.j2") is Language.YAML
    assert language_of("compose/project.compose.j2") is Language.COMPOSE
    assert language_of("slurm/head.sbatch.j2") is Language.SBATCH
    with pytest.raises(ValueError, match="ends in none of"):
        language_of("kubernetes/notes.txt")
