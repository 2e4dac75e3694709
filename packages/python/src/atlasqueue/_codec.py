"""Python values as JSON, and back by the types that a function names. Pydantic is used where it is, never imported."""

from __future__ import annotations

import base64
import collections.abc
import dataclasses
import math
import types
import typing
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import Any, Mapping, Union
from uuid import UUID

from ._errors import PayloadError

_ERROR_CHARS_MAX = 4_096
_ERROR_DATA_BYTES_MAX = 16_384


def encode(value: Any) -> Any:
    """A value as JSON can hold it. Raises TypeError or ValueError for what has no JSON form."""
    if isinstance(value, Enum):
        return encode(value.value)
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} has no JSON form; use None or a string")
        return value
    if hasattr(value, "model_dump"):  # pydantic 2
        return value.model_dump(mode="json")
    if hasattr(value, "__fields__") and hasattr(value, "dict"):  # pydantic 1
        return encode(value.dict())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {one.name: encode(getattr(value, one.name)) for one in dataclasses.fields(value)}
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if isinstance(value, (UUID, Decimal)):
        return str(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, Mapping):
        return {_key(key): encode(inner) for key, inner in value.items()}  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, (list, tuple, set, frozenset)):
        return [encode(inner) for inner in value]  # pyright: ignore[reportUnknownVariableType]
    raise TypeError(f"a {type(value).__name__} has no JSON form; use a dict, a list, a dataclass or a pydantic model")


def _key(key: Any) -> str:
    if isinstance(key, Enum):
        key = key.value
    if not isinstance(key, str):
        raise TypeError(f"the key {key!r} is not a string, and JSON has no other keys")
    return key


def is_model(annotation: Any) -> bool:
    """Whether a type is a dataclass or a pydantic model."""
    if not isinstance(annotation, type):
        return False
    kind: Any = annotation
    return dataclasses.is_dataclass(kind) or hasattr(kind, "model_validate") or hasattr(kind, "parse_obj")


def decode(value: Any, annotation: Any) -> Any:
    """A JSON value as the type that an annotation names; unknown annotations leave it as it is. Raises PayloadError."""
    try:
        return _decode(value, annotation)
    except PayloadError:
        raise
    except Exception as error:
        raise PayloadError(f"{_shown(value)} does not fit {_name(annotation)}: {error}") from error


def _decode(value: Any, annotation: Any) -> Any:
    origin = typing.get_origin(annotation)
    args = typing.get_args(annotation)
    if origin in (Union, types.UnionType):
        return _decode_union(value, args)
    if origin is tuple and args and args[-1] is not Ellipsis:
        return tuple(decode(inner, one) for inner, one in zip(value, args, strict=True))
    if origin in (list, collections.abc.Sequence, set, frozenset, tuple) and args:
        made = [decode(inner, args[0]) for inner in value]
        kind: Any = list if origin is collections.abc.Sequence else origin
        return kind(made)
    if origin in (dict, collections.abc.Mapping) and len(args) == 2:
        return {decode(key, args[0]): decode(inner, args[1]) for key, inner in value.items()}
    if not isinstance(annotation, type):
        return value
    if hasattr(annotation, "model_validate"):
        return annotation.model_validate(value)  # pyright: ignore
    if hasattr(annotation, "parse_obj"):
        return annotation.parse_obj(value)  # pyright: ignore
    if dataclasses.is_dataclass(annotation):
        if isinstance(value, annotation):
            return value
        hints = typing.get_type_hints(annotation)
        if not isinstance(value, Mapping):
            raise TypeError("it is not an object")
        given: Mapping[str, Any] = value  # pyright: ignore[reportUnknownVariableType]
        return annotation(**{name: decode(inner, hints.get(name)) for name, inner in given.items()})
    if annotation is datetime and isinstance(value, str):
        return datetime.fromisoformat(value.replace("Z", "+00:00"))
    if annotation in (date,) and isinstance(value, str):
        return date.fromisoformat(value)
    if annotation is bytes and isinstance(value, str):
        return base64.b64decode(value)
    if annotation in (UUID, Decimal) or issubclass(annotation, Enum):
        return value if isinstance(value, annotation) else annotation(value)  # pyright: ignore
    if annotation is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if annotation in (str, int, float, bool) and (
        not isinstance(value, annotation) or (annotation is int and isinstance(value, bool))
    ):
        raise TypeError(f"it is a {type(value).__name__}")
    return value


def _decode_union(value: Any, args: tuple[Any, ...]) -> Any:
    if value is None and type(None) in args:
        return None
    faults: list[str] = []
    for arg in args:
        if arg is type(None):
            continue
        try:
            return decode(value, arg)
        except PayloadError as error:
            faults.append(str(error))
    raise PayloadError("; ".join(faults))


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}…"


def _name(annotation: Any) -> str:
    return getattr(annotation, "__name__", str(annotation))


def error_text(error: BaseException) -> str:
    """What a handler raised, as it is stored: "Type: message", then its causes on the same line."""
    parts = [f"{type(error).__name__}: {_message(error)}"]
    seen = {id(error)}
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    while cause is not None and id(cause) not in seen and len(parts) <= 8:
        seen.add(id(cause))
        parts.append(f"cause: {type(cause).__name__}: {_message(cause)[:500]}")
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
    return storable_text("; ".join(parts))


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return "an error that cannot be shown"


def storable_text(text: str) -> str:
    """Text that a column can hold: without NUL and lone surrogates, at most 4,096 UTF-16 units."""
    units = text[:_ERROR_CHARS_MAX].replace("\0", "\ufffd").encode("utf-16-le", "surrogatepass")[: _ERROR_CHARS_MAX * 2]
    return units.decode("utf-16-le", "replace")


def error_data(error: BaseException) -> Any:
    """An exception's own `data`, up to 16 KiB of JSON; None if there is none that can be stored."""
    from ._http import to_body

    try:
        data = encode(getattr(error, "data", None))
        return data if len(to_body(data)) <= _ERROR_DATA_BYTES_MAX else None
    except Exception:
        return None
