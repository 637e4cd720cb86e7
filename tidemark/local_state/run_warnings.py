"""Warnings of a job run that users of Glue learn the hard way: noted as it runs, shown at its end.

A job process appends to the file `WARNINGS_FILE` in the folder of its run, and stores the warning
with the run: neither its own death nor that of `tidemark` loses it.
"""

import json
import os
from contextlib import suppress
from enum import Enum
from pathlib import Path

from tidemark.local_state.home import RUN_ID_VARIABLE, Home
from tidemark.local_state.machine.own_files import append_line
from tidemark.local_state.store.database import Store
from tidemark.local_state.store.stored_warnings import keep_warnings

WARNINGS_FILE = "warnings.jsonl"
RUN_FOLDER_VARIABLE = "TIDEMARK_RUN_FOLDER"
# Set in a run of a job that a template or a client of Glue defined, not of a submitted script.
DECLARED_VARIABLE = "TIDEMARK_DECLARED_JOB"


class RunWarning(Enum):
    """The kind of a warning; the value is its message, in one line, and ``{}`` its subject."""

    def __new__(cls, text: str) -> "RunWarning":
        """Join the lines of a message."""
        warning = object.__new__(cls)
        warning._value_ = " ".join(text.split())
        return warning

    INIT_MISSING = """job bookmarks are enabled and the script never called Job.init: {} was read in
        full; call Job(glue_context).init(args['JOB_NAME'], args) before the first source"""
    COMMIT_MISSING = """job bookmarks are enabled and the script never called Job.commit: the next
        run reads the same again ({}); make job.commit() its last statement"""
    COMMIT_IN_FINALLY = """Job.commit is in a finally block ({}): a run that fails marks unprocessed
        data as read; make it the last statement of the job instead"""
    CTX_MISSING = """a source without transformation_ctx is read in full by every run, although
        bookmarks are enabled ({}): give it its own name"""
    CONCURRENT_RUNS = """MaxConcurrentRuns is {} and job bookmarks are enabled: two runs at once
        read the same and the second one fails at commit; set it to 1"""
    DATAFRAME_READER = """job bookmarks are enabled and no source was read through them: spark.read
        knows no bookmark, so every run reads everything ({}); use create_dynamic_frame or
        create_data_frame with a transformation_ctx"""
    NO_BOOKMARK = """job bookmarks are enabled, and cover sources of S3 and JDBC only: every run
        reads all of {}, as on AWS; keep a watermark of what was read to read only what is new"""
    LEFT_OUT_BEFORE = """{}: left out by the paths, exclusions, predicate or partitions of the last
        run, not by those of this run, and older than the bookmark: skipped, as on AWS; `touch` each
        such file, or rename the ctx or reset the bookmark to read it"""
    FUTURE_FILES = """{}: with a modification time that is ahead of the clock, before which no run
        reads such a file; `touch` it to read it now"""
    CTX_RENAMED = """the transformation_ctx {}: a bookmark follows the ctx, so the source was read
        in full again, as on AWS; give it the old one to continue where its bookmark is"""
    INIT_LATE = """Job.init came after the source {} was opened: it was read in full, as without a
        bookmark; call Job.init before the first source"""
    MARK_AHEAD = """the bookmark of {}: a run committed while the clock was ahead, and no file is
        read that is not later than the bookmark; when the clock is right, go back with `tidemark
        bookmark reset JOB`, or with `tidemark rewind` to the run before"""
    COMMIT_BEFORE_SOURCE = """Job.commit came before the source {} was opened: the bookmark does not
        keep that read, and the next run reads the same again; make Job.commit the last statement of
        the job"""
    OLD_FILES = """{} arrived after the last run had looked, with an older modification time, and
        will never be read; S3 would have given the time of the arrival: `touch` each such file in
        the folder `lake` of the home, where s3://BUCKET/KEY is lake/BUCKET/KEY"""
    HIDDEN_FILES = """{}: skipped because of its name, as on AWS, where readers hide files and
        folders that start with _ or . and the markers NAME_$folder$: rename files with data, or
        exclude them"""
    NOT_LOOKED_AT = """what the script did to its bookmark could not be checked ({}): the run is not
        affected; report this to the maintainers of Tidemark"""
    LOST_LINES = """{} let Spark pass over unreadable files: rows of files that are damaged or gone
        are missing without an error; leave the setting out, and name such files in exclusions"""
    CUT_VALUES = """{} has lines that end within quotes, and without multiLine each line is a
        record: such a value is cut there, and the rest becomes another row; set multiLine to true
        in format_options, or quoteChar to -1 if the quote is part of the value"""
    DOUBLED_QUOTES = """{} has doubled quotes within a value, and an escaper: such a value keeps all
        its quotes here, where OpenCSVSerDe makes one of two; leave the escaper out, or escape the
        quotes"""
    ESCAPERS = """{} has an escaper before another character than a quote, and doubled ones too: it
        stays in the value here, where Glue takes it away and reads n, r, t and 0 after it as the
        end of a line, a tab or a NUL; replace it in the column, or write such values in quotes"""
    DECIMAL_ROUNDED = """values of the column {} have more digits after the point than the decimal
        that its table declares: they are rounded; declare a decimal that holds them, or a string"""
    NULL_TEXTS = """{} has values that are the string which LazySimpleSerDe reads as null:
        from_catalog reads a string, and spark.sql null; turn it into null in the script if
        from_catalog reads it"""
    SEVERAL_VALUES = """{} has several JSON values where Spark reads one, the first of a line, or of
        a file with multiLine: the others are in no row, as on AWS; read it with
        create_dynamic_frame, which takes all of them, or write a line feed between them"""
    BAND_FULL = """left to the next run: {}, since maxFilesInBand is reached, and what cannot be
        remembered cannot be distinguished from new data"""
    BOUND_WITHOUT_BOOKMARK = """the source {} is bounded and has no bookmark: every run reads the
        same first files"""
    FOLDER_WINS = """{}: the value of the folder replaces that of the file in every row, as in
        Spark; give the folder or the field another name to keep both"""
    COLUMN_MISSING = """the declared column {} is in no file that this run read: it is null in every
        row; compare the names of the table with those in the files"""
    FIELDS_UNDECLARED = """fields of files are in no column, since their table does not declare
        them, {}: declare them, or read the files by their path; on AWS a DynamicFrame, which
        computes its schema from the data, may have them"""
    JDBC_KEY = """the table {} has no primary key without gaps and no jobBookmarkKeys: it is read in
        full by every run; name columns that only ever rise or fall in jobBookmarkKeys"""
    JDBC_QUERY = """the source {} has a sampleQuery or query: job bookmarks leave such a source out,
        and every run reads all of its rows; read a table with jobBookmarkKeys instead"""
    JDBC_ONE_CONNECTION = """{}: AWS reads the table by several connections, the local Glue by one,
        with the same rows; leave it in for AWS"""
    JDBC_NULLS = """no run with bookmarks reads what has no value in the bookmark keys, {}: fill the
        column, or take another key"""
    JDBC_BELOW = """the row at the bookmark is gone, and below it there are others ({}): if the
        table was emptied and loaded again, they are skipped, as on AWS; rename the ctx or reset the
        bookmark to read them; if only that row was deleted, nothing is missing"""
    JDBC_AHEAD = """the bookmark of {}, which is ahead of the clock: no row is read that is not
        later; repair such rows and go back with `tidemark bookmark reset JOB`, or with `tidemark
        rewind` to the run before, or name a key in jobBookmarkKeys that only rises with each row"""
    JDBC_LATE = """{} came below the bookmark after a run had passed there: such a row was committed
        late, or the table was emptied and loaded again; it is skipped, as on AWS, unless it came
        while that run was reading: look for it in the target, and then rename the ctx or reset the
        bookmark, or read rows that commit late with watermarks"""
    FIELD_MISSING = """there is no field {} in the frame, so the step does nothing with it: compare
        its spelling, and put a name with dots into backticks"""
    MAPPING_SOURCE = """a mapping has the source {}, which is not in the frame: its target is left
        out, as on AWS; compare the spelling, and put a name with dots into backticks"""
    MAPPING_PART = """a mapping takes the values of {}: those of other types are null; resolve the
        choice first to keep them"""
    MAPPING_TYPE = """a mapping has another source type than its field: {}; the value is converted
        from its own type, and AWS may leave it out"""
    MAPPING_TARGET = """several mappings have the target {}, or one of them a field inside of it:
        the last one wins, and the values of the others are in no column; give each its own
        target"""
    FIELD_REPLACED = """a field is renamed to {}, which another field is named: that one is in no
        column; drop it before, or give another name"""
    ROW_TAG = """{}, the rowTag: there is no row in it, as on AWS; compare its spelling, its case,
        and the prefix of its namespace"""
    TEXT_BETWEEN_ROWS = """text between the elements with the rowTag is in no row, as on AWS: {};
        take the element around them for the rowTag to read it"""
    NO_COLUMNS = """rows without any column are not written to {}: compare the names in the steps
        before, or in the files that were read"""
    OPTION_IGNORED = "{}: Glue does not know it here and ignores it; compare its spelling"
    SCHEMA_LACKS = """the schema of with_frame_schema lacks fields of the frame, which are in no
        column then: {}; add them to the schema if they are needed"""
    SCHEMA_OF_FILES = """the table {} is read with the columns that it declares; on AWS
        useSparkDataSource has those of the files unless useCatalogSchema is true as well: set
        both"""
    HEADER_IS_A_ROW = """Spark knows no skip.header.line.count: the first line of each file of the
        table {} is a row in spark.sql, as on AWS; read it with from_catalog, or filter that row"""
    RESULTS_NOT_PUBLISHED = """the results of EvaluateDataQuality are not written to {} by the local
        Glue, whose form of that file is AWS's own: write the frame of ruleOutcomes where they are
        to be"""
    JSON_TEXT = """the column {} is declared as a number or boolean and has text in its files:
        spark.sql reads null for such a string here, and the SerDe may convert it on AWS; read the
        table with from_catalog, which makes a choice of it, or declare a string and cast it"""
    JSON_TWICE = """the key {} is several times in one JSON object: the last value counts, the
        others are in no row; give each its own name"""
    JSON_ROUNDED = """the field {} has JSON fractions with more digits than a double holds: they are
        rounded; write them as strings, or read them through a table that declares a decimal"""
    JSON_HALF = """the field {} has half of a surrogate pair, such as \\ud83d alone, not a
        character: it is read as '?'; write the whole pair, or leave it out"""
    JSON_EMPTY = """the field {} has only JSON objects without fields, which make no column: it is
        in no row; take it out, or give it a field"""
    JSON_NULL_RECORD = """{} has null in an array, where a record is expected: it is in no row;
        write an object without fields if it is one"""
    JSON_BEYOND = """the field {} has JSON numbers that no type of Spark holds, beyond a double or
        with more than 38 digits: they are infinite or rounded; write them as strings"""
    XML_ROUNDED = """{} has numbers that a double does not hold: the column is of doubles and loses
        digits; name it as a string in withSchema"""
    DYNAMODB_ROUNDED = """the attribute {} has numbers that no decimal of 38 digits holds together:
        fractions, and longer numbers, are doubles, which lose digits; read them by the export
        connector, where they are strings"""
    JSON_BROKEN = """{}: spark.sql makes a row of nulls of a line that is not a JSON object, without
        an error, and the SerDe may fail on AWS; read the table with from_catalog, which makes an
        error record of it, or repair the file"""
    JSON_VALUE = """{}: such a value is not of the type of its column, and spark.sql reads null, or
        another value, without an error; declare a type that holds it, or read the table with
        from_catalog"""
    WHITE_ROWS = """{} has rows without any value, which spark.sql leaves out because the files end
        their lines in several ways, and from_catalog refuses: end all lines with a line feed"""
    TABLE_NOT_LOOKED_AT = """the files of the table {} could not be looked at for what Spark makes
        null: if they cannot be read, the query says so"""
    JSON_CASE = """one name is spelled {}: spark.sql reads one of these spellings and null for the
        others, where the SerDe takes all on AWS; read the table with from_catalog, which takes all
        too"""
    SERDE_JAR = """on AWS, Spark reads the table {} with its SerDe, whose jar a job needs in
        --extra-jars: s3://crawler-public/json/serde/json-serde.jar"""
    FILTER_LEFT_OUT = """the function of a filter raised {}: such rows are left out, as on AWS, and
        are not counted as errors"""
    NULL_OR_LACKING = """the field {} is or may be null in some records, and others lack it: a
        function of the script gets both as records that lack it, where AWS distinguishes them; ask
        with get(), not by [...]"""
    NO_VALUE = """the source does not show if a field without value is null or missing, first met in
        {}: a function of the script gets such fields as missing, where AWS may give None; ask with
        get(), not by [...]"""
    LOGGED_COLUMNS = """updateBehavior is LOG and the table lacks {}: AWS leaves the new partitions
        out of the Data Catalog then; here they are seen, without these columns"""
    CSV_ORDER = """the table {} are written to it: in CSV a value belongs to the column at its
        place, so that readers of the table mix them up; select the columns in the order of the
        table"""
    DATABASE_MADE = """there was no database {}, and the sink made it: on AWS it has to be there,
        else the run fails with EntityNotFoundException; add it as AWS::Glue::Database to the app"""
    ERROR_RECORDS = """{}: such records are not rows, as on AWS, where errorsCount() has their
        number and errorsAsDynamicFrame() shows them"""
    PACKAGES_IGNORED = """{} of the script has no effect, as on AWS, where Spark runs before the
        script does: name the jars in --extra-jars"""
    PARTITION_KEYS = """the table {} has partition keys and its writer has none: rows are written
        above the partitions, where no reader of the table looks; give partitionKeys in
        additional_options"""
    ICEBERG_SESSION_CATALOG = """the table {} of Iceberg was read by the session's own catalog: on
        AWS it fails unless the job sets spark.sql.catalog.spark_catalog to
        org.apache.iceberg.spark.SparkSessionCatalog; set it, or name the table by its catalog, such
        as glue_catalog.db.table"""
    STORAGE_CLASS = """{} was not moved to another storage class: the lake of this machine has one
        only"""
    TABLE_CHANGED = """the source {} now reads another table under the same transformation_ctx: its
        rows with keys that the bookmark has passed are skipped; rename the ctx or reset the
        bookmark to read them"""


