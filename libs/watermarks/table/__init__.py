"""The table: its rows, the values in them, and the requests. Nothing else knows a row."""
