"""What judges can score about a table: where each named thing is, and how far the drawer stands open."""

from __future__ import annotations

from agentrl.core.claims import Claims, Points, Value

TOLERANCE = 10.0  # millimetres on each axis, as in the VAGEN paper

TABLE = Claims(
    points=Points(
        ending="_position",
        tolerance=TOLERANCE,
        synonyms={
            "cube": "block box brick",
            "target": "goal marker mark disc disk spot circle area zone",
            "sphere": "ball",
            "drawer": "cabinet",
            "grey": "gray",
            "gray": "grey",
        },
    ),
    values=(Value("drawer_open_value", tolerance=TOLERANCE),),
)