LEAVES_OUT = frozenset(
    (
        *(RunWarning.LEFT_OUT_BEFORE, RunWarning.OLD_FILES, RunWarning.FUTURE_FILES),
        *(RunWarning.MARK_AHEAD, RunWarning.HIDDEN_FILES, RunWarning.BAND_FULL),
        *(RunWarning.JDBC_NULLS, RunWarning.JDBC_BELOW, RunWarning.JDBC_AHEAD),
        *(RunWarning.JDBC_LATE, RunWarning.TABLE_CHANGED, RunWarning.LOST_LINES),
        *(RunWarning.SEVERAL_VALUES, RunWarning.TEXT_BETWEEN_ROWS, RunWarning.ERROR_RECORDS),
        *(RunWarning.FILTER_LEFT_OUT, RunWarning.PARTITION_KEYS, RunWarning.NO_COLUMNS),
    )
)
"""The warnings of what has arrived and is in no row, so that a target lacks it."""


def leaves_out(text: str) -> bool:
    """Return whether the message of a warning says that input is in no row.

    Example:
        >>> leaves_out(RunWarning.OLD_FILES.value.format("s3://landing/late.json"))
        True
    """
    ends = (warning.value.split("{}", 1) for warning in LEAVES_OUT)
    return any(text.startswith(begin) and text.endswith(end) for begin, end in ends)


