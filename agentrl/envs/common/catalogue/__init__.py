"""A catalogue of products: what a product is, and one of any size generated from a seed."""

from agentrl.envs.common.catalogue.generated import GeneratedCatalogue
from agentrl.envs.common.catalogue.product import Catalogue, Product

__all__ = ["Catalogue", "GeneratedCatalogue", "Product"]
