"""The digest that a JSON document of the user's own carries, by which a damaged or edited one is told apart."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import msgspec

FIELD = "sha256"


def digest(found: msgspec.Struct) -> str:
    """That of what a document says, however it is laid out."""
    return sha256(msgspec.json.encode(found)).hexdigest()


def signed(found: msgspec.Struct, indent: int) -> bytes:
    """The document as a file holds it, with its digest."""
    document = msgspec.to_builtins(found) | {FIELD: digest(found)}
    return msgspec.json.format(msgspec.json.encode(document), indent=indent) + b"\n"


def unsigned(document: Any) -> tuple[Any, Any]:
    """The document without its digest, and the digest; None where it has none."""
    if not isinstance(document, dict):
        return document, None
    return {name: value for name, value in document.items() if name != FIELD}, document.get(FIELD)


def damage(found: msgspec.Struct, claimed: Any) -> str:
    """Why a document is not what was written; empty where it is."""
    if claimed == digest(found):
        return ""
    return f"damaged, or changed since it was written: its {FIELD} is of another content"
