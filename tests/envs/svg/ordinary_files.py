"""SVG that a well-meaning author writes, a little of everything."""

from __future__ import annotations

NS = 'xmlns="http://www.w3.org/2000/svg"'


def svg(content: str, attributes: str = 'viewBox="0 0 24 24"') -> str:
    """A whole file around some elements."""
    return f"<svg {NS} {attributes}>{content}</svg>"


ORDINARY: dict[str, str] = {
    "rectangle": svg('<rect x="2" y="3" width="10" height="8" rx="2" fill="tomato"/>'),
    "strokes": svg('<path d="M3 12h18M12 3v18" stroke="currentColor" stroke-width="2" stroke-linecap="round"/>'),
    "circles": svg(
        '<circle cx="12" cy="12" r="9" fill="#1e9999"/><ellipse cx="12" cy="12" rx="4" ry="2" fill="gold"/>'
    ),
    "polygon": svg('<polygon points="12,2 22,22 2,22" fill="none" stroke="green"/><polyline points="1 1 5 5 9 1"/>'),
    "arc": svg('<path d="M4 12a8 8 0 1 1 16 0 8 8 0 0 1-16 0z" fill="#abc"/>'),
    "group": svg(
        '<g transform="translate(4 4) rotate(30) scale(.5)"><rect width="9" height="9"/><line x2="9" y2="9"/></g>'
    ),
    "gradient": svg(
        '<defs><linearGradient id="g" x1="0" x2="1"><stop offset="0%" stop-color="red"/>'
        '<stop offset="1" stop-color="rgb(0, 0, 255)" stop-opacity=".5"/></linearGradient></defs>'
        '<rect width="24" height="24" fill="url(#g)"/>'
    ),
    "radial": svg(
        '<radialGradient id="r"><stop/><stop offset="1" stop-color="#fff"/></radialGradient>'
        '<circle r="20" fill="url(#r)"/>'
    ),
    "pattern": svg(
        '<pattern id="p" width="4" height="4" patternUnits="userSpaceOnUse">'
        '<rect width="2" height="2" fill="blue"/></pattern>'
        '<rect width="24" height="24" fill="url(#p)"/>'
    ),
    "rule in a pattern": svg(
        "<style>rect{fill:url(#p)} .b{fill:blue}</style>"
        '<pattern id="p" width="4" height="4" patternUnits="userSpaceOnUse"><circle class="b" r="2"/></pattern>'
        '<rect width="24" height="24"/>'
    ),
    "mask": svg(
        '<mask id="m"><circle cx="12" cy="12" r="8" fill="#fff"/></mask><rect width="24" height="24" mask="url(#m)"/>'
    ),
    "clip": svg(
        '<clipPath id="c"><circle cx="12" cy="12" r="8"/></clipPath>'
        '<g clip-path="url(#c)"><rect width="24" height="24"/></g>'
    ),
    "marker": svg(
        '<marker id="a" viewBox="0 0 4 4" markerWidth="4" markerHeight="4" orient="auto">'
        '<path d="M0 0L4 2L0 4z"/></marker>'
        '<path d="M2 2L12 12L22 2" fill="none" stroke="#000" marker-end="url(#a)"/>'
    ),
    "use": svg(
        '<defs><g id="u"><rect width="4" height="4"/></g></defs>'
        '<use xlink:href="#u" x="3"/><use href="#u" y="9" fill="red"/>',
        'xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 24 24"',
    ),
    "symbol": svg(
        '<symbol id="s" viewBox="0 0 2 2"><circle cx="1" cy="1" r="1"/></symbol><use href="#s" width="9" height="9"/>'
    ),
    "text": svg(
        '<text x="2" y="14" font-size="8" font-family="\'DejaVu Sans\', sans-serif">A<tspan dy="2">b</tspan> c</text>'
    ),
    "style": svg(
        "<style>/* a */ .a{fill:#f00;stroke:blue!important} #b > rect { opacity: .5 } @media print { .a { fill: red } }"
        '</style><rect class="a" width="9" height="9"/><g id="b"><rect width="4" height="4"/></g>'
    ),
    "inline style": svg(
        '<rect width="9" height="9" style="fill: url(#none) red; stroke-width: 2px; -inkscape-stroke: none"/>'
    ),
    "filter": svg(
        '<filter id="f"><feGaussianBlur stdDeviation="2"/><feOffset dx="2"/></filter>'
        '<rect width="9" height="9" filter="url(#f)"/>'
    ),
    "dashes": svg('<path d="M0 12h24" stroke="red" stroke-dasharray="2 1.5" stroke-dashoffset="1"/>'),
    "doctype": '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" '
    '"http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">\n<!-- made by hand -->\n'
    + svg("<title>a</title><desc>b</desc><rect width='9' height='9'/>", 'width="24" height="24" version="1.1"'),
    "editor": svg(
        '<sodipodi:namedview pagecolor="#fff"><inkscape:grid/></sodipodi:namedview>'
        "<metadata><rdf:RDF><a/></rdf:RDF></metadata>"
        '<g inkscape:label="x" data-name="y" aria-hidden="true" onclick="z()"><rect width="9" height="9"/></g>',
        'xmlns:sodipodi="http://s.example" xmlns:inkscape="http://i.example" xmlns:rdf="http://r.example" '
        'viewBox="0 0 24 24"',
    ),
    "prefix": '<s:svg xmlns:s="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><s:rect width="4" height="4"/></s:svg>',
    "exponents": svg('<path d="M1e1 1.2E1l-5e-1-6.5 9.5 2z" transform="matrix(1 0 0 1 1e-7 0)"/>'),
    "units": svg(
        '<rect x="1mm" y="10%" width="2em" height="6px" stroke="red" stroke-width="1pt"/>', 'width="48pt" height="100%"'
    ),
    "animated": svg('<rect width="9" height="9"><animate attributeName="x" values="0;9" dur="1s"/></rect>'),
    "nested": svg('<svg x="4" y="4" width="9" height="9" viewBox="0 0 3 3"><rect width="2" height="2"/></svg>'),
    "switch": svg('<switch><rect width="5" height="5" systemLanguage="zz"/><rect width="9" height="9"/></switch>'),
    "characters": svg('<text x="1" y="9" font-size="6" xml:space="preserve">&lt;a&gt; &amp;  é &#233; 漢</text>'),
}
# What models write and the renderer alone would not draw, or not as it was meant.
HABITS: dict[str, str] = {
    "missing marker": svg('<path d="M2 2h9" stroke="red" marker-end="url(#arrow)"/>'),
    "opacity in per cent": svg('<rect width="9" height="9" fill-opacity="50%"/>'),
    "no namespace": '<svg viewBox="0 0 24 24"><style>rect{fill:red}</style><rect width="9" height="9"/></svg>',
    "undeclared xlink": svg('<rect id="a" width="9" height="9"/><use xlink:href="#a" x="9"/>'),
    "blank lines first": "\ufeff\n\n  <?xml version='1.0'?>" + svg('<rect width="9" height="9"/>'),
    "undeclared editor": f'<svg {NS} viewBox="0 0 9 9"><rect inkscape:label="a" width="9" height="9"/></svg>',
}
