"""Where products and goals come from: made from a seed, or read from the benchmark's own files (`official.py`)."""

from agentrl.envs.webshop.catalogue.generated import GeneratedCatalogue
from agentrl.envs.webshop.catalogue.interface import Catalogue

__all__ = ["Catalogue", "GeneratedCatalogue"]
