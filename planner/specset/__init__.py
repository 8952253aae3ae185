"""SpecSet: all specs of one tree, read, resolved and checked."""

from __future__ import annotations

from planner.source import SourceFile, read_tree
from planner.specset.load import load
from planner.specset.model import DeviceClass, LoadResult, PoolRef, SpecSet
from planner.specset.shortfalls import shortfalls

__all__ = ["DeviceClass", "LoadResult", "PoolRef", "SourceFile", "SpecSet", "load", "read_tree", "shortfalls"]
