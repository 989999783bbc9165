"""What an order costs: delivery and cart price rules. The storefront, the administration and base data agree on it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

STORE_NAME = "Larkfield Market"


@dataclass(frozen=True)
class ShippingMethod:
    """A way of delivery: a fixed part and a part per piece."""

    code: str  # as forms send it
    carrier: str
    title: str
    fixed: float
    per_piece: float

    @property
    def label(self) -> str:
        """What an order shows."""
        return f"{self.carrier} - {self.title}"

    def amount(self, pieces: int) -> float:
        """The price of sending that many pieces."""
        return round(self.fixed + self.per_piece * pieces, 2)


SHIPPING_METHODS = (
    ShippingMethod("flatrate_flatrate", "Flat Rate", "Fixed", 0.0, 5.0),
    ShippingMethod("tablerate_bestway", "Best Way", "Table Rate", 15.0, 0.0),
)
PAYMENT_METHODS = {"checkmo": "Check / Money order", "banktransfer": "Bank Transfer Payment"}


def discount(subtotal: float, day: str, rules: Iterable[Mapping[str, Any]], code: str = "") -> float:
    """What all rules that hold on that day take off, those with a coupon only if it is the given one."""
    taken: float = 0
    for rule in rules:
        if applies(rule, subtotal, day, code):
            amount = float(rule["discount_amount"])
            taken += subtotal * amount / 100 if rule["action"] == "by_percent" else amount
    return round(min(taken, subtotal), 2)


def applies(rule: Mapping[str, Any], subtotal: float, day: str, code: str) -> bool:
    """Does the rule hold for a cart on that day ("2025-06-16")? Coupons are compared without regard to case."""
    return (
        bool(rule["is_active"])
        and rule["coupon_code"].lower() in ("", code.lower())
        and (not rule["from_date"] or rule["from_date"] <= day)
        and (not rule["to_date"] or day <= rule["to_date"])
        and subtotal >= rule["min_subtotal"]
    )
