"""The part of AWS's awsglue that runs here: names, signatures and differences, as plain data."""
