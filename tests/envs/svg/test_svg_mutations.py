"""Ten thousand damaged files, ordinary and hostile ones: none escapes, none leaks, none raises anything unexpected."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from agentrl.envs.svg.sandbox.gate import REASONS, SvgRefused
from agentrl.envs.svg.sandbox.renderer import Renderer
from tests.envs.svg.canaries import Canaries, leaked
from tests.envs.svg.hostile_files import hostile_files
from tests.envs.svg.mutations import mutate
from tests.envs.svg.ordinary_files import HABITS, ORDINARY

PARTS, EACH = 8, 1250
MAX_PARENT = 3000
# Stand in for the canaries' places, which are others in every run, so that the damage is the same in all.
HOST, FOLDER = "HOST:0", "/FOLDER"


@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.long) for part in range(1, PARTS))])
def test_damaged_files_do_no_harm(part: int, renderer: Renderer, canaries: Canaries, record_property: Any) -> None:
    folder, host = str(canaries.folder), canaries.host
    files = [file.code.replace(folder, FOLDER).replace(host, HOST) for file in hostile_files(canaries)]
    hostile = [code for code in files if 0 < len(code) < MAX_PARENT]
    ordinary = [*ORDINARY.values(), *HABITS.values()]
    corpus = [*hostile, *ordinary * (3 * len(hostile) // len(ordinary))]  # what passes the gate is worth more
    rng, counts, leaks, escapes = random.Random(part), Counter(), 0, []
    canaries.forget()
    for _ in range(EACH):
        code = mutate(rng, corpus, HOST, FOLDER).replace(FOLDER, folder).replace(HOST, host)
        try:
            leaks += leaked(renderer.draw(code))
            counts["drawn"] += 1
        except SvgRefused as refused:
            counts[refused.reason] += 1
            if "PermissionError" in refused.detail:  # the second wall held, but the gate did not
                escapes.append(code)
    record_property(
        "figures",
        f"{EACH} mutations: {counts['drawn']} drawn, {EACH - counts['drawn']} refused, {len(escapes)} escapes, "
        f"{len(canaries.hits)} network hits, {len(canaries.files_read())} file reads, {leaks} leaked pixels; "
        f"time-outs {counts['timeout']}, memory {counts['memory']}, crashes {counts['crash']}",
    )
    assert (escapes, canaries.hits, canaries.files_read(), leaks) == ([], [], [], 0)
    assert counts["drawn"] > EACH // 5 and set(counts) <= {"drawn", *REASONS}
    assert counts["crash"] == 0
