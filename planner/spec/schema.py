"""JSON Schemas of the specification language, for editors and other tools."""

from __future__ import annotations

import json
from typing import Any, Final

from planner.spec.kinds import KINDS

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_REQUIRED: Final = ("apiVersion", "kind")


def json_schemas() -> dict[str, str]:
    """The schemas as text by file name: one for each kind, and `planner.schema.json` for any document."""
    schemas = {kind: _schema_of(kind) for kind in KINDS}
    files = {f"{kind.lower()}.schema.json": _text(schema) for kind, schema in schemas.items()}
    return files | {"planner.schema.json": _text(_any_of(schemas))}


def _schema_of(kind: str) -> dict[str, Any]:
    schema = KINDS[kind].model_json_schema(by_alias=True, mode="validation")
    schema["title"] = kind
    schema["required"] = sorted({*schema.get("required", ()), *_REQUIRED})
    opened: dict[str, Any] = _opened(schema)
    return {"$schema": _DIALECT, **opened}


def _opened(node: Any) -> Any:
    """Allow `x-` keys in every object, and drop defaults and titles, which editors would repeat without need."""
    if isinstance(node, list):
        return [_opened(item) for item in node]
    if not isinstance(node, dict):
        return node
    opened = {key: _named(key, value) for key, value in node.items() if not _is_noise(key, value)}
    if opened.get("additionalProperties") is False:
        opened["patternProperties"] = {"^x-": {}}
    return opened


def _named(key: str, value: Any) -> Any:
    if key in ("properties", "$defs") and isinstance(value, dict):
        return {name: _opened(item) for name, item in value.items()}
    return _opened(value)


def _is_noise(key: str, value: Any) -> bool:
    return key == "default" or (key == "title" and isinstance(value, str))


def _any_of(schemas: dict[str, dict[str, Any]]) -> dict[str, Any]:
    definitions: dict[str, Any] = {}
    for kind, schema in schemas.items():
        body = {key: value for key, value in schema.items() if key not in ("$schema", "$defs")}
        definitions |= {**schema.get("$defs", {}), kind: body}
    return {
        "$schema": _DIALECT,
        "oneOf": [{"$ref": f"#/$defs/{kind}"} for kind in sorted(schemas)],
        "discriminator": {"propertyName": "kind"},
        "$defs": dict(sorted(definitions.items())),
    }


def _text(schema: dict[str, Any]) -> str:
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
