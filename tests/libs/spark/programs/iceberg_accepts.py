# Columns of a table of Iceberg that are refused and accepted. Prints what it has seen as JSON.
facts = {}
frozen = Contract(columns="freeze", types="freeze")
spark.sql("CREATE TABLE s.own (id INT, amt INT) USING iceberg")
facts["first"] = load(1, "1 id, 10 amt", "s.own", frozen)
facts["refused"] = load(2, "2 id, 20000000000 amt, 0.5D tip", "s.own", frozen)
facts["accepted"] = accept()
facts["types refused"] = load(3, "2 id, 20000000000 amt, 0.5D tip", "s.own", frozen, 2)
facts["types accepted"] = accept()
facts["loaded"] = load(4, "2 id, 20000000000 amt, 0.5D tip", "s.own", frozen, 2)
facts["own"] = state("s.own")
facts["not of a table"] = load(5, "5 id, 1.5D amt, 1D tip", "s.own", frozen)
facts["not accepted"] = accept()
spark.sql("ALTER TABLE s.own DROP COLUMN tip")
spark.sql("ALTER TABLE s.own ADD COLUMN by_hand STRING")
facts["by hand"] = load(6, "5 id, 50 amt, 'x' by_hand", "s.own", frozen, 5)
facts["own after"] = state("s.own")


spark.sql("CREATE TABLE s.deep (id INT, a STRUCT<x: INT>, l ARRAY<STRUCT<y: INT>>) USING iceberg")
deep = "named_struct('x', 1, 'z', 'z') a, array(named_struct('y', 20000000000, 'w', true)) l"
first = "1 id, named_struct('x', 1) a, array(named_struct('y', 1)) l"
added = Contract(columns="freeze")
facts["deep"] = [load(1, first, "s.deep", added, source="deep")]
facts["deep refused"] = load(2, f"2 id, {deep}", "s.deep", added, source="deep")
facts["deep"] += [accept("deep"), load(3, f"2 id, {deep}", "s.deep", added, 2, source="deep")]
facts["deep type"] = spark.table("s.deep").schema.simpleString()
print(json.dumps(facts))
