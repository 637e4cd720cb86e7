"""A Glue job: its definition, role, permissions, arguments and logs."""
