"""Models of the kinds: short forms, immutability, and the JSON Schemas."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

from planner.source import SourceFile
from planner.spec.cluster import Cluster
from planner.spec.job import Job, JobArray
from planner.spec.kinds import KINDS, AnySpec
from planner.spec.schema import json_schemas
from planner.spec.service import Service
from planner.units import Duration
from planner.yamlio import read

HEAD = {"apiVersion": "planner/v1"}
CONTEXT = Path(__file__).parents[1] / "bad_specs" / "_context.yaml"


def a_job(**fields: Any) -> Job:
    return Job.model_validate({**HEAD, "kind": "Job", "name": "a", "team": "t", "gpus": 8, "duration": "18h", **fields})


def a_pool(**fields: Any) -> Any:
    cluster = {
        **HEAD,
        "kind": "Cluster",
        "name": "c",
        "backend": "slurm",
        "pools": [{"name": "p", "nodes": 2, **fields}],
    }
    return Cluster.model_validate(cluster).pools[0]


def test_short_and_long_forms_are_equal() -> None:
    assert a_job(gpus=8) == a_job(gpus={"count": 8})
    assert a_job(gpus="1/8") == a_job(gpus={"count": 1, "share": "1/8"})
    assert a_job(duration="18h") == a_job(duration={"expected": "PT18H"})
    assert a_job(array=10) == a_job(array="0-9")
    assert a_job(env={"A": "b"}) == a_job(env={"A": {"value": "b"}})
    assert a_pool(nodes="n[1-2]") == a_pool(nodes=["n1", "n2"])
    assert a_pool(gpus={"model": "m", "count": 1}) == a_pool(gpus=[{"model": "m", "count": 1}])
    assert a_pool(partitions=["1g.10gb"]) == a_pool(partitions={"allowed": ["1g.10gb"]})


def test_an_array_has_its_indices() -> None:
    assert a_job(array="0-9%4").array == JobArray(first=0, last=9, at_most=4)
    assert a_job(array="10%2").array == JobArray(first=0, last=9, at_most=2)
    array = a_job(array="3-5").array
    assert array is not None and list(array.indices) == [3, 4, 5]


def test_shares_stay_exact() -> None:
    gpus = a_job(gpus="1/3").gpus
    assert gpus is not None and gpus.share == Fraction(1, 3) and gpus.is_fraction


def test_a_duration_by_model_is_told_from_one_with_a_limit() -> None:
    assert a_job(duration={"h100": "18h", "mi300x": "20h"}).duration.by_model == (
        ("h100", Duration.parse("18h")),
        ("mi300x", Duration.parse("20h")),
    )
    both = a_job(duration={"h100": "18h", "limit": "24h"}).duration
    assert (both.limit, len(both.by_model)) == (Duration.parse("24h"), 1)


def test_loads_are_exact_thousandths() -> None:
    raw = {
        **HEAD,
        "kind": "Service",
        "name": "s",
        "team": "t",
        "gpus": 1,
        "load": [{"when": "otherwise", "qps": "2.5"}],
    }
    assert Service.model_validate(raw).load.steps[0].milliqps == 2_500
    assert Service.model_validate(raw | {"load": {"file": "load.csv"}}).load.file == "load.csv"


def test_device_indices_are_those_written_and_then_the_next_free() -> None:
    pool = a_pool(gpus=[{"model": "a", "count": 2}, {"model": "b", "count": 2, "devices": [0, 2]}])
    assert pool.device_indices() == ((1, 3), (0, 2))
    assert a_pool(gpus={"model": "a", "count": 3}).device_indices() == ((0, 1, 2),)


def test_mappings_are_sorted_pairs_that_nobody_can_change() -> None:
    job = a_job(labels={"b": "1", "a": "2"}, env={"A": "b"})
    assert job.labels == (("a", "2"), ("b", "1"))
    assert hash(job) == hash(a_job(labels={"a": "2", "b": "1"}, env={"A": "b"}))
    with pytest.raises(ValidationError, match="frozen"):
        job.name = "b"


def all_models(model: type[BaseModel], seen: set[type[BaseModel]]) -> set[type[BaseModel]]:
    for subclass in model.__subclasses__():
        if subclass not in seen:
            seen.add(subclass)
            all_models(subclass, seen)
    return seen


def test_no_field_can_be_mutated_and_every_field_is_described() -> None:
    models = [model for model in all_models(BaseModel, set()) if model.__module__.startswith("planner.spec.")]
    assert len(models) > 50
    for model in models:
        assert model.model_config.get("frozen") and model.model_config.get("extra") == "forbid", model
        for name, field in model.model_fields.items():
            assert field.description or name == "kind", f"{model.__name__}.{name} has no description"
            assert not any(word in str(field.annotation) for word in ("list[", "dict[", "set[")), (
                f"{model.__name__}.{name}"
            )


def test_any_spec_is_told_by_its_kind() -> None:
    adapter: TypeAdapter[Any] = TypeAdapter(AnySpec)
    assert isinstance(adapter.validate_python({**HEAD, "kind": "Team", "name": "t"}), KINDS["Team"])


def test_there_is_a_schema_for_each_kind_and_one_for_all() -> None:
    schemas = json_schemas()
    assert set(schemas) == {f"{kind.lower()}.schema.json" for kind in KINDS} | {"planner.schema.json"}
    for text in schemas.values():
        jsonschema.Draft202012Validator.check_schema(json.loads(text))


def test_the_schema_of_all_kinds_has_each_definition_once() -> None:
    schemas = {name: json.loads(text) for name, text in json_schemas().items()}
    together = schemas.pop("planner.schema.json")["$defs"]
    for schema in schemas.values():
        for name, definition in schema.get("$defs", {}).items():
            assert together[name] == definition, name


@pytest.mark.parametrize(
    ("change", "right"),
    [
        ({}, True),
        ({"gpus": "1/8"}, True),
        ({"gpus": {"count": 8, "model": "h100"}}, True),
        ({"duration": {"h100": "18h"}}, True),
        ({"x-note": [1, 2]}, True),
        ({"gpuz": 8}, False),
        ({"priority": "P9"}, False),
        ({"name": "A b"}, False),
        ({"gpus": {"count": -1}}, False),
        ({"memory": "80g"}, False),
        ({"memory": 80}, False),
    ],
)
def test_the_schema_of_a_job_says_what_the_model_says(change: dict[str, Any], right: bool) -> None:
    schema = json.loads(json_schemas()["job.schema.json"])
    job = {**HEAD, "kind": "Job", "name": "a", "team": "t", "gpus": 8, "duration": "18h", **change}
    assert jsonschema.Draft202012Validator(schema).is_valid(job) is right


def test_a_valid_tree_is_valid_by_schema_too() -> None:
    validator = jsonschema.Draft202012Validator(json.loads(json_schemas()["planner.schema.json"]))
    documents, _ = read(SourceFile("a.yaml", CONTEXT.read_bytes()))
    for document in documents:
        validator.validate(document.value)
