"""What the port answers a browser, and whom it answers not; no browser is needed."""

from __future__ import annotations

import html
import http.client
import json
import re
from collections.abc import Iterator
from contextlib import closing, nullcontext
from pathlib import Path
from urllib.parse import quote, urljoin, urlsplit

import pytest

from tests.fixtures.commands import write_assembly_into
from tests.waiting import BOUND_S, wait_until
from tidemark.cli.live import live_pages
from tidemark.glue_service.deployments import deploy_on_port
from tidemark.glue_service.http.serving import Options, is_private, serving
from tidemark.local_state.home import Home
from tidemark.local_state.machine import peers
from tidemark.report.live.shown import Asked, Body
from tidemark.report.live.view import View

HTML = {"Accept": "text/html"}
ODD_NAMES = (
    ".",
    "..",
    "<img src=x onerror=alert(1)>",
    "a/../first",
    "x y",
    "a?b&c#d+\N{LATIN SMALL LETTER U WITH DIAERESIS}",
)


class Browser:
    """Asks a port as a browser does."""

    def __init__(self, url: str) -> None:
        self.url = url

    def ask(
        self, path: str = "/", headers: dict[str, str] | None = None, method: str = "GET"
    ) -> tuple[int, str]:
        """Return the status and the body of an answer."""
        place = urlsplit(self.url).netloc
        with closing(http.client.HTTPConnection(place, timeout=BOUND_S)) as connection:
            connection.request(method, path, headers=headers or HTML)
            with connection.getresponse() as answer:
                return answer.status, answer.read().decode()

    def press(self, button: str) -> str:
        """Return what the page says after a button was pressed."""
        found = re.search(r'data-token="([^"]+)"', self.ask()[1])
        assert found
        status, said = self.ask(f"/_tidemark/{button}", {"X-Tidemark-Token": found[1]}, "POST")
        assert status == 200
        return said


