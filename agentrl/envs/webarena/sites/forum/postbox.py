"""What waits for the agent: conversations and notifications."""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random
from typing import Any

from agentrl.envs.webarena.sites.forum.discussions import Discussions
from agentrl.envs.webarena.sites.forum.people import FOUNDERS, People

NOTIFICATIONS = 12
CONVERSATIONS = (
    (
        "Hi! Is the Millbrook run on Saturday still happening? I could bring two more people.",
        "Yes, nine o'clock at the bridge. Bring them!",
        "Great, see you there.",
    ),
    ("Thanks for approving my post in Coffee so quickly.", "No problem, good write-up."),
    ("Would you swap your copy of Nine Lanterns for The Quiet Signal? Mine is a paperback, a bit worn.",),
    (
        "Your comment about night trains saved my trip. We got the last two beds for 64 dollars.",
        "Glad to hear that. How was the breakfast?",
    ),
    ("The link in the running wiki is broken. Who can fix it?", "I can, thanks for telling me.", "It works now."),
    ("We are looking for a third moderator in nyc. Interested? It is about two hours a week.",),
    (
        "Do you still sell the Handkraft grinder? I can pay 45 dollars and pick it up.",
        "Sorry, it is gone since Tuesday.",
    ),
)


def messages(rng: Random, people: People) -> dict[str, list[dict[str, Any]]]:
    """Conversations of the agent with other members."""
    threads, texts = [], []
    moment = datetime(2025, 3, 2, 18, 20, 0)
    for number, conversation in enumerate(CONVERSATIONS, start=1):
        other = people.members[rng.randrange(1, FOUNDERS - 1)]
        threads.append({"id": number, "sender_id": other.id, "receiver_id": people.agent.id})
        moment += timedelta(days=rng.randint(6, 13), minutes=rng.randint(0, 900))
        for place, body in enumerate(conversation):
            author = other if place % 2 == 0 else people.agent
            when = moment + timedelta(minutes=place * rng.randint(12, 400))
            texts.append({"thread_id": number, "sender_id": author.id, "body": body, "created_at": when.isoformat(" ")})
    return {"message_thread": threads, "message": texts}


def notifications(people: People, discussions: Discussions) -> list[dict[str, Any]]:
    """The newest answers to what the agent wrote."""
    agent = people.agent.id
    answers = [
        comment
        for comment, submission in discussions.comments
        if (comment.parent.author.id if comment.parent is not None else submission.author.id) == agent
        and comment.author.id != agent
    ]
    return [
        {"user_id": agent, "comment_id": comment.id, "message_id": None, "created_at": comment.created.isoformat(" ")}
        for comment in answers[-NOTIFICATIONS:]
    ]
