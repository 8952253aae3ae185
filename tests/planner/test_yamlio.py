"""The strict YAML subset: what stays text, what is refused, and where everything stands."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.source import FILE_BYTES, SourceFile
from planner.yamlio import DEPTH, NODES, Document, locate, path_text, read, rendered, written


def documents(text: str | bytes) -> tuple[Document, ...]:
    found, faults = read(SourceFile("a.yaml", text if isinstance(text, bytes) else text.encode()))
    assert faults == ()
    return found


def value(text: str | bytes) -> Any:
    (document,) = documents(text)
    return document.value


def codes(text: str | bytes) -> list[str]:
    return [fault.code for fault in read(SourceFile("a.yaml", text if isinstance(text, bytes) else text.encode()))[1]]


@pytest.mark.parametrize(
    ("written_as", "read_as"),
    [
        ("NO", "NO"),
        ("no", "no"),
        ("on", "on"),
        ("off", "off"),
        ("yes", "yes"),
        ("True", "True"),
        ("true", True),
        ("false", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("10:30", "10:30"),
        ("09:30", "09:30"),
        ("2:00:00", "2:00:00"),
        ("0755", "0755"),
        ("010", "010"),
        ("08", "08"),
        ("0", 0),
        ("-3", -3),
        ("-0", 0),
        ("12_000", "12_000"),
        ("0x1F", "0x1F"),
        ("1e3", "1e3"),
        ("1.10", "1.10"),
        (".inf", ".inf"),
        ("2026-12-01", "2026-12-01"),
        ("80Gi", "80Gi"),
        ("1/8", "1/8"),
        ('"8"', "8"),
        ("'true'", "true"),
        ("=", "="),
        ("9999999999999999999999", "9999999999999999999999"),
    ],
)
def test_only_json_words_and_whole_numbers_are_more_than_text(written_as: str, read_as: object) -> None:
    found = value(f"a: {written_as}")["a"]
    assert (type(found), found) == (type(read_as), read_as)


def test_the_key_on_stays_text() -> None:
    assert value("on: 1\nno: 2\n5: 3") == {"on": 1, "no": 2, 5: 3}


def test_keys_that_begin_with_x_are_dropped_anywhere() -> None:
    assert value("x-a: 1\nb: {x-c: [1], d: 2}\ne: [{x-f: 1}]") == {"b": {"d": 2}, "e": [{}]}


def test_documents_of_one_file_are_told_apart_by_their_lines() -> None:
    one, two = documents("a: 1\n---\nb: 2\n")
    assert (one.index, two.index) == (0, 1)
    assert locate(two, ("b",)).line == 3


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a: 1\na: 2", "SPEC102"),
        ("a: {b: 1, b: 2}", "SPEC102"),
        ("1: a\n1: b", "SPEC102"),
        ("a: !!set {b}", "SPEC103"),
        ("a: !!str 5", "SPEC103"),
        ("a: !x y", "SPEC103"),
        ("!!map {a: 1}", "SPEC103"),
        ("a: &b {c: 1}\nd: {<<: *b}", "SPEC104"),
        ("[" * 40 + "]" * 40, "SPEC106"),
        ("a: &b [*b]", "SPEC108"),
        ('a: "x\\x00"', "SPEC110"),
        ('a: "\\u2028"', "SPEC110"),
        ('a: "\\ufeff"', "SPEC110"),
        ("a:\n\tb: 1", "SPEC111"),
        ("a: {b: n[1-2]}", "SPEC112"),
        ("a: [n-[001-004]]", "SPEC112"),
        ("[a]: b", "SPEC114"),
        ("true: b", "SPEC114"),
        ("a: 'b", "SPEC101"),
        ("a: b: c", "SPEC101"),
        ("a: @b", "SPEC101"),
        ("a: *b", "SPEC101"),
        ("%YAML 1.3\n---\na: 1", "SPEC101"),
        ('a: "\\ud800"', "SPEC101"),
    ],
)
def test_what_the_subset_does_not_have_is_refused(text: str, code: str) -> None:
    assert codes(text) == [code]


def test_bytes_that_are_not_text_are_refused() -> None:
    assert codes(b"a: \xff") == ["SPEC109"]
    assert codes("a: \ud800".encode("utf-8", "surrogatepass")) == ["SPEC109"]
    assert codes(b"a: \x00") == ["SPEC110"]


def test_a_file_may_be_as_large_as_the_limit_and_no_larger() -> None:
    start = b"a: 1\n#"
    assert codes(start + b"x" * (FILE_BYTES - len(start))) == []
    assert codes(start + b"x" * (FILE_BYTES - len(start) + 1)) == ["SPEC105"]


def test_a_document_may_be_as_deep_as_the_limit_and_no_deeper() -> None:
    assert codes("[" * DEPTH + "]" * DEPTH) == []
    assert codes("[" * (DEPTH + 1) + "]" * (DEPTH + 1)) == ["SPEC106"]
    assert codes("[" * 100_000) == ["SPEC101"]


def test_a_document_may_have_as_many_nodes_as_the_limit_and_no_more() -> None:
    assert codes("[" + "a," * (NODES - 1) + "]") == []
    assert codes("[" + "a," * NODES + "]") == ["SPEC107"]


def test_aliases_are_counted_and_what_they_expand_to_as_well() -> None:
    assert codes("a: &a [1]\nb: [" + "*a, " * 100 + "]") == []
    assert codes("a: &a [1]\nb: [" + "*a, " * 101 + "]") == ["SPEC108"]
    big = "a: &a [" + "x, " * 1_000 + "]\nb: [" + "*a, " * 60 + "]"
    assert codes(big) == ["SPEC107"]


def test_bom_and_windows_line_ends_change_nothing() -> None:
    (document,) = documents("\ufeffa: 1\r\nb: two\r\n".encode())
    assert document.value == {"a": 1, "b": "two"}
    assert str(locate(document, ("b",))) == "a.yaml:2:4"


def test_all_faults_of_a_file_are_told_at_once() -> None:
    assert codes("a: 1\na: 2\nb: !x 1\n---\nc: [\n") == ["SPEC101", "SPEC102", "SPEC103"]


def test_the_second_of_two_equal_keys_is_told_with_the_first() -> None:
    ((fault,),) = [read(SourceFile("a.yaml", b"a: 1\nb: 2\na: 3"))[1]]
    assert (str(fault.place), str(fault.related[0].place)) == ("a.yaml:3:1", "a.yaml:1:1")


def test_a_value_a_key_and_what_is_absent_have_places() -> None:
    (document,) = documents("a:\n  b: [x, {c: y}]\n  d:\n")
    assert str(locate(document, ("a", "b", 1, "c"))) == "a.yaml:2:14"
    assert str(locate(document, ("a", "b", 1, "c"), key=True)) == "a.yaml:2:11"
    assert str(locate(document, ("a", "nvidia", "b", 0))) == "a.yaml:2:7"
    assert str(locate(document, ("a", "d"))) == "a.yaml:3:3"
    assert str(locate(document, ())) == "a.yaml:1:1"
    assert written(document, ("a", "b", 0))
    assert not written(document, ("a", "z"))
    assert path_text(document, ("a", "union-member", "b", 1, "c")) == "a.b[1].c"


@given(st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")) | st.binary(max_size=200))
def test_whatever_the_bytes_are_each_fault_has_a_place_in_the_file(data: bytes) -> None:
    _, faults = read(SourceFile("a.yaml", data))
    lines = data.decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
    for fault in faults:
        assert fault.place is not None
        assert 1 <= fault.place.line <= len(lines)
        assert 1 <= fault.place.column < fault.place.end_column


def test_what_a_renderer_wrote_is_read_with_all_its_keys() -> None:
    assert rendered('x-planner: {"x-y": "NO"}\n---\n1\n') == [{"x-planner": {"x-y": "NO"}}, 1]
