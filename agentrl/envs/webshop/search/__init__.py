"""The shop's search engine: BM25 over memory-mapped files, compatible with the Lucene set-up of the original."""

from __future__ import annotations

from agentrl.envs.webshop.search.analyzer import analyze
from agentrl.envs.webshop.search.build import build_index
from agentrl.envs.webshop.search.documents import CatalogueDocuments, DocumentSource
from agentrl.envs.webshop.search.index import Hit, Index
from agentrl.envs.webshop.search.repair import RepairingIndex, open_or_build
from agentrl.envs.webshop.search.storage import IndexCorrupt

__all__ = [
    "CatalogueDocuments",
    "DocumentSource",
    "Hit",
    "Index",
    "IndexCorrupt",
    "RepairingIndex",
    "analyze",
    "build_index",
    "open_or_build",
]
