"""How the state of old jobs is carried to new ones: pure, on plain data.

Sources: https://docs.aws.amazon.com/glue/latest/dg/monitor-continuations.html (a bookmark is kept
by the name of its job, and deleted with it; a range of --job-bookmark-from names runs of the job).
"""

import json
import shlex
from collections.abc import Sequence

from tidemark.adopt.data import flags_of
from tidemark.adopt.model import AdoptedCrawler, AdoptedJob, Adoption, Existing, MigrationStep
from tidemark.model.assembly.definitions import ENABLE


def has_bookmark(job: AdoptedJob, existing: Existing) -> bool:
    """Return whether a job has, or may have, a bookmark that the new one has to get."""
    return job.bookmark != "DISABLE" and existing.bookmarks.get(job.old, {}) is not None


def overrides(job: AdoptedJob) -> dict[str, str]:
    """Return arguments for a run that creates a bookmark and writes elsewhere; none if unknown."""
    outputs = [name for name, _ in job.writes if name]
    if not job.scratch or not outputs or job.writes_elsewhere:
        return {}
    changed = {f"--{name}": text for name, text in job.started_arguments.items()}
    changed |= {f"--{name}": f"{job.scratch.uri}{name}/" for name in outputs}
    if job.bookmark == "PAUSE":
        changed["--job-bookmark-option"] = ENABLE
    return changed


def late_objects(adoption: Adoption, jobs: Sequence[AdoptedJob]) -> list[str]:
    """Return what lists the objects that others delivered to jobs since deliveries are held."""
    flags = flags_of(adoption.nodes)
    places = dict.fromkeys(place for job in jobs for _, place in job.reads if flags[place][0])
    return [
        f"aws s3api list-objects-v2 --bucket {place.bucket} --prefix {place.prefix} "
        "--query \"Contents[?LastModified>='$(cat held-since)'].Key\""
        for place in places
    ]


def scratch_run(adoption: Adoption, job: AdoptedJob) -> MigrationStep:
    """Return the step that creates a bookmark with a run whose output nobody reads."""
    place = job.scratch.uri if job.scratch else ""
    outputs = ", ".join(name for name, _ in job.writes)
    arguments = in_shell(json.dumps(overrides(job)))
    run = f"aws glue start-job-run --job-name {job.name} --arguments {arguments}"
    reset = f"aws glue reset-job-bookmark --job-name {job.name}"
    late = late_objects(adoption, [job])
    if late:
        late.append(
            "# null; what came all the same is read by the next run once it is copied onto itself: "
            "aws s3 cp URI URI --metadata-directive REPLACE"
        )
    aside = ""
    if job.bookmark == "PAUSE":
        aside = " The job pauses its bookmark, so this one run enables it."
    return MigrationStep(
        f"Make the bookmark of {job.name}, writing elsewhere",
        f"One run reads everything that {job.old} has read until now and writes it to {place}; "
        "its commit stores how far it has read. --job-bookmark-from and -to cannot do this: they "
        f"take ids of runs of the job itself. It costs one full read.{aside}",
        (
            f"# read {job.script}: unless it writes below {outputs} only, do not run this; let it "
            "take its other targets as arguments too, or decide that it reads everything again",
            run,
        ),
        (
            f"aws glue get-job-runs --job-name {job.name} --max-items 1 --query "
            "'JobRuns[0].[StartedOn,JobRunState]'",
            f"aws glue get-job-bookmark --job-name {job.name} --query JobBookmarkEntry.JobBookmark",
            f"aws s3 ls --recursive --summarize {place} | tail -2",
            "# SUCCEEDED; a bookmark; as much as the old job wrote in all, if it appends",
            *late,
        ),
        (reset, f"aws s3 rm --recursive {place}"),
    )


def decision(job: AdoptedJob) -> MigrationStep:
    """Return the step for a bookmark that no run can make elsewhere."""
    return MigrationStep(
        f"Decide how {job.name} starts",
        f"{job.old} may have a bookmark, and no argument names its output, so no run can build the "
        "new bookmark elsewhere. Its first run reads everything again.",
        (
            "# if it replaces or merges into its target: nothing to do",
            "# if it appends: stop here. Let the script take its target as an argument, deploy, "
            "and create the bookmark with a run that writes to a folder of temp=: "
            f"aws glue start-job-run --job-name {job.name} --arguments "
            '\'{"--target_path": "s3://..."}\'',
        ),
        ("# the target holds nothing twice after its first run (step Start)",),
        (f"aws glue reset-job-bookmark --job-name {job.name}",),
    )


def first_crawl(crawler: AdoptedCrawler) -> MigrationStep:
    """Return the step in which a new crawler takes over the tables of the old one."""
    start = f"aws glue start-crawler --name {crawler.name}"
    databases = dict.fromkeys(table.partition(".")[0] for table in crawler.tables)
    made = [
        f"aws glue get-tables --database-name {name} "
        "--query \"TableList[?CreateTime>='$(cat crawled-since)'].Name\""
        for name in databases
    ]
    return MigrationStep(
        f"Let {crawler.name} take over the tables of {crawler.old_name}",
        "The first crawl of a new crawler reads everything, even against its policy, and nothing "
        "has changed since the last one of the old: it should find its tables, and make none. A "
        "table that it does not take for its own it makes again under another name.",
        ("date -u +%Y-%m-%dT%H:%M:%SZ | tee crawled-since", start),
        (
            f"aws glue get-crawler --name {crawler.name} --query Crawler.[State,LastCrawl.Status]",
            *made,
            "# READY, SUCCEEDED; no new table: one whose name has a suffix is a second one of the "
            "same data. Then delete it, and the old one if nothing but the crawler describes it, "
            "and crawl again",
        ),
        ("# delete the tables that it made: aws glue delete-table", "rm crawled-since"),
    )


def rename_watermarks(job: AdoptedJob) -> MigrationStep:
    """Return the step that gives watermarks to the new name of a job."""
    table = json.dumps(job.watermark_table)

    def rename(old: str, new: str) -> str:
        code = (
            "from watermarks import WatermarkAdmin; "
            f"print(WatermarkAdmin({table}).rename_job({json.dumps(old)}, {json.dumps(new)}))"
        )
        return f"python -c {in_shell(code)}"

    return MigrationStep(
        f"Carry the watermarks over to {job.name}",
        "Watermarks are kept by the name of the job. They move in one transaction; from then on "
        "the old name is refused.",
        (rename(job.old, job.name),),
        (f"tidemark watermark show {job.name} --deployed $STAGE --table {job.watermark_table}",),
        (rename(job.name, job.old),),
    )


def in_shell(name: str) -> str:
    r"""Return a name as one word of bash, in which a terminal sees no control character.

    Example:
        >>> print(in_shell("daily orders"), in_shell("a\x1b[2J'"))
        'daily orders' $'a\U0000001b[2J\U00000027'
    """
    if name.isprintable():
        return shlex.quote(name)
    kept = (
        letter if letter.isprintable() and letter not in "\\'" else f"\\U{ord(letter):08x}"
        for letter in name
    )
    return f"$'{''.join(kept)}'"
