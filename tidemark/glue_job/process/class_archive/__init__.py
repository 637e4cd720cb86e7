"""Keeps Spark's classes in an archive that a JVM maps instead of loading: half of a job's start.

Class data sharing is the JVM's own feature:
https://docs.oracle.com/en/java/javase/17/vm/class-data-sharing.html. A JVM ignores an archive that
does not fit its build or its class path, and starts without it.
"""
