"""The Chromium of the system: where it is, and how it is started."""

from __future__ import annotations

import os
import shutil

from agentrl.core.errors import ConfigError

VARIABLE = "AGENTRL_CHROMIUM"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# A port on which nothing listens: what does not belong to a window, such as Chromium's own requests, goes there.
NOWHERE = "http://127.0.0.1:9"
THROUGH_PROXY = "<-loopback>"  # in a list of exceptions: not even this machine is asked directly
# Defaults of Playwright's that let one page harm the others: a click opens any number of windows, and a page that
# floods its history keeps the whole browser busy.
UNWANTED = ("--disable-popup-blocking", "--disable-ipc-flooding-protection")
# Of two such lists Chromium reads the last one: Playwright's own is contained in ours. RenderDocument makes every page
# anew down to its layers, even on the same site, which doubles the time of a step.
_OFF = (
    "AutofillServerCommunication", "AvoidUnnecessaryBeforeUnloadCheckSync", "BackForwardCache",
    "DestroyProfileOnBrowserClose", "DnsOverHttps", "HttpsFirstBalancedModeAutoEnable", "HttpsUpgrades",
    "InterestFeedContentSuggestions", "LensOverlay", "MediaRouter", "NavigationPredictor", "NetworkPrediction",
    "NetworkTimeServiceQuerying", "OptimizationHints", "PaintHolding", "PreconnectToSearch", "Prerender2",
    "RenderDocument", "SpareRendererForSitePerProcess", "ThirdPartyStoragePartitioning", "Translate",
    "WebRtcHideLocalIpsWithMdns",
)  # fmt: skip
FLAGS = (
    "--disable-gpu",
    "--disable-dev-shm-usage",  # containers have little of it
    "--disable-smooth-scrolling",
    "--font-render-hinting=none",
    "--force-device-scale-factor=1",
    "--hide-scrollbars",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-sync",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-pings",
    "--disable-quic",
    "--dns-prefetch-disable",
    # Without a proxy that speaks UDP, peers have no way out.
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-features=" + ",".join(_OFF),
)


def find_chromium() -> str:
    """The path of the system's Chromium; `ConfigError` says how to install one."""
    chosen = os.environ.get(VARIABLE)
    if chosen:
        path = shutil.which(chosen)
        if path is None:
            raise ConfigError(f"{VARIABLE} must be the path of a Chromium that can be run; got {chosen!r}")
        return path
    for name in NAMES:
        path = shutil.which(name)
        if path is not None:
            return path
    raise ConfigError(
        f"Chromium is not installed; on Debian run: sudo apt-get install -y chromium (or set {VARIABLE} to its path)"
    )


def flags() -> list[str]:
    """The command line; without the sandbox for root, which Chromium would refuse."""
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    return [*FLAGS, *(["--no-sandbox"] if root else [])]
