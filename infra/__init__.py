"""What is deployed: the constructs, one file each, and the stacks of a stage built from them.

`StorageStack` keeps what must survive (the key, the watermark table, the buckets, the database);
`FlightsStack` declares the sample pipeline, one `Pipeline.add_job` per Glue job; `GithubStack`, if
a stage asks for it, lets GitHub Actions deploy. `graph` proves what triggers do, on plain data,
and `validation` runs it at every synthesis. Constructs take typed arguments and never read context
or environment: `app.py` does, through `StageConfig`. The template these modules synthesize is the
only definition of a pipeline.
"""
