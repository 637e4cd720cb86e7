"""Job bookmarks: the new data for a job, and the versions of its position.

`files` and `keys` decide on plain data, `listing` walks folders, `versions` keeps the state in
SQLite, `session` is the state of a job process between Job.init and Job.commit, `api` speaks the
requests of AWS, and `explain` says why a file is or was read or skipped.
"""
