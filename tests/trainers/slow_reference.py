"""The estimators again, written from the formulas with loops over plain lists: slow, and sharing no code with ours."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Hashable, Sequence

Row = list[float]


def token_gae(r: Row, v: Row, mask: list[bool], gamma: float, lam: float, end: float) -> Row:
    """delta_i = r_i + gamma V_j - V_i, summed with (gamma lam)^n over the action tokens that follow."""
    places = [i for i, acts in enumerate(mask) if acts]
    after = [v[j] for j in places[1:]] + [end]
    deltas = [r[i] + gamma * following - v[i] for i, following in zip(places, after, strict=True)]
    found = [0.0] * len(r)
    for n, i in enumerate(places):
        found[i] = sum((gamma * lam) ** k * delta for k, delta in enumerate(deltas[n:]))
    return found


def turns(mask: list[bool], ends: list[bool]) -> list[list[int]]:
    """The positions of each turn's action tokens."""
    found: list[list[int]] = [[]]
    for i, acts in enumerate(mask):
        if acts:
            found[-1].append(i)
            if ends[i]:
                found.append([])
    return [turn for turn in found if turn]


def turn_level(r: Row, b: Row, G: float, L: float, end: float) -> Row:
    """One number per turn: d_k = r_k + G b_{k+1} - b_k, A_k = sum of (G L)^n d_{k+n}."""
    following = [*b[1:], end]
    d = [r[k] + G * following[k] - b[k] for k in range(len(r))]
    return [sum((G * L) ** n * x for n, x in enumerate(d[k:])) for k in range(len(r))]


def bilevel(
    r: Row, v: Row, after: Row | None, mask: list[bool], ends: list[bool], kl: Row,
    G: float, L: float, g: float, lam: float, end: float,
) -> Row:  # fmt: skip
    """The paper's form if `after` is given, the released one otherwise."""
    spans = turns(mask, ends)
    lasts = [span[-1] for span in spans]
    if after is not None:
        a_turn = turn_level([r[e] for e in lasts], [after[e] for e in lasts], G, L, end)
    else:
        a_turn = turn_level([r[e] + kl[e] for e in lasts], [v[e] for e in lasts], G, L, end)
    found = [0.0] * len(r)
    for span, a_k in zip(spans, a_turn, strict=True):
        last = span[-1]
        found[last] = a_k if after is None else kl[last] + g * after[last] - v[last] + a_k
        for i, j in reversed(list(itertools.pairwise(span))):
            found[i] = kl[i] + g * v[j] - v[i] + g * lam * found[j]
    return found


def turn_wise(r: Row, v: Row, mask: list[bool], ends: list[bool], kl: Row, G: float, L: float, end: float) -> Row:
    """Every token of a turn has the turn's advantage."""
    spans = turns(mask, ends)
    rewards = [r[span[-1]] + sum(kl[i] for i in span) for span in spans]
    found = [0.0] * len(r)
    for span, a_k in zip(spans, turn_level(rewards, [v[span[-1]] for span in spans], G, L, end), strict=True):
        for i in span:
            found[i] = a_k
    return found


def steps(r: Row, v: Row, whose: Sequence[Hashable], index: list[int], gamma: float, lam: float, end: Row) -> Row:
    """GAE over each trajectory's steps, wherever they are in the batch."""
    found = [0.0] * len(r)
    for name in set(whose):
        rows = sorted((n for n in range(len(r)) if whose[n] == name), key=lambda n: index[n])
        advantages = turn_level([r[n] for n in rows], [v[n] for n in rows], gamma, lam, end[rows[-1]])
        for n, a in zip(rows, advantages, strict=True):
            found[n] = a
    return found


def mean(x: Sequence[float]) -> float:
    """The mean."""
    return sum(x) / len(x)


def std(x: Sequence[float]) -> float:
    """The unbiased standard deviation."""
    return math.sqrt(sum((a - mean(x)) ** 2 for a in x) / (len(x) - 1))


def against_group(scores: Row, groups: Sequence[Hashable], whose: Sequence[Hashable], kind: str) -> Row:
    """grpo, dr_grpo or rloo, every trajectory counted once."""
    members: dict[Hashable, dict[Hashable, float]] = defaultdict(dict)
    for s, g, w in zip(scores, groups, whose, strict=True):
        members[g][w] = s
    found = []
    for s, g, w in zip(scores, groups, whose, strict=True):
        everyone = list(members[g].values())
        others = [x for name, x in members[g].items() if name != w]
        if not others:
            found.append({"rloo": 0.0, "dr_grpo": s, "grpo": s / (1 + 1e-6)}[kind])
        elif kind == "rloo":
            found.append(s - mean(others))
        else:
            found.append((s - mean(everyone)) / (std(everyone) + 1e-6 if kind == "grpo" else 1.0))
    return found


def gigpo(
    r: Row, groups: Sequence[Hashable], whose: Sequence[Hashable], index: list[int], anchors: Sequence[Hashable],
    gamma: float, kind: str, penalties: Row,
) -> Row:  # fmt: skip
    """Episode part plus step part."""
    totals = [sum(r[m] for m in range(len(r)) if whose[m] == whose[n]) for n in range(len(r))]
    episode = against_group(totals, groups, whose, kind)
    returns = [
        sum(
            gamma ** (index[m] - index[n]) * r[m]
            for m in range(len(r))
            if whose[m] == whose[n] and index[m] >= index[n]
        )
        - penalties[n]
        for n in range(len(r))
    ]
    found = []
    for n in range(len(r)):
        same = [returns[m] for m in range(len(r)) if (groups[m], anchors[m]) == (groups[n], anchors[n])]
        scale = std(same) + 1e-6 if kind == "grpo" and len(same) > 1 else 1.0
        found.append(episode[n] + (-penalties[n] if len(same) == 1 else (returns[n] - mean(same)) / scale))
    return found


def clipped(u: float, a: float, low: float, high: float, dual: float | None) -> float:
    """One token's PPO loss."""
    loss = max(-u * a, -min(max(u, 1 - low), 1 + high) * a)
    return min(loss, -dual * a) if dual is not None and a < 0 else loss


def ppo(
    new: list[Row], old: list[Row], a: list[Row], mask: list[list[bool]], low: float, high: float, dual: float | None,
    mode: str, spans: list[list[list[int]]], ratio: str = "token",
) -> float:  # fmt: skip
    """Any of the clipped losses: ratio per token, per step (`spans`) or per row; mean over tokens, steps or rows."""
    means: dict[str, list[float]] = {"token": [], "step": [], "sequence": []}
    for b, row_spans in enumerate(spans):
        whole = [i for span in row_spans for i in span]
        of_row = {}
        for span in row_spans:
            for i in span:
                over = {"token": [i], "step": span, "sequence": whole}[ratio]
                u = math.exp(mean([new[b][j] - old[b][j] for j in over]))
                of_row[i] = clipped(u, a[b][i], low, high, dual)
        assert sorted(of_row) == [i for i, acts in enumerate(mask[b]) if acts]
        means["token"] += of_row.values()
        means["step"] += [mean([of_row[i] for i in span]) for span in row_spans]
        means["sequence"] += [mean(list(of_row.values()))] if of_row else []
    return mean(means[mode])
