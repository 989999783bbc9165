"""A search engine: BM25 over memory-mapped files, compatible with the Lucene set-up of the original WebShop."""

from __future__ import annotations

from agentrl.envs.common.search.analyzer import analyze
from agentrl.envs.common.search.build import RepairingIndex, build_index, kept_index, open_or_build
from agentrl.envs.common.search.index import Hit, Index
from agentrl.envs.common.search.segment import CatalogueDocuments, DocumentSource
from agentrl.envs.common.search.storage import IndexCorrupt

__all__ = [
    "CatalogueDocuments",
    "DocumentSource",
    "Hit",
    "Index",
    "IndexCorrupt",
    "RepairingIndex",
    "analyze",
    "build_index",
    "kept_index",
    "open_or_build",
]
