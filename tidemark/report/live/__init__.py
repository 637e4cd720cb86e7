"""The live page: what `tidemark serve --port` shows a browser, as it changes."""
