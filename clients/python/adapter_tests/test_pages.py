"""The examples of the adapters' pages in docs/, each as it stands, with a server of its own at the default address."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from quipu import Quipu

PAGES = Path(__file__).parents[3] / "docs/adapters"
NAMES = sorted(page.name for page in PAGES.glob("*.md") if "```python" in page.read_text())


def test_each_adapter_has_a_page() -> None:
    assert NAMES == ["langchain.md", "llama-index.md", "openai-agents.md", "pydantic-ai.md"]


@pytest.mark.parametrize("name", NAMES)
def test_the_example_prints_what_the_page_says(
    name: str,
    serving: Callable[[Path], AbstractContextManager[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    example = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```", (PAGES / name).read_text(), re.DOTALL)
    assert example, f"{name} has no example followed by its output"
    with serving(tmp_path) as base_url:
        assert Quipu.__init__.__defaults__ == ("http://127.0.0.1:7077",)
        monkeypatch.setattr(Quipu.__init__, "__defaults__", (base_url,))
        exec(compile(example[1], name, "exec"), {"__name__": "example"})
    assert capsys.readouterr().out == example[2]
    assert not [one for one in caplog.records if one.name == "quipu" and one.levelno >= logging.WARNING]
