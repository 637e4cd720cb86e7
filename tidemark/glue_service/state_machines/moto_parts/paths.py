"""Paths in JSON: what they find."""

import re
from functools import lru_cache
from typing import Any

from jsonpath_ng.ext.parser import parse

from tidemark.glue_service.state_machines.light_moto import part

PATHS = 1024  # of JSON, that are kept parsed
INDEFINITE = re.compile(r"""\[\s*(\?|\*|[^\]'"]*[:,])|\.\.|\.\*""")  # of paths to several values
ONE_ITEM = re.compile(r"\[\d+\]$")
JSON_PATH = part("utils.json_path")
_parsed_path = lru_cache(PATHS)(parse)


def extract(path: str, data: Any) -> Any:
    """Return what a path finds: one value, or a list where the path may find several."""
    values = [match.value for match in _parsed_path(path).find(data)]
    if INDEFINITE.search(path):
        is_of_one = ONE_ITEM.search(path) and len(values) == 1
        return values[0] if is_of_one else values
    if not values:
        raise JSON_PATH.NoSuchJsonPathError(json_path=path, data=data)
    return values[0]
