"""Spigot: a sample of the rows as JSON, to look at.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-crawler-pyspark-transforms-spigot.html
"""

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame

from tidemark.errors import ArgumentTypeError, UsageError
from tidemark.glue_job.frames.choices import has_choices
from tidemark.glue_job.frames.text_values import json_lines

ALL_OPTIONS = {"topk", "prob"}


def write_sample(frame: DataFrame, path: str | None, options: Mapping[str, Any]) -> None:
    """Write some rows of a frame as lines of JSON to a path, now."""
    if not isinstance(path, str) or not path:
        raise UsageError(f"the path of spigot is {path!r}; it must be the URI of a folder")
    if not isinstance(options, Mapping):
        raise ArgumentTypeError(f"the options of spigot are {options!r}; they must be a dict")
    if unknown := sorted(set(options) - ALL_OPTIONS):
        raise UsageError(f"the options {unknown} of spigot are not known; allowed: topk, prob")
    sample = json_lines(frame, ()) if has_choices(frame) else frame
    try:
        if "prob" in options:
            sample = sample.sample(withReplacement=False, fraction=float(options["prob"]))
        if "topk" in options:
            sample = sample.limit(int(options["topk"]))
    except ValueError as error:
        raise UsageError(f"the options of spigot are {dict(options)}: {error}") from error
    if sample.columns:
        kind = "text" if has_choices(frame) else "json"
        sample.coalesce(1).write.mode("append").save(path, format=kind)
