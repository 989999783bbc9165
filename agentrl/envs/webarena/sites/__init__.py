"""The embedded web sites: server-side applications over SQLite, answered in process or over HTTP."""
