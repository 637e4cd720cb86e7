"""Answers browsers, by WSGI: pages, what has changed on them, and what buttons ask for."""

import gzip
import hashlib
import hmac
import http.client
import json
import secrets
import urllib.parse
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from tidemark.errors import EntityNotFoundError, TidemarkError
from tidemark.glue_service.http.pages import PREFIX, ROOT, Start
from tidemark.report.live.view import View
from tidemark.report.page import FOLDER, shell
from tidemark.report.words import short

GIVEN = "HTTP_X_TIDEMARK_TOKEN"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HTML, PLAIN = "text/html; charset=utf-8", "text/plain; charset=utf-8"
JSON = "application/json"
NOT_THE_PAGE = "open the address that `tidemark serve` has printed"
Answer: TypeAlias = Callable[..., Iterable[bytes]]
"""Answers with a status, a kind of content and a body."""
Act: TypeAlias = Callable[[str, str], str]
"""Starts, resumes or stops what is named; returns what to say about it."""
FILES = {  # that pages load, with their kind
    "live.js": (Path(__file__).with_name("live.js"), "text/javascript; charset=utf-8"),
    "page.css": (FOLDER / "page.css", "text/css; charset=utf-8"),
}
SUBJECTS = ("job", "run", "machine")
TITLES = {"runs": "Runs"}  # of pages without a subject, by their paths
SECTIONS = tuple((name, f"#{name.lower()}") for name in ("Jobs", "Freshness", "Graph"))
STATE = "X-Tidemark-State"


class LivePages:
    """The pages of one port."""

    def __init__(self, view: View, act: Act, where: str) -> None:
        """Show a view of the home ``where``; buttons call ``act`` with a verb and a name.

        The paths of the pages begin with the view's base. If that is a secret, only its first page
        shows anything.
        """
        self._view, self._act, self._where = view, act, where
        self._base = view.base
        self.home = ROOT if self._base == PREFIX else self._base
        self._token = secrets.token_urlsafe(32)
        self._served = secrets.token_urlsafe(8)  # an open page sees that another process serves

    def __call__(self, environ: Mapping[str, Any], start_response: Start) -> Iterable[bytes]:
        """Answer one request."""
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        path = path.encode("latin-1").decode("utf-8", "replace")
        answer = partial(
            _answer, start_response, zips="gzip" in environ.get("HTTP_ACCEPT_ENCODING", "")
        )
        if path != self.home and not path.startswith(self._base):
            return answer(403, PLAIN, NOT_THE_PAGE)
        try:
            if method == "POST":
                return self._post(environ, answer, path)
            if method not in ("GET", "HEAD"):
                return answer(405, PLAIN, "pages are read or posted to")
            body = self._get(environ, answer, path)
            return body if method == "GET" else []
        except EntityNotFoundError as error:
            return answer(404, PLAIN, str(error))
        except TidemarkError as error:
            return answer(500, PLAIN, str(error))

    def _get(self, environ: Mapping[str, Any], answer: Answer, path: str) -> Iterable[bytes]:
        name = path.removeprefix(self._base)
        asked = _asked(environ)
        if name in FILES:
            file, kind = FILES[name]
            return answer(200, kind, file.read_bytes())
        if name == "alive":
            state = _tag(self._view.state(asked.get("kind", ""), asked["name"]))
            return answer(200, JSON, json.dumps({"served": self._served, "state": state}))
        if name == "content":
            body = self._view.content(asked.get("kind", ""), asked)
            return answer(200, HTML, body.text, (STATE, _tag(body.state)))
        if path == self.home or name in TITLES or (name in SUBJECTS and asked["name"]):
            kind = "" if path == self.home else name
            return answer(200, HTML, self._page(kind, asked))
        raise EntityNotFoundError(f"there is no page {path!r} here; / is the first one")

    def _page(self, kind: str, asked: Mapping[str, str]) -> str:
        body = self._view.content(kind, asked)
        others = [(title, f"{self._base}{of}") for of, title in TITLES.items()]
        return shell(
            _title(kind, asked["name"]),
            body.text,
            where=self._where,
            links=[("Overview", self.home), *others, *(SECTIONS if not kind else ())],
            live={
                "base": self._base,
                "home": self.home,
                "served": self._served,
                "state": _tag(body.state),
                "subject": urllib.parse.urlencode({"kind": kind, **asked}),
                "token": self._token,
            },
        )

    def _post(self, environ: Mapping[str, Any], answer: Answer, path: str) -> Iterable[bytes]:
        token = environ.get(GIVEN, "").encode("utf-8", "replace")
        # A page of another origin can post here, and cannot know the token.
        if not hmac.compare_digest(token, self._token.encode()):
            return answer(403, PLAIN, "only a page of this port may ask for this: load it")
        said = self._act(path.removeprefix(self._base), _asked(environ)["name"])
        return answer(200, PLAIN, said)


def _asked(environ: Mapping[str, Any]) -> dict[str, str]:
    # A name is in the query: a browser takes `..` out of a path, and would ask for something else.
    query = urllib.parse.parse_qs(str(environ.get("QUERY_STRING", "")))
    return {"name": "", **{name: values[0] for name, values in query.items()}}


def _title(kind: str, name: str) -> str:
    if kind == "run":
        return f"Run {short(name)}"  # the whole id is 67 letters wide
    return name or TITLES.get(kind, "Overview")


def _tag(state: object) -> str:
    return hashlib.sha256(repr(state).encode()).hexdigest()[:16]


def _answer(
    start: Start, status: int, kind: str, body: str | bytes, *more: tuple[str, str], zips: bool
) -> Iterable[bytes]:
    content = body if isinstance(body, bytes) else body.encode("utf-8", "backslashreplace")
    if zips:
        content = gzip.compress(content, compresslevel=3)
        more = (*more, ("Content-Encoding", "gzip"))
    headers = [
        ("Content-Type", kind),
        ("Content-Length", str(len(content))),
        ("Content-Security-Policy", POLICY),
        ("X-Content-Type-Options", "nosniff"),
        ("Cross-Origin-Opener-Policy", "same-origin"),  # a page that links here has no window
        ("Referrer-Policy", "no-referrer"),
        ("Cache-Control", "no-store"),
        *more,
    ]
    start(f"{status} {http.client.responses[status]}", headers)
    return [content]