def note(warning: RunWarning, about: str) -> None:
    """Remember a warning of this job process; outside of a job run nothing is noted."""
    folder = os.environ.get(RUN_FOLDER_VARIABLE)
    if folder:
        append_line(Path(folder) / WARNINGS_FILE, [warning.name, about])
    home, run_id = os.environ.get("TIDEMARK_HOME"), os.environ.get(RUN_ID_VARIABLE)
    if home and run_id:
        with Store(Home(Path(home)).database) as store:
            keep_warnings(store, run_id, [warning.value.format(about)])


def read_warnings(run_folder: Path) -> list[str]:
    """Return the messages of a run's warnings, each once, in order."""
    return [RunWarning[name].value.format(about) for name, about in noted(run_folder)]


def noted(run_folder: Path) -> list[tuple[str, str]]:
    """Return the names of a run's warnings and what each is about, each once, in order."""
    file = run_folder / WARNINGS_FILE
    if not file.exists():
        return []
    warnings: list[tuple[str, str]] = []
    lines = dict.fromkeys(file.read_text(encoding="utf-8", errors="replace").splitlines())
    for line in lines:
        # A run that was killed may leave a part of a line, and a script has files of any name.
        with suppress(TypeError, ValueError, RecursionError):
            name, about = json.loads(line)
            if name in RunWarning.__members__:
                warnings.append((name, about))
    return warnings
