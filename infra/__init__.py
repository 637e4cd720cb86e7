"""What is deployed: the constructs, one file each, and the two stacks of a stage built from them.

`StorageStack` keeps what must survive (the watermark table, the buckets, the database);
`FlightsStack` declares the sample pipeline, one `Pipeline.add_job` per Glue job. Constructs take
typed arguments and never read context or environment: `app.py` does, through `StageConfig`.
The template these modules synthesize is the only definition of a pipeline.
"""
