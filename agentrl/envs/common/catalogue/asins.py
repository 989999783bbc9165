"""Product ids: ten characters that look like a shop's, one per index, and back again without a table."""

from __future__ import annotations

from hashlib import blake2b

ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
PREFIX = "B0"
PLACES = 8
SPACE = 36**PLACES
_PAIRS = tuple(first + second for first in ALPHABET for second in ALPHABET)


class AsinCode:
    """A bijection between indexes and ids that depends on the seed, so that neighbours do not look alike."""

    def __init__(self, seed: int) -> None:
        digest = blake2b(b"%d|asin" % seed).digest()
        factor = int.from_bytes(digest[:8], "big") % SPACE
        while factor % 2 == 0 or factor % 3 == 0:  # it must have no divisor in common with 36**8
            factor += 1
        self._factor, self._offset = factor, int.from_bytes(digest[8:16], "big") % SPACE
        self._inverse = pow(factor, -1, SPACE)

    def encode(self, index: int) -> str:
        """The id of product number `index`."""
        rest = (index * self._factor + self._offset) % SPACE
        rest, d = divmod(rest, 1296)
        rest, c = divmod(rest, 1296)
        a, b = divmod(rest, 1296)
        return PREFIX + _PAIRS[a] + _PAIRS[b] + _PAIRS[c] + _PAIRS[d]

    def decode(self, asin: str) -> int | None:
        """The index of an id, in capitals; None for what is not an id. The index may lie outside the catalogue."""
        if len(asin) != len(PREFIX) + PLACES or not asin.startswith(PREFIX):
            return None
        # Python's own numbers to the base 36 would also take small letters, signs, underscores and other scripts.
        if not (asin.isascii() and asin.isalnum() and asin.isupper()):
            return None
        return (int(asin[len(PREFIX) :], 36) - self._offset) * self._inverse % SPACE
