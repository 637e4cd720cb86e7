"""The secrets that a job reads, by its script and its connections: pure."""

import ast
import re
from collections.abc import Iterator, Mapping

from tidemark.adopt.model import AdoptedJob, Existing, Guess
from tidemark.checks.script.reaching import Places
from tidemark.checks.script.values import Enclosing, ScriptValues, with_arguments
from tidemark.model.programs import readable_program

# As the constructs check them, which start Node when they are imported: a test compares.
SECRET = re.compile(
    r"[\w/+=.@-]{1,512}|"
    r"arn:aws[\w-]*:secretsmanager:[a-z0-9-]+:\d{12}:secret:[\w/+=.@-]{1,512}-[A-Za-z0-9]{6}",
    re.ASCII,
)
# Of boto3's GetSecretValue, and of the options of Glue's own connections.
KEYS = ("SecretId", "secretId")


def secrets_of(job: AdoptedJob, existing: Existing) -> tuple[tuple[str, ...], list[Guess]]:
    """Return the secrets that the script and the connections of a job name, and what is guessed."""
    of = f"job {job.old}"
    in_script = _in_script(existing.scripts.get(job.old, ""), job.arguments)
    sources = [(f"its script reads the secret {secret}", secret) for secret in in_script]
    for name in job.connections:
        properties = existing.connections.get(name, {})
        if keys := [key for key in ("SECRET_ID", "SecretArn") if properties.get(key)]:
            secret = str(properties[keys[0]])
            sources.append((f"its connection {name} has the secret {secret}", secret))
    names = dict.fromkeys(secret for _, secret in sources if SECRET.fullmatch(secret))
    known = "see that it reads no other; secrets= has it"
    unknown = "declare it in secrets=, by its name or its whole ARN"
    guesses = [Guess(of, what, known if secret in names else unknown) for what, secret in sources]
    return tuple(names), list(dict.fromkeys(guesses))


def _in_script(text: str, arguments: Mapping[str, str]) -> Iterator[str]:
    """Yield the secrets that a script names, literally or by an argument of the job."""
    tree = readable_program(text)
    script, places = ScriptValues(tree), Places(tree)
    passed = {f"--{name}": value for name, value in arguments.items()}
    names: dict[str, None] = {}
    for value in (value for node in ast.walk(tree) for value in _values(node)):
        function = places.function_of(value)
        inside = Enclosing((function,) if function else ())
        name = with_arguments(str(script.read(value, inside, {})), passed)
        # What only a run knows stands in marks: the name of no secret has any of them.
        names |= {name: None} if name and not set("<{") & set(name) else {}
    yield from names


def _values(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the expressions for the id of a secret in a call or a dict."""
    if isinstance(node, ast.keyword) and node.arg in KEYS:
        yield node.value
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and key.value in KEYS:
                yield value
