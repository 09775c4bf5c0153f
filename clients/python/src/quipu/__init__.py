"""A client for Quipu, a memory for assistants: `Quipu`, and `AsyncQuipu` for asyncio.

Each method calls one route of the server's API, which `GET /openapi.json` describes.
"""

from . import errors, types
from ._async import AsyncQuipu
from ._sync import Quipu
from ._wire import Patience
from .errors import QuipuError, Refusal

__all__ = ["AsyncQuipu", "Patience", "Quipu", "QuipuError", "Refusal", "errors", "types"]
__version__ = "0.1.0"
