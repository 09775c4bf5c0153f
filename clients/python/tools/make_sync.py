"""Generates `_sync.py` from `_async.py`: `python tools/make_sync.py`."""

from __future__ import annotations

import re
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "src/quipu"
HEAD = '"""Blocking client. Generated from `_async.py` by `tools/make_sync.py`; do not edit."""\n'
#: Patterns and their replacements, applied in this order.
SAME_BUT = [
    (r'\A""".*?"""\n', HEAD),
    (r"\basync (def|with|for)\b", r"\1"),
    (r"\bawait ", ""),
    (r"\bAwaitable\[([\w\[\], ]+)\]", r"\1"),
    (r"AsyncIterator, Awaitable, Callable, Sequence", "Callable, Iterator, Sequence"),
    (r"\bAsyncIterator\b", "Iterator"),
    (r"\bAsyncQuipu\b", "Quipu"),
    (r"\bhttpx\.AsyncClient\b", "httpx.Client"),
    (r"\bhttpx\.AsyncBaseTransport\b", "httpx.BaseTransport"),
    (r"\b__a(enter|exit)__\b", r"__\1__"),
    (r"\b(?:a)(close|read|iter_lines)\b", r"\1"),
    (r"\bimport asyncio\b", "import time"),
    (r"\basyncio\.sleep\b", "time.sleep"),
]


def made() -> str:
    text = (FOLDER / "_async.py").read_text()
    for pattern, instead in SAME_BUT:
        text = re.sub(pattern, instead, text, flags=re.DOTALL)
    return text


if __name__ == "__main__":
    (FOLDER / "_sync.py").write_text(made())
