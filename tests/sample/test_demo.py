"""The home of the demo."""

import pytest

from sample.story import main
from tidemark.errors import UsageError
from tidemark.local_state.home import Home


def test_the_demo_never_empties_the_home_of_the_user(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TIDEMARK_HOME", str(tmp_path / "home"))
    Home.open(tmp_path / "home")
    (tmp_path / "home" / "lake" / "precious.txt").write_text("keep", encoding="utf-8")

    with pytest.raises(UsageError):  # there is no cdk.json here
        main()

    assert (tmp_path / "home" / "lake" / "precious.txt").exists()
    assert (tmp_path / ".tidemark-demo").is_dir()
