"""Does memory stay flat? Plays thousands of SVG episodes, good, bad and hostile answers mixed, and watches.

    python scripts/check_svg_memory.py --episodes 10000

Prints one line a sample and a JSON object at the end; exits with 1 when the memory of this process and its drawing
processes grew by more than `--most-growth` MB after the first tenth of the episodes. Needs psutil; takes minutes.
"""

from __future__ import annotations

import argparse
import json
import sys
import time

import gymnasium as gym
import numpy as np
import psutil

import agentrl  # noqa: F401  (registers the environments)

HOSTILE = (
    "",
    "```svg\n<svg/>\n```",
    "Here is the icon: <svg></svg>",
    "<svg><circle",
    "<svg><script>1</script></svg>",
    '<svg><image href="file:///etc/passwd"/></svg>',
    "<svg>" + "<g>" * 500 + "</g>" * 500 + "</svg>",
    '<svg viewBox="0 0 1 1"><rect width="1e300" height="nan"/></svg>',
    '<!DOCTYPE svg [<!ENTITY a "aaaa">]><svg>&a;</svg>',
    '<svg viewBox="0 0 100 100"><filter id="f"><feGaussianBlur stdDeviation="90"/></filter>'
    '<rect width="100" height="100" filter="url(#f)"/></svg>',
)


def answer(env: gym.Env, rng: np.random.Generator) -> str:
    """The target itself, a random drawing, or something bad."""
    luck = rng.random()
    if luck < 0.4:
        return env.unwrapped.oracle()  # pyright: ignore[reportAttributeAccessIssue]
    return HOSTILE[rng.integers(len(HOSTILE))] if luck > 0.8 else noisy(rng)


def noisy(rng: np.random.Generator) -> str:
    """A drawing that differs from all others."""
    x, y, r = rng.uniform(0, 100, 3)
    circle = f'<circle cx="{x:.3f}" cy="{y:.3f}" r="{r:.3f}" fill="#{rng.integers(2**24):06x}"/>'
    return f'<svg viewBox="0 0 100 100">{circle}</svg>'


def held() -> tuple[float, float, int]:
    """MB of this process, MB of its children, number of children."""
    me = psutil.Process()
    children = me.children(recursive=True)
    sizes = [child.memory_info().rss for child in children if child.is_running()]
    return me.memory_info().rss / 2**20, sum(sizes) / 2**20, len(sizes)


def main() -> int:
    """Play and watch."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=10_000)
    parser.add_argument("--image-size", type=int, default=128)
    parser.add_argument("--scorer", default="classical")
    parser.add_argument("--most-growth", type=float, default=30.0)
    options = parser.parse_args()
    scorers = [{"scorer": options.scorer, "weight": 5.0}]
    env = gym.make("agentrl/SVG-Visual-v0", image_size=options.image_size, scorers=scorers)
    rng, started, samples = np.random.default_rng(0), time.perf_counter(), []
    for episode in range(options.episodes):
        env.reset(seed=episode)
        over = False
        while not over:
            _, _, terminated, truncated, _ = env.step(answer(env, rng))
            over = terminated or truncated
        if (episode + 1) % max(1, options.episodes // 20) == 0:
            samples.append((episode + 1, *held()))
            print("episodes {}: {:.1f} MB, {:.1f} MB in {} processes".format(*samples[-1]), file=sys.stderr, flush=True)
    env.close()
    settled, last = samples[1], samples[-1]
    growth = last[1] + last[2] - settled[1] - settled[2]
    result = {"episodes": options.episodes, "seconds": time.perf_counter() - started, "settled_mb": settled[1:3]}
    result |= {"last_mb": last[1:3], "processes": last[3], "growth_mb": growth, "pass": growth <= options.most_growth}
    print(json.dumps(result))
    return 0 if result["pass"] else 1


if __name__ == "__main__":
    sys.exit(main())
