"""The family's row of agentrl's registry. `import agentrl` imports this module, so it holds nothing else."""

from agentrl.registry import Bench, Entry, Family, KitBudget, Part, Site

ROW = Family(
    name="guess",
    envs=(
        Entry(
            id="guess/Guess-Text-v0",
            kind="Text",
            entry_point="guess_family.env:GuessEnv",
            summary="Guess a number from the answers higher and lower.",
        ),
    ),
    policies={
        "guess-binary": Part("guess_family.players:BinarySearch", "halves what is left, from the answers alone"),
        "guess-constant": Part("guess_family.players:Constant", "always says 50"),
    },
    sites={"guess": Site("guess_family.site:make_site", "guess a number yourself")},
    benches={"guess": Bench("guess_family.bench:run", "turns per second")},
    setups={"guess": Part("guess_family.setup:count_tasks", "count the tasks of each split")},
    kit=KitBudget(episodes=5, hostile_replies=200),
)
