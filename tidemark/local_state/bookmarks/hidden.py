"""Names that readers hide, and the data below such names, which no run reads.

A marker is what Spark, Hadoop, a table format or a desktop writes for itself: it is not lost data.
"""

import os
import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import PurePosixPath
from stat import S_ISDIR, S_ISREG

MAX_NAMED = 3
FOLDER_MARKER = "_$folder$"
_MARKERS = re.compile(
    r"_SUCCESS|_(committed|started)_.*|_metadata|_common_metadata|_temporary"  # of Spark
    r"|_spark_metadata|\.spark-staging.*|\.(hive-)?staging.*|\..*\.crc|.*\._COPYING_"
    r"|_delta_log|_change_data|_symlink_format_manifest|\.hoodie.*"  # of Delta Lake and Hudi
    r"|_audit"  # of the watermark library: rows that no audit has let through
    r"|_copy_into_log|_delta_index|_checkpoints?"  # of Delta Lake, and of streams
    r"|__magic(_job-.*)?|_distcp.*|\.distcp\.tmp.*|_(task_)?tmp\..*"  # of Hadoop and Hive
    r"|_impala_insert_staging|\..*\.inprogress\..*"  # of Impala and Flink
    r"|\.DS_Store|\._.*|\.(AppleDouble|Spotlight-V100|TemporaryItems|Trashes)"  # of macOS
    r"|\.(apdisk|fseventsd|localized)"
)


def is_hidden(name: str) -> bool:
    """Decide as HadoopFSUtils of Spark and EMRFS: a partition column may start with "_"."""
    first, last = name[:1], name[-1:]
    if first == "_":
        return "=" not in name
    if first != "." and last not in "_$":  # nearly all names
        return False
    # EMR and Hadoop put the empty object NAME_$folder$ next to each folder they create:
    # https://repost.aws/knowledge-center/emr-s3-empty-files
    return first == "." or name.endswith(("._COPYING_", FOLDER_MARKER))


def is_marker(name: str) -> bool:
    """Return whether Spark, Hadoop, a table format or a desktop writes this name for itself."""
    return bool(_MARKERS.fullmatch(name)) or name.endswith(FOLDER_MARKER)


def hidden_data(path: str, relative: str) -> Iterator[tuple[str, os.stat_result]]:
    """Yield the files with data of a hidden name: itself, or all in its folder.

    Links and what cannot be read are passed over: to look must fail no run.
    """
    if _MARKERS.fullmatch(os.path.basename(path)):  # noqa: PTH119 (of many names)
        return
    with suppress(OSError):
        stat = os.lstat(path)
        if S_ISREG(stat.st_mode) and stat.st_size:
            yield relative, stat
        elif S_ISDIR(stat.st_mode):
            with os.scandir(path) as entries:
                names = [entry.name for entry in entries]
            for name in names:
                yield from hidden_data(f"{path}/{name}", f"{relative}/{name}")


def of_each_kind(uris: Collection[str]) -> str:
    """Return an example of each kind of hidden files, and how many there are.

    One kind are the files below hidden folders of one name, and those that start alike:
    ``s3://b/_old/a.csv (and 4 more below _old/), s3://b/.z.csv``.
    """
    kinds: dict[str, list[str]] = {}
    for uri in sorted(uris):
        *folders, name = PurePosixPath(uri.partition("://")[2]).parts[1:]
        is_marker = name.endswith(FOLDER_MARKER)
        kind = f"that end with {FOLDER_MARKER}" if is_marker else f"as {name[0]}*"
        if folder := next((parent for parent in folders if is_hidden(parent)), ""):
            kind = f"below {folder}/"
        kinds.setdefault(kind, []).append(uri)
    shown = list(kinds.items())[:MAX_NAMED]
    more = len(uris) - sum(len(each) for _, each in shown)
    texts = [
        f"{each[0]} (and {len(each) - 1} more {kind})" if each[1:] else each[0]
        for kind, each in shown
    ]
    return ", ".join(texts) + (f" and {more} more" if more else "")
