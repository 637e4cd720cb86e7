"""What a pipeline is and how its runs went, as plain data and as one page of HTML."""
