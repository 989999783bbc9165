"""How the package is cut into files and functions: `python scripts/shape.py [FOLDER]`, one row for each part.

A function counts as called once if its name occurs once in its own file, outside of its definition. Public and nested
functions are counted as well, so that renaming a helper or moving it into its caller changes nothing. Public functions
count only if no other file of the folder or of `tests`, `benchmarks`, `scripts`, `docs` and `examples` names them.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter, defaultdict
from pathlib import Path
from statistics import median, quantiles

ROOT = Path(__file__).resolve().parent.parent
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def part_of(path: Path) -> str:
    """The folder of the package that a file belongs to; families are parts of their own."""
    parts = path.parts[1:-1]
    return "/".join(parts[:2]) if parts[:1] == ("envs",) else parts[0] if parts else "."


def names_in(tree: ast.AST) -> Counter[str]:
    """How often each identifier is used, definitions apart."""
    names: Counter[str] = Counter()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            names[node.id] += 1
        elif isinstance(node, ast.Attribute):
            names[node.attr] += 1
        elif isinstance(node, ast.ImportFrom):
            names.update(alias.name for alias in node.names)
    return names


def circles(modules: dict[str, set[str]]) -> list[tuple[str, ...]]:
    """Pairs of parts (folders of the package, and folders of a family) that import each other, over their files."""
    folders: dict[str, set[str]] = defaultdict(set)
    for module, imported in modules.items():
        for other in imported:
            mine, theirs = module.split(".")[1:-1], other.split(".")[1:-1]
            shared = next((i for i, (a, b) in enumerate(zip(mine, theirs, strict=False)) if a != b), None)
            if shared is not None:
                folders[".".join(mine[: shared + 1])].add(".".join(theirs[: shared + 1]))
    return sorted({tuple(sorted((a, b))) for a, others in folders.items() for b in others if a in folders.get(b, ())})


def main(package: str = "agentrl") -> None:
    """Print the table."""
    trees = {path.relative_to(ROOT): ast.parse(path.read_text()) for path in sorted((ROOT / package).rglob("*.py"))}
    used = {path: names_in(tree) for path, tree in trees.items()}
    elsewhere: Counter[str] = Counter(name for names in used.values() for name in names)
    for folder in ("tests", "benchmarks", "scripts", "docs", "examples"):
        for path in (ROOT / folder).rglob("*.py"):
            elsewhere.update(set(names_in(ast.parse(path.read_text()))))
    rows: dict[str, Counter[str]] = defaultdict(Counter)
    lengths: dict[str, list[int]] = defaultdict(list)
    for path, tree in trees.items():
        lines = len((ROOT / path).read_text().splitlines())
        functions = [node for node in ast.walk(tree) if isinstance(node, FUNCTIONS)]
        nested = {inner for outer in functions for inner in ast.walk(outer) if inner is not outer}
        once = Counter(lines=lines, files=1)
        private = {node.name for node in functions if node.name.startswith("_") and not node.name.startswith("__")}
        once["once"] = sum(used[path][name] == 1 for name in private)
        for node in functions:
            if node.name not in private and used[path][node.name] == 1 and not node.decorator_list:
                if node in nested:
                    once["nested"] += 1
                elif elsewhere[node.name] == 1:
                    once["public"] += 1
        for part in (part_of(path), "total"):
            rows[part].update(once)
            rows[part]["longest"] = max(rows[part]["longest"], lines)
            lengths[part] += [(node.end_lineno or node.lineno) - node.lineno + 1 for node in functions]
    columns = ("files", "lines", "longest", "once", "public", "nested")
    print(f"{'part':22}", *(f"{column:>8}" for column in (*columns, "per 1000", "median", "p90")))
    for part, row in sorted(rows.items(), key=lambda item: (item[0] == "total", item[0])):
        found = lengths[part] or [0]
        high = quantiles(found, n=10)[-1] if len(found) > 1 else found[0]
        rate = 1000 * row["once"] / max(1, row["lines"])
        print(
            f"{part:22}", *(f"{row[column]:8}" for column in columns), f"{rate:8.1f} {median(found):8.0f} {high:8.0f}"
        )
    modules: dict[str, set[str]] = {}
    for path, tree in trees.items():
        name = ".".join(path.with_suffix("").parts)
        imports = [n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.module and n.level == 0]
        modules[name] = {f"{module}.x" for module in imports if module.startswith(f"{package}.")}
    found = circles(modules)
    print(f"folders that import each other: {len(found)}", *(" <-> ".join(pair) for pair in found), sep="\n  ")


if __name__ == "__main__":
    main(*sys.argv[1:])
