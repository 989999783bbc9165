"""Files that try to get out, to look in, or to take the machine with them; each with the outcomes that are right.

They are written for a given web server and folder of canaries. An outcome is a reason for a refusal, or "drawn" where
the nasty part is simply left out of the picture.
"""

from __future__ import annotations

from tests.envs.svg.canaries import Canaries
from tests.envs.svg.hostile_bombs import bombs, numbers
from tests.envs.svg.hostile_file import Hostile
from tests.envs.svg.hostile_references import references, styles
from tests.envs.svg.hostile_structure import elements, encodings, entities, odd_texts, structure

MAKERS = (entities, structure, elements, references, styles, bombs, numbers, encodings, odd_texts)


def hostile_files(canaries: Canaries) -> list[Hostile]:
    """All of them; names are distinct."""
    return [hostile for maker in MAKERS for hostile in maker(canaries)]
