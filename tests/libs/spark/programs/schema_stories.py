# Random increments under a declared contract, merged into a table of Iceberg: a job that is rewound
# in between, and one that loads once. Arguments: the seeds. Prints the results that differ.
import random

VALUES = {
    "INT": "7",
    "BIGINT": "70000000000",
    "DECIMAL(10, 2)": "1.25",
    "DECIMAL(14, 2)": "2.25",
    "STRING": "'x'",
    "STRUCT<n: INT>": "named_struct('n', 1)",
    "STRUCT<n: BIGINT, m: STRING>": "named_struct('n', 70000000000, 'm', 'y')",
}
rescuing = {"columns": "rescue", "types": "rescue"}


def load_all(numbers, increments, modes, own, table):
    """Load increments, each in a run of its own; what is refused is accepted, or else rescued."""
    global job
    job, runs = own, {}
    for number in numbers:
        named = [f"CAST({VALUES[kind]} AS {kind}) {name}" for name, kind in increments[number].items()]
        columns = ", ".join([f"{number} id", *named])
        for attempt in (modes, modes, rescuing, None):
            runs[number] = f"{number}_{random.getrandbits(60)}"
            contract = Contract("id INT, a INT", **(attempt or {}))
            result = load(runs[number], columns, table, contract, number, keys=["id"])
            if isinstance(result, int):
                break
            accept()
        assert attempt is not None, result
    return runs


def result(own, table):
    """Return rows without columns of nulls, and the columns that are held."""
    global job
    job = own
    rows = sorted(spark.table(table).toJSON().collect())
    held = watermarks.latest(own).schemas.get(f"table:{table}")
    return [rows, held and list(held.columns.items())]


differ = []
for seed in given:
    random.seed(seed)
    kinds = sorted(VALUES)
    increments = {
        number: {name: random.choice(kinds) for name in random.sample("abc", random.randint(0, 2))}
        for number in (1, 2, 3)
    }
    modes = {
        "columns": random.choice(["evolve", "freeze", "rescue"]),
        "types": random.choice(["evolve", "freeze", "rescue"]),
    }
    until, back_to = random.choice([(2, 0), (2, 1), (3, 0), (3, 1), (3, 2)])
    for name in ("rewound", "once"):
        spark.sql(f"CREATE TABLE s.{name}_{seed} (id INT, a INT) USING iceberg")
    rewound = f"{given}-{seed}-rewound-{random.SystemRandom().getrandbits(60)}"
    once = rewound.replace("rewound", "once")
    runs = load_all(range(1, until + 1), increments, modes, rewound, f"s.rewound_{seed}")
    watermarks.rewind(rewound, to_run=f"jr_{runs[back_to]}" if back_to else None, **why)
    load_all(range(back_to + 1, 4), increments, modes, rewound, f"s.rewound_{seed}")
    load_all((1, 2, 3), increments, modes, once, f"s.once_{seed}")
    both = [result(rewound, f"s.rewound_{seed}"), result(once, f"s.once_{seed}")]
    if both[0] != both[1]:
        differ.append([seed, increments, modes, until, back_to, both])
print(json.dumps(differ))
