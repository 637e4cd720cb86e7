"""Finds secrets that would be visible to everybody: in templates, in the console, in every job run.

Pure, on names and strings. A secret that is found is never repeated: the error would spread it.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from tidemark.errors import JobDefinitionError
from tidemark.model.checked import checked

# Words of a name that say that its value is a secret, unless the name ends in a word for open
# values.
SECRET_WORDS = {"password", "passwd", "pwd", "passphrase", "secret", "token", "credential"}
SECRET_WORDS |= {"credentials", "apikey", "privatekey", "accesskey", "secretkey", "passwort"}
SECRET_WORDS |= {"pw", "pswd", "bearer"}
SECRET_PAIRS = {("api", "key"), ("private", "key"), ("access", "key")}
SECRET_PAIRS |= {("secret", "key"), ("encryption", "key"), ("sas", "key"), ("pass", "phrase")}
SECRET_PAIRS |= {("signing", "key"), ("auth", "key")}
WHOSE = ("db", "user", "jdbc", "pg", "sql", "mysql", "oracle", "redshift", "smtp", "ftp", "sftp")
SECRET_PAIRS |= {(whose, "pass") for whose in (*WHOSE, "ldap", "proxy", "admin", "root")}
SECRET_ENDS = ("password", "passwords", "passwd", "passwort")  # also of a word: dbpassword
OPEN_ENDS = {"id", "ids", "name", "names", "arn", "arns", "path", "paths", "file", "uri", "url"}
OPEN_ENDS |= {"column", "columns", "field", "fields", "type", "ttl", "length", "alias", "endpoint"}
OPEN_ENDS |= {"policy", "format", "version", "stage", "region", "provider", "manager", "source"}
OPEN_ENDS |= {"store", "table", "separator", "delimiter", "pattern", "regex", "encoding", "prefix"}
OPEN_ENDS |= {"algorithm", "method", "mode", "rotation", "count", "limit", "size", "min", "max"}
OPEN_ENDS |= {"expiry", "days", "hours", "minutes", "seconds", "at"}
PLACES = ("arn:", "s3://", "s3a://", "${Token[")  # and what only a deployment knows
NO_SECRETS = {"", "true", "false", "yes", "no", "none", "null", "on", "off"}
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

_HELD = r"secret(?![\w.]*(?:name|id|arn|path|column|version|region)\b)[\w.]*"
_KEY = (
    r"[\w.\-]{0,64}(?:password|passwd|pwd|passphrase|"
    rf"{_HELD}|api_?key|account_?key|access_?key|private_?key\w*|token)"
)
IN_A_VALUE = re.compile(
    "|".join(
        (
            # user:password@host, also of a second host; a port before a path, a host or the end of
            # an address is not a user
            r"://(?:[\w.-]+:\d+,)*[^/?#@\s:]*:(?!\d*[/?#]|\d+[,;\"'\])}])[^\s@]+@",
            # Oracle's user/password@host
            r"jdbc:oracle:\w+:[^/@\s]+/[^@\s]+@",
            # a parameter of an address, or of a connection string: &password=, ;pwd=, (password=
            # but a comparison of SQL or Python is not an assignment
            rf"(?:^|[?&;:,(\s]){_KEY}\s*=(?!=|\s+\w+\.\w|\s*\?(?:\s|$))\s*[^\s;&,)]",
            rf"[\"']{_KEY}[\"']\s*:\s*[\"'][^\"']",  # the same in JSON
            r"[?&]sig=[^\s&]",  # what signs an address of Azure
            # what others issue: Slack, GitHub, a JSON web token, GitLab, Google, SendGrid
            r"hooks\.slack\.com/services/\w|\bxox[abprs]-\w",
            r"\bgh[opsru]_\w{30}|\bgithub_pat_\w{20}",
            r"\beyJ[\w-]+\.eyJ[\w-]+\.",
            r"\b[rs]k_live_[0-9a-z]|\bwhsec_[0-9a-z/+]{20}",  # Stripe
            # npm, Vault, Databricks, PyPI, Slack's apps, keys of models, AWS
            r"\bnpm_\w{36}|\bhvs\.[\w-]{20}|\bdapi[0-9a-f]{32}|\bpypi-AgEI|\bxapp-\d-",
            r"\bsk-(?:proj|ant|svcacct)-[\w-]{20}",
            r"\bA[KS]IA[0-9A-Z]{16}\W{1,3}[0-9A-Z/+]{40}",
            r"[?&]X-Amz-Signature=[0-9a-f]",
            # a header that logs in
            r"\b(?:basic|bearer)\s+(?=[\w+/.-]*[\d=])[\w+/.=-]{16}",
            # an option of a program, and a parameter of a driver
            rf"(?:^|\s)--?{_KEY}\s+[^\s-]|\bjdbc:\S{{0,500}}[?&;]pass=[^\s;&]",
            r"\bglpat-[\w-]{20}|\bAIza[\w-]{35}|\bSG\.[\w-]{20,}\.[\w-]{20}",
            r"-----BEGIN [A-Z ]*PRIVATE KEY",
            # CloudFormation would put the secret itself here
            r"\{\{resolve:(?:secretsmanager|ssm-secure):",
        )
    ),
    re.IGNORECASE,
)
ADVICE = (
    "the template and every job run would show it; put it into Secrets Manager, name it in "
    "secrets=, and pass the name, as jdbc_secret_id"
)


@checked
@dataclass(frozen=True)
class NotSecret:
    """A string that looks like a secret but is not one.

    Attributes:
        text: the string.
        reason: why it may be visible.

    Example:
        >>> NotSecret("password_resets", "the name of a table").text
        'password_resets'
    """

    text: str
    reason: str


def shows_secret(name: str, text: str) -> bool:
    """Return whether a string or its name looks like a secret."""
    if IN_A_VALUE.search(text) or any(shows_secret(*item) for item in _members(text)):
        return True
    is_open = text.strip().lower() in NO_SECRETS or text.startswith(PLACES)
    return is_secret_name(name) and not is_open


def is_secret_name(name: str) -> bool:
    """Return whether a name suggests that its value is a secret, not the location of one."""
    words = [word.lower() for word in WORD.findall(name)]
    if not words or words[-1] in OPEN_ENDS:
        return False
    return (
        words == ["pass"]
        or not SECRET_WORDS.isdisjoint(words)
        or any(word.endswith(SECRET_ENDS) for word in words)
        or any(pair in SECRET_PAIRS for pair in pairwise(words))
    )


def _members(text: str) -> Iterator[tuple[str, str]]:
    """Yield the strings in a JSON object or list, each with its name."""
    if not text.lstrip().startswith(("{", "[")):
        return
    try:
        inside = json.loads(text)
    except (ValueError, RecursionError):
        return
    waiting: list[tuple[str, object]] = [("", inside)]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, dict):
            waiting += value.items()
            named = {str(key).lower(): item for key, item in value.items()}
            waiting += [(str(named.get("name", named.get("key"))), named.get("value"))]
        elif isinstance(value, list):
            waiting += [(name, item) for item in value]
        elif isinstance(value, str):
            yield name, value


def check_open_strings(where: str, texts: Mapping[str, object]) -> dict[str, object]:
    """Return strings by name, each `NotSecret` replaced by its string."""
    for name, text in texts.items():
        if isinstance(text, NotSecret):
            given: dict[str, object] = {"text": text.text, "reason": text.reason}
            for key, value in given.items():
                if not isinstance(value, str) or (key == "reason" and not value.strip()):
                    raise JobDefinitionError(
                        f"{where} {name!r} as a NotSecret with the {key} {value!r}; allowed: a "
                        'string; write NotSecret("...", reason="why anybody may see it")'
                    )
        elif isinstance(text, str) and shows_secret(str(name), text):
            raise JobDefinitionError(
                f"{where} {name!r} with a value that looks like a secret; {ADVICE}; if it is not "
                'one, write NotSecret("...", reason="...")'
            )
    return {n: text.text if isinstance(text, NotSecret) else text for n, text in texts.items()}


def reasons(texts: Mapping[str, object]) -> dict[str, str]:
    """Return the reason of each string that is declared not to be a secret, by name."""
    return {name: text.reason for name, text in texts.items() if isinstance(text, NotSecret)}
