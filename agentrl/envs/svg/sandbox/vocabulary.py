"""Which elements and attributes pass the gate.

An attribute is let through only if the renderer reads it; all others are left out of what is drawn, so that nothing
hides in them. Elements are of three kinds: drawn ones, silent ones (they draw nothing; they are emptied but keep their
place, because selectors count siblings), and all the rest, for which the whole file is refused.
"""

from __future__ import annotations

SHAPES = frozenset({"circle", "ellipse", "line", "path", "polygon", "polyline", "rect"})
TEXTS = frozenset({"a", "text", "textPath", "tspan"})
GRADIENTS = frozenset({"linearGradient", "radialGradient"})
# Drawn only where something refers to them.
HIDDEN = frozenset({"clipPath", "defs", "filter", "marker", "mask", "pattern", "symbol", *GRADIENTS})
# What the renderer fills and strokes; a container too, though with an empty path.
PAINTED = SHAPES | TEXTS | {"svg", "use"}

FILTER_PARTS = frozenset(
    {
        *("feBlend", "feColorMatrix", "feComponentTransfer", "feComposite", "feConvolveMatrix", "feDiffuseLighting"),
        *("feDisplacementMap", "feDistantLight", "feDropShadow", "feFlood", "feFuncA", "feFuncB", "feFuncG"),
        *("feFuncR", "feGaussianBlur", "feMerge", "feMergeNode", "feMorphology", "feOffset", "fePointLight"),
        *("feSpecularLighting", "feSpotLight", "feTile", "feTurbulence"),
    }
)
DRAWN = SHAPES | TEXTS | HIDDEN | FILTER_PARTS | {"svg", "g", "use", "switch", "stop", "style"}
SILENT = frozenset(
    {
        *("title", "desc", "metadata", "view"),
        *("animate", "animateColor", "animateMotion", "animateTransform", "set", "mpath", "discard"),
    }
)


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


# Name -> how its value is checked (see values.py).
ATTRIBUTES: dict[str, str] = {
    **dict.fromkeys(_names("d points"), "geometry"),
    **dict.fromkeys(_names("fill stroke"), "paint"),
    **dict.fromkeys(_names("clip-path mask filter marker marker-start marker-mid marker-end"), "target"),
    **dict.fromkeys(_names("font-family font"), "font"),
    **dict.fromkeys(_names("id class type requiredFeatures requiredExtensions systemLanguage"), "name"),
    **dict.fromkeys(
        _names(
            """
            x y width height rx ry r cx cy fx fy x1 x2 y1 y2 dx dy rotate offset startOffset refX refY orient
            markerWidth markerHeight markerUnits preserveAspectRatio transform transform-origin gradientTransform
            patternTransform gradientUnits patternUnits patternContentUnits maskUnits clipPathUnits primitiveUnits
            spreadMethod mode opacity fill-opacity stroke-opacity stop-opacity flood-opacity color stop-color
            flood-color fill-rule stroke-width stroke-linecap stroke-linejoin stroke-miterlimit stroke-dashoffset
            stroke-dasharray display visibility overflow clip shape-rendering text-rendering font-style font-weight
            font-size text-anchor letter-spacing dominant-baseline alignment-baseline display-anchor viewBox
            """
        ),
        "plain",
    ),
}
# Declarations reach the renderer exactly like attributes; these would change what is what.
PROPERTIES: dict[str, str] = {
    name: kind for name, kind in ATTRIBUTES.items() if kind != "name" and name == name.lower()
}
OUTLINES = ("d", "points")
LENGTHS = ("x1", "y1", "x2", "y2", "width", "height", "r", "rx", "ry")
GEOMETRY = frozenset({*OUTLINES, *LENGTHS})  # how long an outline is
MARKERS = ("marker", "marker-start", "marker-mid", "marker-end")
