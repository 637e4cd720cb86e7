"""The HTTP side of the port: server, routing by service, what is served and what is forwarded."""
