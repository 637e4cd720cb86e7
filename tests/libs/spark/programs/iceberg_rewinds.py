# Rewinds across columns that were accepted or have evolved. Prints what it has seen as JSON.
facts = {}
given = Contract("id INT, amt INT", columns="freeze", types="freeze")
spark.sql("CREATE TABLE s.given (id INT, amt INT) USING iceberg")
steps = [load(1, "1 id, 1 amt", "s.given", given, source="g", keys=["id"])]
for run in (2, 4):
    steps += [load(run, "2 id, 2 amt, 'a' w", "s.given", given, 2, source="g", keys=["id"])]
    steps += [accept("g")]
    steps += [load(run + 1, "2 id, 2 amt, 'a' w", "s.given", given, 2, source="g", keys=["id"])]
    facts["once" if run == 2 else "again"] = state("s.given", "g")
    steps += [watermarks.rewind(job, to_run="jr_1", source="g", **why).version]
facts["merged"] = [step if isinstance(step, int) else step.partition(":")[0] for step in steps]

wide = Contract("id INT, amt INT")
spark.sql("CREATE TABLE s.wide (id INT, amt INT) USING iceberg")
again = []
for repeat in (1, 2):
    again += [load(10 * repeat, "1 id, 1 amt", "s.wide", wide, 1, source="w")]
    again += [load(10 * repeat + 1, "2 id, 20000000000 amt", "s.wide", wide, 2, source="w")]
    facts[f"wide {repeat}"] = state("s.wide", "w")
    watermarks.rewind(job, to_run=None, source="w", reason=f"again {repeat}", actor="ana")
facts["appended"] = again

spark.sql("CREATE TABLE s.types (id INT, amt INT) USING iceberg")
steps = []
for repeat in (3, 4):
    steps += [load(10 * repeat, "1 id, 1 amt", "s.types", given, 1, source="t")]
    steps += [load(10 * repeat + 1, "2 id, 20000000000 amt", "s.types", given, 2, source="t")]
    steps += [accept("t")]
    steps += [load(10 * repeat + 2, "2 id, 20000000000 amt", "s.types", given, 2, source="t")]
    facts[f"types {repeat}"] = state("s.types", "t")
    watermarks.rewind(job, to_run=None, source="t", reason=f"again {repeat}", actor="ana")
facts["typed"] = [step if isinstance(step, int) else step.partition(":")[0] for step in steps]
print(json.dumps(facts))
