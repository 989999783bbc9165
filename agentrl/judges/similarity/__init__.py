"""How alike two pictures are: `resolve("scorer", KIND)` finds these scorers.

Without any model: `msssim`, `edges`, `colours` and their mix `classical`. With torch: `stlpips` (real weights from a
package), `dino` and `dreamsim` (from a folder the user supplies). `default` is the best of those that need no folder.
"""

from agentrl.judges.similarity.classical import MultiScaleSimilarity

__all__ = ["MultiScaleSimilarity"]
