"""Job bookmarks: what is new to a job, and the versions of what it has read.

`files` and `keys` decide on plain data, `listing` walks folders, `versions` keeps the state in
SQLite, `session` is what a job process holds between Job.init and Job.commit, `api` speaks the
requests of AWS, and `explain` tells why a file is or was read or skipped.
"""
