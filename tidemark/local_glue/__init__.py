"""Glue on this machine: runs the pipeline that a CDK cloud assembly defines.

The engine is made of pure decisions (`bookmarks`, `triggers`, `arguments`, `intrinsics`) on the
frozen dataclasses of `definitions`, one store (`store`, SQLite) and thin edges that start processes
(`job_runs`, `dynamodb`), read files (`assembly`, `listing`, `metrics`) or both (`workflow`).
`site/` holds the `awsglue` package that a job process imports. Nothing here is ever shipped to AWS.
"""
