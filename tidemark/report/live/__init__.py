"""The live page: what `tidemark local up --port` shows a browser, as it changes."""
