"""Times are the digits of the file, never doubles."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from traceview.sources.decimals import MISSING, exact, nanoseconds

plain = st.builds(
    lambda sign, whole, digits: f"{sign}{whole}{'.' + digits if digits is not None else ''}",
    st.sampled_from(["", "-"]),
    st.integers(0, 10**18),
    st.none() | st.text("0123456789", min_size=1, max_size=12),
)


def by_decimal(text: str) -> int:
    value = int(Decimal(text) * 1000)  # int() cuts toward zero
    return value if -(2**61) < value < 2**61 else MISSING


@given(st.lists(plain, min_size=1, max_size=30))
def test_texts_are_read_as_decimal_arithmetic_reads_them(texts: list[str]) -> None:
    expected = [by_decimal(t) for t in texts]
    assert nanoseconds([t.encode() for t in texts]).tolist() == expected
    assert nanoseconds([b'"%s"' % t.encode() for t in texts]).tolist() == expected
    assert [exact(t.encode()) for t in texts] == expected


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("1712195495521715.604", 1712195495521715604),  # a double would keep a quarter of a microsecond
        ("1.0009999", 1000),
        ("0.17999999999999999", 179),  # written by %.17g: the digits are what the file says
        ("9.9999999999999995e-07", 0),
        ("12", 12_000),
        ("1e3", 1_000_000),
        ("-3.5", -3_500),
        (".5", 500),
        ("5.", 5_000),
        ("0007", 7_000),
        ("2305843009213693.951", (1 << 61) - 1),  # 73 years
        ("2305843009213693.952", MISSING),
        ("1e400", MISSING),
        ("1e-400", 0),
        ("nan", MISSING),
        ("null", MISSING),
        ("", MISSING),
        ("1.2.3", MISSING),
        ("true", MISSING),
        ("1" * 5000, MISSING),
    ],
)
def test_odd_numbers_have_one_reading(text: str, ns: int) -> None:
    assert exact(text.encode()) == ns
    assert nanoseconds([b"1.5", text.encode(), b"2"]).tolist() == [1500, ns, 2000]
