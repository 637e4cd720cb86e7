"""What of AWS's awsglue runs here: its names and signatures, and what differs, as plain data."""
