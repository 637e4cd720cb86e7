"""What GetJobBookmark tells of a bookmark: how far each transformation_ctx has read.

AWS documents nothing of the string JobBookmark. Of a source of S3 it is, as accounts have answered
(observed 2024-10), by transformation_ctx:

    {"ctx": {"jsonClass": "HadoopDataSourceJobBookmarkState", "timestamps": {"RUN": "2",
      "HIGH_BAND": "900000", "CURR_RUN_START_TIME": "2024-10-28T02:12:06.503Z",
      "INCLUDE_LIST": "f437cb05…,5383de8c…", …}}}

HIGH_BAND has the default of maxBand, in milliseconds. INCLUDE_LIST was empty after a first run, and
is taken for what that option documents: the objects of the band that were read, one hash each.
Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-connect-s3-home.html
"""

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import Enum
from typing import Any, TypeAlias

ContextState: TypeAlias = Mapping[str, Any]


class BandPlace(Enum):
    """Where an object stands to a bookmark; the value is its name in JSON."""

    NEWER = "newer"
    BAND = "in the band"
    OLDER = "older"


def states_of(entry: Mapping[str, Any]) -> dict[str, ContextState]:
    """Return the states by transformation_ctx, those of S3 in the form of a bookmark of a home.

    What has another form stays as it is.
    """
    text = entry.get("JobBookmark") or "{}"
    try:
        document = json.loads(text)
        own = document.get("states")
        if isinstance(own, dict):
            return own
        return {ctx: _state(state) for ctx, state in document.items()}
    except (AttributeError, ValueError):
        return {"": {"kind": "-", "JobBookmark": text}}


def _state(document: Mapping[str, Any]) -> ContextState:
    try:
        times = {"INCLUDE_LIST": "", **document["timestamps"]}
        high_ms = round(datetime.fromisoformat(times["CURR_RUN_START_TIME"]).timestamp() * 1000)
        low_ms = high_ms - int(times["HIGH_BAND"])
    except (KeyError, TypeError, ValueError):
        return {"kind": document.get("jsonClass", "-"), **document}
    listed = [digest for digest in times["INCLUDE_LIST"].split(",") if digest]
    return {"kind": "s3", "high_ms": high_ms, "low_ms": low_ms, "recent": listed}


def band_of(states: Iterable[ContextState]) -> tuple[int, int] | None:
    """Return where the bands of all states begin and end, epoch ms; None without one of S3."""
    of_files = [state for state in states if "high_ms" in state]
    if not of_files:
        return None
    return min(state["low_ms"] for state in of_files), max(state["high_ms"] for state in of_files)


def place_of(modified_ms: int, band: tuple[int, int]) -> BandPlace:
    """Return where an object stands."""
    if modified_ms > band[1]:
        return BandPlace.NEWER
    return BandPlace.BAND if modified_ms > band[0] else BandPlace.OLDER
