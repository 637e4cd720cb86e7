"""Answers browsers, by WSGI: pages, what has changed on them, and what buttons ask for."""

import hashlib
import hmac
import http.client
import json
import secrets
import urllib.parse
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from tidemark.errors import EntityNotFoundError, TidemarkError
from tidemark.glue_service.http.pages import PREFIX, ROOT, Start
from tidemark.report.live.view import View
from tidemark.report.page import environment, style

GIVEN = "HTTP_X_TIDEMARK_TOKEN"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; connect-src 'self'; "
    "img-src 'self' data:; form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
)
HTML, PLAIN = "text/html; charset=utf-8", "text/plain; charset=utf-8"
SCRIPT, JSON = "text/javascript; charset=utf-8", "application/json"
NOT_THE_PAGE = "open the address that `tidemark local up` has printed"
Act: TypeAlias = Callable[[str, str], str]
"""Starts, resumes or stops what is named; returns what to say about it."""
NAME = "live.js"
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
        self._script = Path(__file__).with_name(NAME).read_bytes()

    def __call__(self, environ: Mapping[str, Any], start_response: Start) -> Iterable[bytes]:
        """Answer one request."""
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        path = path.encode("latin-1").decode("utf-8", "replace")
        if path != self.home and not path.startswith(self._base):
            return _answer(start_response, 403, PLAIN, NOT_THE_PAGE)
        try:
            if method == "POST":
                return self._post(environ, start_response, path)
            if method not in ("GET", "HEAD"):
                return _answer(start_response, 405, PLAIN, "pages are read or posted to")
            body = self._get(environ, start_response, path)
            return body if method == "GET" else []
        except EntityNotFoundError as error:
            return _answer(start_response, 404, PLAIN, str(error))
        except TidemarkError as error:
            return _answer(start_response, 500, PLAIN, str(error))

    def _get(self, environ: Mapping[str, Any], start: Start, path: str) -> Iterable[bytes]:
        name = path.removeprefix(self._base)
        kind, subject = _asked(environ, "kind"), _named(environ)
        if path == self.home:
            return _answer(start, 200, HTML, self._page("", ""))
        if name == NAME:
            return _answer(start, 200, SCRIPT, self._script)
        if name == "alive":
            alive = {"served": self._served, "state": _tag(self._view.state(kind, subject))}
            return _answer(start, 200, JSON, json.dumps(alive))
        if name == "content":
            shown = self._view.content(kind, subject)
            return _answer(start, 200, HTML, shown.text, (STATE, _tag(shown.state)))
        if name in ("job", "run") and subject:
            return _answer(start, 200, HTML, self._page(name, subject))
        raise EntityNotFoundError(f"there is no page {path!r} here; / is the first one")

    def _page(self, kind: str, subject: str) -> str:
        shown = self._view.content(kind, subject)
        return (
            environment()
            .get_template("live.html.jinja")
            .render(
                where=self._where,
                title=subject,
                content=shown.text,
                state=_tag(shown.state),
                base=self._base,
                home=self.home,
                subject=urllib.parse.urlencode({"kind": kind, "name": subject}),
                served=self._served,
                style=style(),
                script=f"{self._base}{NAME}",
                token=self._token,
            )
        )

    def _post(self, environ: Mapping[str, Any], start: Start, path: str) -> Iterable[bytes]:
        token = environ.get(GIVEN, "").encode("utf-8", "replace")
        # A page of another origin can post here, and cannot know the token.
        if not hmac.compare_digest(token, self._token.encode()):
            return _answer(start, 403, PLAIN, "only a page of this port may ask for this: load it")
        return _answer(start, 200, PLAIN, self._act(path.removeprefix(self._base), _named(environ)))


def _named(environ: Mapping[str, Any]) -> str:
    # It is in the query: a browser takes `..` out of a path, and would ask for something else.
    return _asked(environ, "name")


def _asked(environ: Mapping[str, Any], name: str) -> str:
    return urllib.parse.parse_qs(str(environ.get("QUERY_STRING", ""))).get(name, [""])[0]


def _tag(state: object) -> str:
    return hashlib.sha256(repr(state).encode()).hexdigest()[:16]


def _answer(
    start: Start, status: int, kind: str, body: str | bytes, *more: tuple[str, str]
) -> Iterable[bytes]:
    content = body if isinstance(body, bytes) else body.encode("utf-8", "backslashreplace")
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
