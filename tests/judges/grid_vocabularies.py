"""The words and ids of the two grid games, for tests of the rule judge."""

from __future__ import annotations

from agentrl.envs.grid.claims import FROZENLAKE, SOKOBAN
from agentrl.judges.grammar.vocabulary import vocabulary_of

assert SOKOBAN.relations is not None and FROZENLAKE.relations is not None
ROOMS, LAKES = SOKOBAN.relations, FROZENLAKE.relations
ROOM_WORDS, LAKE_WORDS = vocabulary_of(ROOMS), vocabulary_of(LAKES)
ROOM_ID, LAKE_ID = "agentrl/Sokoban-Text-v0", "agentrl/FrozenLake-Text-v0"
