"""Keeps JVMs with Spark for the next job runs: starting one costs more than most jobs do.

A `pool` owns JVMs (`jvm`), lends each to one job run at a time (`server`, `borrow`), and resets
it afterwards (`control`); a JVM that cannot be reset is ended. A run with special needs
starts its own JVM (`fitness`). AWS keeps warm pools for the same reason.
"""
