"""Answers browsers, by WSGI: three kinds of pages, their events, and what buttons ask for."""

import hmac
import http.client
import secrets
import urllib.parse
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from tidemark.errors import EntityNotFoundError, TidemarkError
from tidemark.glue_service.http.pages import PREFIX, ROOT, Start
from tidemark.local_state.machine.node_packages import check_owner, project_folders
from tidemark.report.live.streams import Streams
from tidemark.report.live.view import View
from tidemark.report.page import environment, style

GIVEN = "HTTP_X_TIDEMARK_TOKEN"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; connect-src 'self'; "
    "img-src 'self' data:; form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
)
HTML, PLAIN = "text/html; charset=utf-8", "text/plain; charset=utf-8"
SCRIPT, EVENTS = "text/javascript; charset=utf-8", "text/event-stream; charset=utf-8"
NOT_THE_PAGE = "open the address that `tidemark local up` has printed"
Act: TypeAlias = Callable[[str, str], str]
"""Starts, resumes or stops what is named; returns what to say about it."""
PACKAGE = "htmx.org"
FILES = ("dist/htmx.min.js", "dist/ext/hx-sse.min.js")
NAME = "htmx.js"
HINT = f"`npm install --save-dev {PACKAGE}` in this folder lets this page update by itself"


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
        self._streams = Streams()
        self._library = find_library()

    def close(self) -> None:
        """End the events of open pages."""
        self._streams.close()

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
        if path == self.home:
            return _answer(start, 200, HTML, self._page("", ""))
        if name == NAME and self._library:
            return _answer(start, 200, SCRIPT, self._library)
        if name == "events" and environ["REQUEST_METHOD"] == "GET":
            return self._events(environ, start)
        subject = _named(environ)
        if name in ("job", "run") and subject:
            return _answer(start, 200, HTML, self._page(name, subject))
        raise EntityNotFoundError(f"there is no page {path!r} here; / is the first one")

    def _events(self, environ: Mapping[str, Any], start: Start) -> Iterable[bytes]:
        kind, subject = _asked(environ, "kind"), _named(environ)
        if not self._streams.claim():
            return _answer(start, 503, PLAIN, "too many pages are open: close one")
        start("200 OK", [("Content-Type", EVENTS), ("Cache-Control", "no-store")])
        return self._streams.events(self._view.state, lambda: self._content(kind, subject))

    def _content(self, kind: str, subject: str) -> str:
        try:
            if kind == "job":
                return self._view.job(subject)
            return self._view.run(subject) if kind == "run" else self._view.overview()
        except TidemarkError as error:
            return environment().from_string("<p>{{ text }}</p>").render(text=str(error))

    def _page(self, kind: str, subject: str) -> str:
        content = {"job": self._view.job, "run": self._view.run}.get(kind)
        query = urllib.parse.urlencode({"kind": kind, "name": subject})
        template = environment().get_template("live.html.jinja")
        return template.render(
            where=self._where,
            title=subject,
            content=content(subject) if content else self._view.overview(),
            base=self._base,
            home=self.home,
            events=f"{self._base}events?{query}",
            style=style(),
            script=f"{self._base}{NAME}" if self._library else "",
            hint="" if self._library else HINT,
            token=self._token,
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


def _answer(start: Start, status: int, kind: str, body: str | bytes) -> Iterable[bytes]:
    content = body if isinstance(body, bytes) else body.encode("utf-8", "backslashreplace")
    headers = [
        ("Content-Type", kind),
        ("Content-Length", str(len(content))),
        ("Content-Security-Policy", POLICY),
        ("X-Content-Type-Options", "nosniff"),
        ("Cross-Origin-Opener-Policy", "same-origin"),  # a page that links here has no window
        ("Referrer-Policy", "no-referrer"),
        ("Cache-Control", "no-store"),
    ]
    start(f"{status} {http.client.responses[status]}", headers)
    return [content]


def find_library() -> bytes:
    """Return the script of a page; empty if the project and Tidemark have no such package.

    It is one script: htmx may look at the page before a second one has been loaded.
    """
    for folder in project_folders():
        files = [folder / "node_modules" / PACKAGE / file for file in FILES]
        if all(file.is_file() for file in files):
            for file in files:
                check_owner(file, folder, "the script of the live page")
            return b"\n".join(file.read_bytes() for file in files)
    return b""
