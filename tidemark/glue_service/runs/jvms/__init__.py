"""Keeps JVMs with Spark for the next job runs: starting one costs more than most jobs do.

A `pool` owns JVMs (`jvm`), lends each to one job run at a time (`server`, `borrow`), and makes it
as new afterwards (`control`); one that cannot be made as new is ended. A run that wants what only
a JVM of its own has starts one (`fitness`). AWS keeps warm pools for the same reason.
"""
