"""Quipu in the process of a Python program: a long-term memory in one folder, without a server, account or network.

    from quipu_embedded import Memory

    memory = Memory("folder")
    memory.remember("I moved to Porto in May.")
    print(memory.recall("Where do I live?")["hits"][0]["text"])
    print(memory.context("Suggest something for the weekend.")["text"])

Calls block, and release the interpreter's lock while they work; `AsyncMemory` runs them in threads. A folder can be open in several threads and
processes at once, also in the program `quipu`. Open it after a fork, not before.
"""

from . import types
from ._asynchronous import AsyncMemory
from ._native import Conflict, Corrupt, Invalid, Memory, NotFound, QuipuError, Refused, Stale, Unavailable

__all__ = [
    "AsyncMemory",
    "Conflict",
    "Corrupt",
    "Invalid",
    "Memory",
    "NotFound",
    "QuipuError",
    "Refused",
    "Stale",
    "Unavailable",
    "types",
]
