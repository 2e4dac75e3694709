"""Python values as JSON, and back by the types of a function."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import Any, Dict, List, Optional, Union
from uuid import UUID

import pydantic
import pytest

from atlasqueue import App, PayloadError
from atlasqueue._codec import decode, encode, error_data, error_text, storable_text


class Color(enum.Enum):
    RED = "red"


@dataclass
class Line:
    sku: str
    count: int = 1


@dataclass
class Order:
    id: UUID
    lines: List[Line]
    placed: datetime
    due: Optional[date] = None
    color: Color = Color.RED
    price: Decimal = Decimal("1.5")
    notes: Dict[str, Line] = field(default_factory=dict[str, Line])
    blob: bytes = b""
    weight: float = 1


class Model(pydantic.BaseModel):
    to: str
    at: datetime


ORDER = Order(
    UUID(int=7),
    [Line("tea", 2)],
    datetime(2030, 1, 1, tzinfo=timezone.utc),
    date(2030, 2, 1),
    notes={"a": Line("b")},
    blob=b"\0\1",
    weight=2.0,
)


def test_a_dataclass_comes_back_as_it_was() -> None:
    assert decode(encode(ORDER), Order) == ORDER
    assert (
        decode({"id": str(UUID(int=7)), "lines": [], "placed": "2030-01-01T00:00:00.000Z", "weight": 2}, Order).weight
        == 2.0
    )


def test_a_pydantic_model_comes_back_as_it_was() -> None:
    model = Model(to="ada@example.org", at=datetime(2030, 1, 1, tzinfo=timezone.utc))
    assert encode(model)["to"] == "ada@example.org" and isinstance(encode({"in": [model]})["in"][0]["at"], str)
    assert decode(encode(model), Model) == model
    app = App()

    @app.job("mail")
    def mail(model: Model) -> Model:
        return model

    assert mail.submission(model).to_wire()["payload"] == encode(model)
    assert mail.bind_payload(encode(model))() == model
    with pytest.raises(PayloadError, match="does not fit Model"):
        mail.bind_payload({"to": 1})


@pytest.mark.parametrize(
    ("value", "annotation", "wanted"),
    [
        (None, Optional[int], None),
        ("1", Union[int, str], "1"),
        ([1], Sequence[int], [1]),
        ([1, 2], "set[int]", {1, 2}),
        ([1, "a"], tuple[int, str], (1, "a")),
        ([1, 2, 3], tuple[int, ...], (1, 2, 3)),
        ({"a": 1}, Any, {"a": 1}),
        ({"sku": "tea"}, Line, Line("tea")),
        (5, object, 5),
    ],
)
def test_values_are_read_by_annotations(value: Any, annotation: Any, wanted: Any) -> None:
    assert decode(value, set[int] if annotation == "set[int]" else annotation) == wanted


@pytest.mark.parametrize(
    ("value", "annotation"),
    [
        ("x", int),
        (True, int),
        (1, str),
        ("x" * 100, UUID),
        ("pink", Color),
        ([1], Line),
        ("x", Optional[int]),
        ({"no": 1}, Line),
    ],
)
def test_what_does_not_fit_is_refused(value: Any, annotation: Any) -> None:
    with pytest.raises(PayloadError):
        decode(value, annotation)


@pytest.mark.parametrize("value", [float("nan"), object(), {1: 2}, {"a": {float("inf")}}])
def test_what_json_does_not_have_is_refused(value: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        encode(value)


def test_other_forms() -> None:
    assert encode((1, Color.RED, {Color.RED: frozenset([1])})) == [1, "red", {"red": [1]}]
    app = App()

    @app.job("many")
    def many(first: int, *, last: int = 2, **others: int) -> list[int]:
        return [first, last, *others.values()]

    assert many.submission(1, last=3, other=4).payload == {"first": 1, "last": 3, "other": 4}
    assert many.bind_payload({"first": 1, "last": 3, "other": 4})() == [1, 3, 4]


def test_errors_are_told_with_their_causes() -> None:
    class Quiet(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    try:
        try:
            raise KeyError("a")
        except KeyError:
            raise ValueError("b")
    except ValueError as error:
        assert error_text(error) == "ValueError: b; cause: KeyError: 'a'"
    assert error_text(Quiet()) == "Quiet: an error that cannot be shown"
    assert len(storable_text("x" * 5_000)) == 4_096 and storable_text("a\0\ud800") == "a\ufffd\ufffd"
    assert storable_text("x" * 4_095 + "😀").startswith("x" * 4_095)
    with_data = ValueError()
    with_data.data = object()  # type: ignore[attr-defined]
    assert error_data(with_data) is None
