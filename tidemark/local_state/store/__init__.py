"""The state database of a home: schema, access, backups."""
