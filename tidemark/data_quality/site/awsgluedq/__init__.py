"""AWS's package of data quality transforms."""
