"""The process of a Glue session: a script that runs the statements of a client, one by one."""
