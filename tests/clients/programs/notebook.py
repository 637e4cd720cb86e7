"""Executes notebooks by AWS's kernel: gets lists of cells, prints what each cell shows, as JSON."""

import json
import sys

from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook


def shown(outputs):
    """Return the text of the outputs of a cell; a picture is the name of its type."""
    texts = []
    for output in outputs:
        data = output.get("data", {})
        texts.append(output.get("text", "") or data.get("text/plain", "") or " ".join(data))
    return "".join(texts)


results = []
for cells in json.load(sys.stdin):
    notebook = new_notebook(cells=[new_code_cell(cell) for cell in cells])
    options = {"timeout": 300, "kernel_name": "tidemark_glue", "allow_errors": True}
    NotebookClient(notebook, **options).execute()
    results.append([shown(cell.outputs) for cell in notebook.cells])
json.dump(results, sys.stdout)
