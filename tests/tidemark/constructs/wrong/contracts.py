"""Contracts of datasets that cannot hold, and those that contradict another one."""

import tidemark.constructs as tc


def quarantined(w, name, place, place_has=None, **given):
    """Return data whose rows that do not fit go to a place."""
    aside = w.data(place, schema=place_has)
    policy = tc.SchemaPolicy.discard_row("id BIGINT", quarantine=aside)
    return w.data(name, schema=policy, **given)


def held(w, policy, **given):
    """Declare a job that writes data under a contract."""
    data = w.data("out/", schema=policy, delivered=False)
    return w.job(writes=[data], **{"arguments": {"target": data}, **given})


def read_under(w, writer, reader):
    """Declare a job that writes data, and one that reads it, each under its own contract."""
    out = w.data("out/", schema=writer, delivered=False)
    mine = w.data("out/", schema=reader, delivered=False)
    one = w.job("writer", writes=[out], arguments={"target": out})
    w.job("reader", after=[one], reads=[mine], arguments={"source": mine})


# What is declared, and a part of why it is refused.
WRONG = {
    "columns mode": (
        lambda w: tc.SchemaPolicy(columns="rescu"),
        "SchemaPolicy has columns 'rescu'; allowed: 'evolve', 'freeze', 'discard', 'rescue'",
    ),
    "types mode": (
        lambda w: tc.SchemaPolicy(types="discard"),
        "has types 'discard'; allowed: 'evolve', 'freeze', 'rescue', 'discard_row'",
    ),
    "missing mode": (
        lambda w: tc.SchemaPolicy.freeze("id INT", missing="error"),
        "has missing 'error'; allowed: 'null', 'freeze'",
    ),
    "no quarantine": (
        lambda w: tc.SchemaPolicy(types="discard_row"),
        "of types 'discard_row' has quarantine None; allowed: a Dataset",
    ),
    "quarantine of nothing": (
        lambda w: tc.SchemaPolicy(quarantine=w.data("aside/")),
        "has quarantine 'aside/'; allowed: a Dataset with types=",
    ),
    "quarantine is text": (
        lambda w: tc.SchemaPolicy.discard_row("id INT", quarantine="s3://lake/aside/"),
        "quarantine 's3://lake/aside/'; allowed: a Dataset",
    ),
    "quarantine under a contract": (
        lambda w: quarantined(w, "out/", "aside/", place_has=tc.SchemaPolicy.evolve()),
        "'out/' has quarantine 'aside/' with a table or a contract, and nothing in it",
    ),
    "temporary files under a contract": (
        lambda w: w.job(temp=w.data("temp/", schema=tc.SchemaPolicy.evolve())),
        "job 'one' has temp 'temp/' with a table or a contract, and nothing in it is rows",
    ),
    "rescued name": (lambda w: tc.SchemaPolicy(rescued=""), "has rescued ''; allowed: lower case"),
    "type of Spark": (
        lambda w: tc.SchemaPolicy("id LONG"),
        "has the column 'id LONG': 'long' is not a type of Hive; allowed: each name once",
    ),
    "type of nothing": (
        lambda w: tc.SchemaPolicy("id"),
        "has the column 'id': it is not a name and a type",
    ),
    "column twice": (
        lambda w: tc.SchemaPolicy("id INT, ID INT"),
        "has the column 'ID INT': it is not a",
    ),
    "column of the contract": (
        lambda w: tc.SchemaPolicy("_rescued_data STRING"),
        "letters, digits and _, not _rescued_data",
    ),
    "not null": (lambda w: tc.SchemaPolicy("id INT NOT NULL"), "'not null' stands after int"),
    "quarantine in its data": (
        lambda w: quarantined(w, "out/", "out/aside/"),
        "'out/' has the quarantine 'out/aside/', which is one within the other with 'out/'",
    ),
    "quarantine around its data": (
        lambda w: quarantined(w, "all/out/", "all/"),
        "has the quarantine 'all/', which is one within the other with 'all/out/'",
    ),
    "quarantine in an input": (
        lambda w: w.job(
            reads=[w.data("in/")],
            writes=[out := quarantined(w, "out/", "in/aside/")],
            arguments={"target": out},
        ),
        "job 'one' has the quarantine 'in/aside/', which is one within the other with 'in/'",
    ),
    "one quarantine for two": (
        lambda w: w.job(
            writes=[
                one := quarantined(w, "out/", "aside/"),
                other := quarantined(w, "more/", "aside/more/"),
            ],
            arguments={"one": one, "other": other},
        ),
        "has the quarantine 'aside/', which is one within the other with 'aside/more/'",
    ),
    "no argument": (
        lambda w: held(w, tc.SchemaPolicy.evolve("id INT"), arguments={}),
        "job 'one' holds the dataset 'out/' to a contract, and no argument tells its script",
    ),
    "no argument of delivered data": (
        lambda w: w.job(reads=[w.data(schema=tc.SchemaPolicy.evolve())]),
        "job 'one' holds the dataset 'in/' to a contract, and no argument",
    ),
    "no Spark": (
        lambda w: w.shell(
            writes=[out := w.data("out/", schema=tc.SchemaPolicy.evolve())],
            arguments={"target": out},
        ),
        "job 'one' holds the dataset 'out/' to a contract, and it has no Spark",
    ),
    "too long": (
        lambda w: held(
            w, tc.SchemaPolicy.evolve(", ".join(f"column{n} STRING" for n in range(9_000)))
        ),
        "bytes; allowed: up to 131071 bytes",
    ),
    "table with other columns": (
        lambda w: w.data(table=w.table(), schema=tc.SchemaPolicy.evolve("id INT")),
        "table 't' has columns {'id': 'bigint'}; allowed: those of schema= of its dataset",
    ),
    "table with a key of another type": (
        lambda w: w.data(
            table=w.table(columns=[], partition_keys=[tc.Column("day", "string")]),
            schema=tc.SchemaPolicy.evolve("id INT, day DATE"),
        ),
        "'day': 'string'}; allowed: those of schema= of its dataset, {'id'",
    ),
    "contracts that differ": (
        lambda w: w.job(
            writes=[w.data("out/", schema=tc.SchemaPolicy.evolve("id INT"))],
            arguments={"target": w.data("out/", schema=tc.SchemaPolicy.freeze("id INT"))},
        ),
        "differs from the one that it reads or writes there in schema",
    ),
}
VALID = {
    "one contract for both": lambda w: read_under(
        w, tc.SchemaPolicy.rescue("id INT"), tc.SchemaPolicy.rescue("id INT")
    ),
    "a reader that evolves": lambda w: read_under(
        w, tc.SchemaPolicy.evolve("id INT"), tc.SchemaPolicy.evolve("id BIGINT")
    ),
    "a quarantine that is read": lambda w: w.job(
        "fix",
        reads=[w.data("aside/")],
        after=[w.job(writes=[out := quarantined(w, "out/", "aside/")], arguments={"target": out})],
    ),
    "quarantines in two buckets": lambda w: w.data(
        "aside/", schema=tc.SchemaPolicy.discard_row(quarantine=tc.Dataset(w.bucket(), "aside/"))
    ),
}
REFUSED_AT_SYNTHESIS = {
    "a reader that freezes": (
        lambda w: read_under(w, tc.SchemaPolicy.evolve("id INT"), tc.SchemaPolicy.freeze("id INT")),
        "contract-refuses",
    ),
    "a quarantine below what another job reads": (
        lambda w: (
            w.job(writes=[out := quarantined(w, "out/", "lake/aside/")], arguments={"target": out}),
            w.job("two", reads=[w.data("lake/")]),
        ),
        "quarantine-as-data",
    ),
}
