"""What is found by reading scripts and templates; nothing here runs them."""
