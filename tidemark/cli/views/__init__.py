"""What commands print: data to tables, lines and JSON."""
