"""Pages that hang, flood, ask and crash. All have a link, or a button that starts the harm."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hostile_web import Reply, endless

Page = Callable[[dict[str, str]], Any]
LINK = '<p><a href="/calm">Calm</a></p>'
CALM = (
    "<title>Calm</title><p>All is well.</p><input name=kept><button onclick='count()'>0</button>"
    "<script>const button = document.querySelector('button');"
    "function count() { button.textContent = Number(button.textContent) + 1; }</script>"
)


def _script(text: str) -> Page:
    return lambda _: (
        f"<!doctype html><html><head><title>Nasty</title></head><body>{LINK}<script>{text}</script></body></html>"
    )


def _clicked(text: str) -> Page:
    """The script runs when the agent clicks."""
    return lambda _: (
        f"<!doctype html><html><body><button onclick='act()'>Go</button>{LINK}"
        f"<script>function act() {{ {text} }}</script></body></html>"
    )


def _workers(count: int, text: str) -> Page:
    return _script(
        f"const code = URL.createObjectURL(new Blob(['{text}']));for (let i = 0; i < {count}; i++) new Worker(code);"
    )


def _download(_: dict[str, str]) -> Reply:
    kind = {"content-type": "application/octet-stream", "content-disposition": "attachment; filename=x.exe"}
    return Reply(b"MZ" * 1000, headers=kind)


NASTY: dict[str, Page] = {
    # busy scripts
    "endless-script": _script("while (true) {}"),
    "endless-click": _clicked("while (true) {}"),
    "messages": _script("onmessage = () => { postMessage(0); postMessage(0); }; postMessage(0);"),
    "scrolling": _script(
        "document.body.style.height = '5000px';"
        "onscroll = () => { document.body.append(document.createElement('hr')); scrollBy(0, 1); }; scrollBy(0, 9);"
    ),
    "workers": _workers(8, "while (true) {}"),
    "console": _script("while (true) console.log('x'.repeat(200));"),
    "errors": _script("setInterval(() => { for (let i = 0; i < 500; i++) setTimeout(() => { throw i; }); }, 1);"),
    # memory and size
    "memory": _script("const kept = []; while (true) kept.push(new Array(1e6).fill(kept.length + 0.5));"),
    "50-megabytes": lambda _: f"<!doctype html>{LINK}<pre>" + "all work and no play " * 2_500_000 + "</pre>",
    "100000-elements": lambda _: LINK + "<p><a href=/calm>x</a></p>" * 50_000,
    "deep": lambda _: LINK + "<div>" * 20_000 + "deep",
    "canvas": _script(
        "const c = document.createElement('canvas'); c.width = c.height = 16384; document.body.append(c);"
        "c.getContext('2d').fillRect(0, 0, 9e4, 9e4);"
    ),
    "frames": _script(
        "for (let i = 0; i < 20 && top === self; i++)"
        "document.body.append(Object.assign(document.createElement('iframe'), {src: '/frames'}));"
    ),
    # dialogs and windows
    "dialogs": _script("while (true) { alert(1); confirm(2); prompt(3); }"),
    "beforeunload": _clicked("onbeforeunload = (e) => { e.preventDefault(); e.returnValue = 1; }; location = '/calm';"),
    "print": _clicked("while (true) print();"),
    "popups": _clicked("setInterval(() => open('/calm', '_blank'), 5);"),
    "full-screen": _clicked("document.body.requestFullscreen(); document.body.requestPointerLock();"),
    "permissions": _script(
        "navigator.geolocation.getCurrentPosition(() => 0); Notification.requestPermission();"
        "navigator.mediaDevices && navigator.mediaDevices.getUserMedia({video: true}).catch(() => 0);"
    ),
    "close": _script("close();"),
    # going elsewhere
    "history": _script("for (let i = 0; true; i++) history.pushState({}, '', '?' + i);"),
    "fragments": _script("let i = 0; setInterval(() => { for (let k = 0; k < 100; k++) location.hash = i++; });"),
    "redirects": lambda query: Reply("", 302, {"location": f"/redirects?n={int(query.get('n', 0)) + 1}"}),
    "refresh": lambda _: f'<meta http-equiv=refresh content="0">{LINK}',
    "reload": _script("location.reload();"),
    "schemes": _clicked(
        "for (const url of ['data:text/html,x', 'file:///etc/passwd', 'steam://run/1', 'mailto:a@b.example',"
        "URL.createObjectURL(new Blob(['x'], {type: 'text/html'}))]) location = url;"
    ),
    "crash": _script("location.href = 'chrome://crash';"),
    # answers
    "downloads": _script(
        "setInterval(() => { const a = document.createElement('a'); a.download = 'x.exe';"
        "a.href = URL.createObjectURL(new Blob(['x'])); a.click(); }, 20);"
    ),
    "download": _download,
    "never-ends": lambda _: endless(f"<!doctype html><title>Slow</title>{LINK}"),
    "hanging-parts": lambda _: f'{LINK}<img src="/never-ends"><script src="/never-ends"></script>',
    "requests": _script("setInterval(() => { for (let i = 0; i < 20; i++) fetch('/calm?' + Math.random()); }, 20);"),
    "wrong-type": lambda _: Reply(bytes(range(256)) * 100, headers={"content-type": "text/html; charset=utf-16"}),
    "sign-in": lambda _: Reply(f"Who are you?{LINK}", 401, {"www-authenticate": 'Basic realm="here"'}),
    "proxy-sign-in": lambda _: Reply(f"Who are you?{LINK}", 407, {"proxy-authenticate": 'Basic realm="here"'}),
}  # fmt: skip
PAGES: dict[str, Page] = {"/": lambda _: CALM, "/calm": lambda _: CALM}
PAGES |= {f"/{name}": page for name, page in NASTY.items()}

# Runs with the port of a listener: peers, QUIC and service workers.
PEERS = """
const there = '127.0.0.1:%d';
try {
  const inner = document.querySelector('iframe').contentWindow;
  const peer = new (window.RTCPeerConnection || inner.RTCPeerConnection)({iceServers: [
    {urls: 'stun:' + there}, {urls: 'turn:' + there + '?transport=tcp', username: 'a', credential: 'b'}]});
  peer.createDataChannel('x'); peer.createOffer().then((offer) => peer.setLocalDescription(offer));
} catch (error) { document.title = 'no peers'; }
try { new WebTransport('https://' + there); } catch (error) { /* as it should be */ }
const register = ServiceWorkerContainer.prototype.register;
register.call(navigator.serviceWorker, '/worker.js').then(() => document.body.append('registered'), () => 0);
navigator.serviceWorker.register('/worker.js').then((found) => found && document.body.append('registered'), () => 0);
fetch('/calm').then(() => document.body.append('finished'));
"""
