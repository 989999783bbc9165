"""A real browser behind a fence: one Chromium for the process, an isolated window for every episode."""

from agentrl.envs.common.browser.chromium import find_chromium
from agentrl.envs.common.browser.engine import Engine, engine
from agentrl.envs.common.browser.gateway import Answer, Fence, Gateway
from agentrl.envs.common.browser.tab import BrowserTab
from agentrl.envs.common.browser.window import Window

__all__ = ["Answer", "BrowserTab", "Engine", "Fence", "Gateway", "Window", "engine", "find_chromium"]
