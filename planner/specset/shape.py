"""From plain values to models: the schema stage, and its messages."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from planner.diagnostics import Diagnostic, Severity, did_you_mean, nearest, one_of, quoted
from planner.names import is_name
from planner.spec.envelope import API_VERSION, Envelope
from planner.spec.fields import kind_of
from planner.spec.kinds import KINDS
from planner.specset.faults import Item, about, address_of
from planner.yamlio import Document, Path, path_text

_CODES: Final[Mapping[str, str]] = {
    "extra_forbidden": "SPEC202", "missing": "SPEC203", "written": "SPEC206", "bare_number": "SPEC207",
    "range": "SPEC208", "greater_than_equal": "SPEC208", "less_than_equal": "SPEC208", "too_short": "SPEC208",
    "enum": "SPEC209", "literal_error": "SPEC209", "name": "SPEC210", "unquoted": "SPEC211",
}  # fmt: skip
_NEEDED: Final[Mapping[str, str]] = {
    "int_type": "a whole number", "bool_type": "true or false", "string_type": "a text", "tuple_type": "a list",
    "dict_type": "a mapping", "model_type": "a mapping", "model_attributes_type": "a mapping",
    "int_from_float": "a whole number",
}  # fmt: skip


def shaped(document: Document, zone: str) -> tuple[Item[Envelope] | None, tuple[Diagnostic, ...]]:
    """The model of a document, or everything that is wrong with its shape. Times without offset are read in `zone`."""
    head = _head(document)
    if head is not None:
        return None, (head,)
    kind = document.value["kind"]
    try:
        spec = KINDS[kind].__pydantic_validator__.validate_python(document.value, context={"zone": zone})
    except ValidationError as error:
        where = _address(document)
        faults = _telling(error.errors(include_url=False))
        return None, tuple(_translated(document, KINDS[kind], where, fault) for fault in faults)
    return Item(spec, document), ()


def _telling(faults: Sequence[Any]) -> list[Any]:
    """Without complaints that a list is too short only because of faults inside its items."""
    places = [fault["loc"] for fault in faults]
    return [
        fault
        for fault in faults
        if fault["type"] != "too_short"
        or not any(place[: len(fault["loc"])] == fault["loc"] != place for place in places)
    ]


def _head(document: Document) -> Diagnostic | None:
    """What is wrong with the first fields, without which nothing else can be judged."""
    value = document.value
    if not isinstance(value, dict):
        summary = f"a document is a mapping, not {kind_of(value)}"
        return _error(document, (), "SPEC113", summary, "begin with apiVersion: planner/v1, kind: and name:")
    if "apiVersion" not in value:
        return _error(
            document, (), "SPEC201", "apiVersion is missing", f"begin the document with apiVersion: {API_VERSION}"
        )
    if value["apiVersion"] != API_VERSION:
        return _error(
            document, ("apiVersion",), "SPEC201", f"apiVersion {quoted(value['apiVersion'])} cannot be read",
            f"write {API_VERSION}; a file of another tool belongs outside this tree, or is named by template:",
        )  # fmt: skip
    if "kind" not in value:
        return _error(document, (), "SPEC204", "kind is missing", f"add kind: with one of {', '.join(KINDS)}")
    if value["kind"] not in KINDS:
        help_text = did_you_mean(str(value["kind"]), tuple(KINDS))
        return _error(document, ("kind",), "SPEC204", f"unknown kind {quoted(value['kind'])}", help_text)
    return None


def _error(document: Document, path: Path, code: str, summary: str, help_text: str) -> Diagnostic:
    return about(document, path, code=code, severity=Severity.ERROR, summary=summary, help=help_text)


def _address(document: Document) -> str:
    name, team = document.value.get("name"), document.value.get("team")
    kind = document.value["kind"]
    below = kind in ("Job", "Service")
    if not isinstance(name, str) or not is_name(name) or (below and not (isinstance(team, str) and is_name(team))):
        return ""
    return address_of(kind, name, team)


def _translated(document: Document, model: type[BaseModel], where: str, fault: Any) -> Diagnostic:
    kind, path = fault["type"], tuple(part for part in fault["loc"] if part != "[key]")
    summary, help_text = _words(document, model, path, fault)
    return about(
        document, path, key=kind == "extra_forbidden" or "[key]" in fault["loc"], code=_CODES.get(kind, "SPEC205"),
        severity=Severity.ERROR, summary=summary, help=help_text, address=where, seen=_seen(fault.get("input")),
    )  # fmt: skip


def _seen(value: Any) -> str:
    return kind_of(value) if isinstance(value, dict | list | tuple) or value is None else str(value)


def _words(document: Document, model: type[BaseModel], path: Path, fault: Any) -> tuple[str, str]:
    name, holder = path_text(document, path), path_text(document, path[:-1])
    inside = f" in {holder}" if holder else ""
    match fault["type"]:
        case "extra_forbidden":
            return f"unknown key '{path[-1]}'{inside}", _key_help(model, path)
        case "missing":
            return f"'{path[-1]}' is missing{inside}", _missing_help(model, path)
        case "enum" | "literal_error":
            return _choice(name, fault, model, path)
        case "written" | "bare_number" | "name" | "unquoted" | "text" | "range":
            sentence, _, advice = str(fault["ctx"]["sentence"]).rstrip(".").partition("; ")
            return f"{name}: {sentence[0].lower() if sentence[:2].istitle() else sentence[0]}{sentence[1:]}", advice
        case "greater_than_equal" | "less_than_equal":
            bound = fault["ctx"].get("ge", fault["ctx"].get("le"))
            word = "at least" if fault["type"] == "greater_than_equal" else "at most"
            return f"{name}: {fault['input']} is out of range", f"write a number of {word} {bound}"
        case "too_short":
            return f"{name}: at least {fault['ctx']['min_length']} is needed", _description(model, path)
        case _:
            needed = _NEEDED.get(fault["type"], fault["msg"])
            advice = _advice(fault["type"], fault["input"]) or _description(model, path)
            return f"{name}: {needed} is needed here, not {kind_of(fault['input'])}", advice


def _advice(kind: str, value: Any) -> str:
    """What to write instead of a value of the wrong type, where that can be guessed."""
    match kind, value:
        case "bool_type", str():
            return "write true or false; yes, no, on and off are texts"
        case "tuple_type", str() | int():
            return f"write [{value}]"
        case "int_type", str() if value.isdecimal():
            return f"write {int(value)}"
        case _:
            return ""


def _choice(name: str, fault: Any, model: type[BaseModel], path: Path) -> tuple[str, str]:
    words = _choices(fault)
    value = str(fault["input"])
    near = nearest(value, words) or nearest(value.lower(), words)
    return f"{name}: {quoted(value)} is not one of the known words", (
        f"did you mean {one_of(near)}? " if near else ""
    ) + f"known: {', '.join(words)}"


def _choices(fault: Any) -> tuple[str, ...]:
    return tuple(part.strip(" '") for part in str(fault["ctx"]["expected"]).replace(" or ", ",").split(","))


def _key_help(model: type[BaseModel], path: Path) -> str:
    known = tuple(sorted(fields_at(model, path[:-1])))
    return did_you_mean(str(path[-1]), known, list_at_most=60)


def _missing_help(model: type[BaseModel], path: Path) -> str:
    description = _description(model, path)
    return f"add '{path[-1]}:'" + (f" ({description})" if description else "")


def _description(model: type[BaseModel], path: Path) -> str:
    found = fields_at(model, path[:-1]).get(str(path[-1])) if path else None
    return (found.description or "").rstrip(".") if found else ""


def fields_at(model: type[BaseModel], path: Path) -> Mapping[str, FieldInfo]:
    """The fields, by the name that is written, of the model that a path leads to; none when it leads to no model."""
    current: type[BaseModel] | None = model
    for part in path:
        if current is None or isinstance(part, int):
            continue
        field = _written_fields(current).get(part)
        current = _model_in(field.annotation) if field else None
    return _written_fields(current) if current else {}


def _written_fields(model: type[BaseModel]) -> dict[str, FieldInfo]:
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """The one model inside an annotation such as `tuple[Annotated[Model, …], ...] | None`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    if get_origin(annotation) in (Annotated, Union, types.UnionType, tuple):
        return next((found for part in get_args(annotation) if (found := _model_in(part))), None)
    return None