def runs_of(browser: Browser, job: str) -> set[str]:
    """Return the runs that the page of a job shows."""
    page = browser.ask(f"/_tidemark/job?name={quote(job)}")[1]
    return set(re.findall(r"/_tidemark/run\?name=(jr_\w+)", page))


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Serve two jobs, the second of which waits for the first."""
    folder = tmp_path_factory.mktemp("live")
    scripts = {"first": "print('hello <script>alert(1)</script>')", "second": ""}
    command = {"Name": "glueetl", "ScriptLocation": "s3://assets/first.py"}
    odd = {
        f"Odd{number}": {"Type": "AWS::Glue::Job", "Properties": {"Name": name, "Command": command}}
        for number, name in enumerate(ODD_NAMES)
    }
    app = write_assembly_into(folder, scripts, {"second": ["first"]}, odd)
    with pytest.MonkeyPatch.context() as variables:
        variables.setenv("TIDEMARK_HOME", str(folder / "home"))
        home = Home.from_environment()
        with serving(home, Options(pages=live_pages(home, app))) as (url, engine):
            engine.ask(lambda glue: deploy_on_port(glue, app))
            yield Browser(url)


def test_the_first_page_shows_each_job_and_loads_only_from_the_port(browser: Browser) -> None:
    status, page = browser.ask()

    assert status == 200
    assert "/_tidemark/job?name=first" in page
    assert "/_tidemark/job?name=second" in page
    assert re.findall(r'(?:src|href)="(?:https?:)?//', page) == []


@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_browser_finds_the_page_and_the_buttons_of_a_job_whatever_its_name(
    browser: Browser, name: str
) -> None:
    link = f"/_tidemark/job?name={quote(name)}"

    assert f'href="{link}"' in browser.ask()[1]
    assert urljoin(browser.url, link) == f"{browser.url}{link}"  # as a browser asks for it
    page = browser.ask(link)[1]
    assert f"<h1>{html.escape(name)}</h1>" in page
    assert f'data-act="stop-job?name={quote(name)}"' in page


def test_a_button_starts_a_workflow_and_the_pages_show_its_runs(browser: Browser) -> None:
    assert "started wr_" in browser.press("start?name=flow")

    wait_until(lambda: browser.ask("/_tidemark/job?name=second")[1].count("SUCCEEDED") > 0)
    run = max(runs_of(browser, "first"))
    page = browser.ask(f"/_tidemark/run?name={run}")[1]
    assert "hello &lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<script>alert" not in page
    assert "job first has no bookmark" in browser.ask("/_tidemark/job?name=first")[1]


def test_a_job_is_run_and_stopped_alone(browser: Browser) -> None:
    assert "first: started jr_" in browser.press("run?name=first")
    assert "nothing to stop" in browser.press("stop-job?name=second")


@pytest.mark.parametrize(
    ("button", "part"),
    [
        ("start?name=none", "there is no workflow 'none'"),
        ("run?name=none", "there is no job 'none'"),
        ("resume?name=flow", "not done"),
    ],
)
def test_what_cannot_be_done_is_said(browser: Browser, button: str, part: str) -> None:
    assert part in browser.press(button)


@pytest.mark.parametrize("token", ["", "wrong", "\N{EURO SIGN}".encode().decode("latin-1")])
def test_nothing_is_changed_without_the_token_of_a_page(browser: Browser, token: str) -> None:
    before = runs_of(browser, "first")

    status, _ = browser.ask("/_tidemark/run?name=first", {"X-Tidemark-Token": token}, "POST")

    assert status == 403
    assert runs_of(browser, "first") == before


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Host": "evil.example"},
        {"Host": "127.0.0.1.evil.example"},
    ],
)
@pytest.mark.parametrize("path", ["/", "/_tidemark/job?name=first", "/_tidemark/alive"])
def test_pages_of_other_places_get_nothing(
    browser: Browser, path: str, headers: dict[str, str]
) -> None:
    status, body = browser.ask(path, {**HTML, **headers})

    assert status == 403
    assert "first" not in body


LINK = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}


@pytest.mark.parametrize("site", ["none", "same-origin", "same-site", "cross-site"])
@pytest.mark.parametrize("path", ["/", "/_tidemark/job?name=first"])
def test_a_link_of_another_page_opens_the_page(browser: Browser, path: str, site: str) -> None:
    status, body = browser.ask(path, {**HTML, **LINK, "Sec-Fetch-Site": site})

    assert (status, "first" in body) == (200, True)


@pytest.mark.parametrize(
    ("method", "path", "headers"),
    [
        ("GET", "/", {"Sec-Fetch-Dest": "iframe"}),
        ("GET", "/", {"Sec-Fetch-Dest": "empty", "Sec-Fetch-Mode": "no-cors"}),
        ("GET", "/", {"Sec-Fetch-Dest": "script", "Sec-Fetch-Mode": "no-cors"}),
        ("GET", "/", {"Origin": "http://evil.example"}),
        ("GET", "/", {"Host": "evil.example"}),
        ("GET", "/_tidemark/alive", {"Sec-Fetch-Dest": "empty", "Sec-Fetch-Mode": "cors"}),
        ("POST", "/_tidemark/run?name=first", {}),
        ("POST", "/_tidemark/run?name=first", {"Origin": "null"}),
        ("HEAD", "/", {}),
    ],
)
def test_another_page_has_no_more_than_a_link(
    browser: Browser, method: str, path: str, headers: dict[str, str]
) -> None:
    before = runs_of(browser, "first")

    sent = {**HTML, **LINK, "Sec-Fetch-Site": "cross-site", **headers}
    status, body = browser.ask(path, sent, method)

    assert (status, "first" in body) == (403, False)
    assert runs_of(browser, "first") == before


def test_a_page_asks_for_no_icon_and_has_no_opener(browser: Browser) -> None:
    assert '<link rel="icon" href="data:,">' in browser.ask()[1]
    with closing(http.client.HTTPConnection(urlsplit(browser.url).netloc)) as connection:
        connection.request("GET", "/", headers=HTML)
        with connection.getresponse() as answer:
            headers = answer.headers

    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert "sandbox" not in headers["Content-Security-Policy"]


def test_a_client_of_s3_is_no_browser(browser: Browser) -> None:
    status, body = browser.ask("/", {"Accept": "*/*"})

    assert status == 403
    assert "AccessDenied" in body


@pytest.mark.parametrize("path", ["/", "/_tidemark/job?name=first", "/_tidemark/alive"])
def test_a_head_has_no_body(browser: Browser, path: str) -> None:
    assert browser.ask(path, method="HEAD")[1] == ""


def test_keys_of_a_bucket_may_begin_as_the_paths_of_pages(browser: Browser) -> None:
    host = f"scripts.localhost:{urlsplit(browser.url).port}"

    status, body = browser.ask("/_tidemark/job?name=first", {"Host": host, "Accept": "*/*"})

    assert status == 403
    assert "AccessDenied" in body  # of S3: it is not signed


@pytest.mark.parametrize(
    "path", ["/_tidemark/", "/_tidemark/job?name=none", "/_tidemark/run?name=jr_none"]
)
def test_a_page_that_does_not_exist_is_not_found(browser: Browser, path: str) -> None:
    status, body = browser.ask(path)

    assert status == 404
    assert "there is no" in body


def test_names_are_escaped(browser: Browser) -> None:
    status, body = browser.ask("/_tidemark/job?name=%3Cscript%3Ealert(1)%3C/script%3E")

    assert status == 404
    assert "alert" in body  # as plain text
    status, body = browser.ask("/_tidemark/content?kind=job&name=%3Cscript%3E")
    assert (status, "there is no job" in body) == (404, True)


def test_a_page_is_told_when_something_else_is_to_be_shown(browser: Browser) -> None:
    def alive() -> dict[str, str]:
        told: dict[str, str] = json.loads(browser.ask("/_tidemark/alive?kind=job&name=first")[1])
        return told

    before = alive()
    page = browser.ask("/_tidemark/job?name=first")[1]
    assert f'data-served="{before["served"]}"' in page
    browser.press("run?name=first")

    wait_until(lambda: alive()["state"] != before["state"])
    assert alive()["served"] == before["served"]


def test_the_state_that_a_page_shows_is_that_of_its_content(browser: Browser) -> None:
    """A page that was made while something changed asks again."""
    states = [0]

    class Changing(View):
        def state(self, kind: str, name: str) -> object:
            return states[0]

        def _job(self, asked: Asked) -> str:
            states[0] += 1
            return "made"

    view = Changing(Path("glue.sqlite"), nullcontext, lambda *_: [], lambda _: ())

    assert view.content("job", {"name": "first"}) == Body(0, "made")


def test_only_a_port_of_this_user_and_machine_has_pages() -> None:
    assert is_private(Options())
    assert not is_private(Options(host="192.0.2.1"))
    assert not is_private(Options(any_user=True))
    assert not is_private(Options(names=frozenset({"localhost", "build.example"})))


def test_where_users_cannot_be_told_apart_only_a_secret_path_has_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIDEMARK_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(peers, "shows_owners", lambda: False)
    home = Home.from_environment()
    pages = live_pages(home, write_assembly_into(tmp_path, {"first": ""}))
    with serving(home, Options(pages=pages)) as (url, _):
        browser = Browser(url)

        assert browser.ask("/")[0] == 403
        assert browser.ask("/_tidemark/job?name=first")[0] == 403
        assert browser.ask("/_tidemark/wrong/")[0] == 403
        status, page = browser.ask(pages.home)
    assert status == 200
    assert len(pages.home) > 40
    assert page.count(pages.home) >= 3
    assert '"/_tidemark/job' not in page
