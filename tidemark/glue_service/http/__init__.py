"""The HTTP side of the port: server, routing by service, own and forwarded services."""
