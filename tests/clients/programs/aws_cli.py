"""Runs commands of the AWS CLI, one after the other, in one process: it takes a second to start.

Reads a JSON list of lists of words, and prints for each its code, output and errors as JSON.
"""

import contextlib
import io
import json
import sys

from awscli.clidriver import CLIDriver, create_clidriver


class Output(io.TextIOWrapper):
    """A standard stream that keeps what is written, as text or as bytes."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", write_through=True)

    def text(self) -> str:
        """Return what was written."""
        return self.buffer.getvalue().decode()


def run(driver: CLIDriver, words: list[str]) -> dict[str, object]:
    """Run one command."""
    output, errors = Output(), Output()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        code = driver.main(words)
    return {"code": code, "output": output.text(), "errors": errors.text()}


if __name__ == "__main__":
    shared = create_clidriver()
    sys.stdout.write(json.dumps([run(shared, words) for words in json.loads(sys.stdin.read())]))
