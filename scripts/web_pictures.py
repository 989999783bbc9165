"""Takes the pictures of the web sites for the documentation: all five with the Chromium of this machine, and one page
with marks as agents see it, which needs no browser.

python scripts/web_pictures.py [marks]
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
PAGES = {
    "shopping": "/clothing-shoes-jewelry.html",
    "admin": "/admin/sales/order/",
    "forum": "/f/books",
    "code": "/tidewater-labs/tide-tables",
    "map": "/search?query=museum",
}
SIZE, SMALL, GAP = (1280, 900), (640, 450), 10


def take(url: str, chromium: str, path: Path, profile: str) -> Image.Image:
    """The page as Chromium shows it once its font has come."""
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--virtual-time-budget=5000"]
    size = f"--window-size={SIZE[0]},{SIZE[1]}"
    command = [chromium, *flags, f"--user-data-dir={profile}", size, f"--screenshot={path}", url]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    return Image.open(path).convert("RGB").resize(SMALL, Image.Resampling.LANCZOS)


def sheet(pictures: list[Image.Image]) -> Image.Image:
    """Two columns."""
    rows = (len(pictures) + 1) // 2
    size = 2 * SMALL[0] + 3 * GAP, rows * SMALL[1] + (rows + 1) * GAP
    paper = Image.new("RGB", size, (120, 126, 134))
    for number, picture in enumerate(pictures):
        left = GAP + (number % 2) * (SMALL[0] + GAP)
        if number == len(pictures) - 1 and len(pictures) % 2:
            left = (size[0] - SMALL[0]) // 2
        paper.paste(picture, (left, GAP + number // 2 * (SMALL[1] + GAP)))
    return paper


def take_marked() -> None:
    """Write `docs/_static/webarena-marks.png`, a page of the shop as the Visual kind shows it."""
    from agentrl.envs.webarena.env import WebArenaLiteEnv
    from agentrl.envs.webarena.sites.places import PLACES, cookies

    env = WebArenaLiteEnv(kind="visual")
    env.backend.start([PLACES["shopping"].origin + PAGES["shopping"]], cookies(["shopping"]))
    picture = Image.fromarray(env.picture.take(env.backend))
    picture.quantize(128).save(ROOT / "docs" / "_static" / "webarena-marks.png", optimize=True)


def main() -> int:
    """Serve the sites, look at them, write `docs/_static/webarena.png`."""
    take_marked()
    if sys.argv[1:] == ["marks"]:
        return 0
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        print("there is no Chromium on this machine", file=sys.stderr)
        return 1
    command = [sys.executable, "-m", "agentrl.cli", "site", "webarena", "--port", "0", "--json"]
    with tempfile.TemporaryDirectory() as folder, subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as site:
        assert site.stdout is not None
        try:
            port = urlsplit(json.loads(site.stdout.readline())["url"]).port
            urls = [f"http://{host}.localhost:{port}{page}" for host, page in PAGES.items()]
            pictures = [take(url, chromium, Path(folder, "page.png"), folder) for url in urls]
        finally:
            site.terminate()
    sheet(pictures).quantize(256).save(ROOT / "docs" / "_static" / "webarena.png", optimize=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
