"""What a real Slurm 22.05.8 printed about three H100 nodes, one MI300X node, four accounts and six jobs."""

from __future__ import annotations

from pathlib import Path

from planner import catalog
from planner.discovery.found import ClusterFacts, Text
from planner.discovery.models import Models, said
from planner.discovery.slurm.read import read

SAMPLES = Path(__file__).parent / "samples"
FILES = tuple(sorted(SAMPLES.iterdir()))
CATALOG = catalog.load()
MODELS = said(["h100=h100-sxm5-80gb"], CATALOG)
TAKEN_AT = 1_796_073_600
"""2026-11-30T21:20:00Z, while the maintenance of gpu3 lasts."""


def sample(name: str) -> str:
    return (SAMPLES / name).read_text("utf-8")


def facts(models: Models = MODELS, **changed: str) -> ClusterFacts:
    """The facts of the samples, some of them replaced by other text."""
    texts = {path.stem: path.read_text("utf-8") for path in FILES} | changed
    return read([Text(name=name, data=text.encode()) for name, text in texts.items() if text], models, TAKEN_AT)


def node(name: str, gres: str, **fields: str) -> str:
    """One record of `scontrol show node -o`."""
    rest = {"Arch": "x86_64", "CPUTot": "64", "RealMemory": "512000", "State": "IDLE", "Partitions": "h100"} | fields
    return f"NodeName={name} Gres={gres} " + " ".join(f"{key}={value}" for key, value in rest.items())
