"""Computes how much of the corpus runs here: `python -m tools.corpus.covered`."""

from __future__ import annotations

from dataclasses import dataclass

from tidemark.model.awsglue_api.connections import (
    READ_FORMATS,
    READ_TYPES,
    WRITE_FORMATS,
    WRITE_TYPES,
)
from tidemark.model.awsglue_api.table import Coverage, entries, outside_library
from tools.corpus.steps import STEPS

VARIABLE = "<variable>"  # of a script that computes it: nothing is known
_CONTEXT = "awsglue.context.GlueContext"
_CLASSES = {
    "create_dynamic_frame": "awsglue.dynamicframe.DynamicFrameReader",
    "create_data_frame": "awsglue.dataframereader.DataFrameReader",
    "write_dynamic_frame": "awsglue.dynamicframe.DynamicFrameWriter",
    "DynamicFrame": "awsglue.dynamicframe.DynamicFrame",
    "DynamicFrameCollection": "awsglue.dynamicframe.DynamicFrameCollection",
    "DataSink": "awsglue.data_sink.DataSink",
    "Job": "awsglue.job.Job",
    "GlueContext": _CONTEXT,
}
# What scripts use and is no name of AWS's library: of the classes that it derives from.
_INHERITED = {
    "GlueContext.createDataFrame": f"{_CONTEXT}.__init__",
    "GlueContext._jsc": f"{_CONTEXT}.__init__",
    "GlueLogger.info": f"{_CONTEXT}.get_logger",
    "GlueLogger.error": f"{_CONTEXT}.get_logger",
    "getResolvedOptions": "awsglue.utils.getResolvedOptions",
}


@dataclass(frozen=True)
class Covered:
    """The share of the corpus that runs here, in percent, each repository weighing the same.

    Attributes:
        floor: of scripts that need nothing but the steps up to the first that is not whole.
        estimate: of the steps that are whole; a script of a later step may need one that is not.
        missing: what the other steps lack.
    """

    floor: int
    estimate: int
    missing: tuple[str, ...]


def covered() -> Covered:
    """Return how much of the corpus runs here."""
    floor, estimate, before = 0, 0, 0
    missing: list[str] = []
    for adds, _, share in STEPS:
        lacking = [name for name in adds if not runs_here(name)]
        if not lacking:
            estimate += share - before
            floor = floor if missing else share
        missing += lacking
        before = share
    return Covered(floor, estimate, tuple(missing))


def runs_here(need: str) -> bool:
    """Return whether what a script needs runs here: a call, or ``read:s3/csv``."""
    kind, colon, target = need.partition(":")
    if colon:
        return _is_read(target) if kind == "read" else _is_written(target)
    return _name(need) not in _REFUSED


def _is_read(target: str) -> bool:
    return _is_one(target, READ_TYPES, READ_FORMATS)


def _is_written(target: str) -> bool:
    return _is_one(target, WRITE_TYPES, WRITE_FORMATS)


def _is_one(target: str, types: tuple[str, ...], formats: tuple[str, ...]) -> bool:
    kind, _, name = target.partition("/")
    known = (*formats, VARIABLE, "")
    return kind in (*types, VARIABLE) and name.lower() in known


def _name(need: str) -> str:
    """Return the name of AWS for a call as scripts write it; one that is not known fails."""
    if need in _INHERITED:
        return _INHERITED[need]
    owner, _, member = need.removesuffix("()").partition(".")
    if owner in _CLASSES:
        found = f"{_CLASSES[owner]}.{member or '__init__'}"
    elif f"awsglue.transforms.{owner}" in _KNOWN:
        found = f"awsglue.transforms.{owner}"
    else:
        found = f"awsgluedq.transforms.{owner}"
    if found not in _KNOWN:
        raise KeyError(f"the corpus needs {need}, and no table knows it")
    return found


_BESIDE = {f"{module}.{name}" for module, name, _ in outside_library()}
_KNOWN = {one.full_name for one in entries()} | {"awsgluedq.transforms.EvaluateDataQuality"}
_REFUSED = {one.full_name for one in entries() if one.state is Coverage.RAISES} | _BESIDE


if __name__ == "__main__":
    found = covered()
    print(f"at least {found.floor} %, by an estimate {found.estimate} %")  # noqa: T201
    print(f"not here: {', '.join(found.missing)}")  # noqa: T201
