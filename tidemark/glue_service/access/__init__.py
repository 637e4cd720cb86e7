"""Access to the port: signatures, the secret of the home, web pages, users of the machine."""
