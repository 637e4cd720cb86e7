"""What DynamicFrames do beyond the DataFrames they hold."""
