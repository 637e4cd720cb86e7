"""The stacks of this project.

`StorageStack` keeps what must survive (the key, the watermark table, the buckets, the database);
`FlightsStack` declares the sample pipeline, one `Pipeline.add_job` per Glue job; `GithubStack`, if
a stage asks for it, lets GitHub Actions deploy.
"""
