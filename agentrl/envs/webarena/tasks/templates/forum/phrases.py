"""What people want to post: texts for the tasks of the forum that write something."""

from __future__ import annotations

from itertools import product

from agentrl.envs.webarena.sites.forum.content import contents

BIOGRAPHIES = [
    f"{who} {what}"
    for who, what in product(
        ("Chemist between two jobs,", "Amateur astronomer,", "Night owl and baker,", "Backend developer,",
         "Part-time beekeeper,", "Proud parent of twins,", "Retired sailor,", "Graduate student,"),
        ("open to remote work", "based in Harwick", "always up for a chat", "new to this place",
         "writing a novel on the side", "please send book tips", "offline on weekends"),
    )
]  # fmt: skip
COMMENTS = (
    "Thank you, this was exactly what I was looking for", "I tried it last week and it did not work for me",
    "Could you share more details about this", "Please keep us posted on how it goes",
    "My experience was the opposite, sadly", "Saved this thread for my next weekend",
    "Great write-up, I learned something new today", "Is there a cheaper option that you would recommend",
    "I would love to see a picture of the result", "This deserves far more attention than it gets",
)  # fmt: skip
ADDED_LINES = (
    "Update: thank you all for the helpful answers", "Edit: the question has been answered",
    "Each of your replies has been read twice",
    "Update: I changed my mind after a second look", "Edit: fixed two typos and one wrong number",
    "I will report back next month",
)  # fmt: skip
MESSAGES = (
    "Hi, may I quote your post in our newsletter?", "Thanks for your post, it saved me a lot of time.",
    "Are you going to the meetup on Saturday?", "Would you like to join our reading group?",
    "I have a follow-up question, do you have a minute?", "Your advice worked, thank you so much!",
)  # fmt: skip
DESCRIPTIONS = tuple(
    f"{start} {end}"
    for start, end in product(
        ("A friendly place for", "Questions, pictures and stories about", "Everything worth knowing about",
         "Where beginners and experts talk about", "Weekly threads and reviews on"),
        ("people who care about quality", "our favourite pastime", "small joys of everyday life",
         "gear, routes and routines", "trying new things"),
    )
)  # fmt: skip
NEW_FORUMS = tuple(
    (name, description, parts)
    for (name, parts), description in product(
        (("sci_fi", ("New", "Classic", "Movies")), ("board_games", ("Strategy", "Party", "Solo")),
         ("urban_sketching", ("Ink", "Watercolor", "Meetups")), ("night_trains", ("Routes", "Tickets", "Reviews")),
         ("fermentation", ("Pickles", "Kombucha", "Bread")), ("home_labs", ("Servers", "Networks", "Backups")),
         ("bird_watching", ("Sightings", "Feeders", "Lenses")), ("slow_fashion", ("Mending", "Thrift", "Fabrics")),
         ("cold_plunge", ("Lakes", "Routines", "Safety")), ("indie_comics", ("Reviews", "Artists", "Conventions")),
         ("tea_lovers", ("Green", "Black", "Teaware"))),
        ("A new home for enthusiasts", "Welcome to beginners and experts", "Share what you made and learned",
         "News, questions and recommendations"),
    )
)  # fmt: skip
# Names of forums that do not exist, each near to one that does.
MISSING_FORUMS = (
    "cars", "chess", "Knitting", "astrology", "boston", "camping", "cycling", "dogs", "fishing", "Hiking", "languages",
    "lego", "magic", "motorcycles", "opera", "painting", "philosophy", "podcasts", "poetry", "RealEstate", "robotics",
    "sailing", "skiing", "sports", "Statistics", "theatre", "vegan", "woodworking",
)  # fmt: skip
# Forum -> how one would describe it without its name, and questions that belong there.
FITTING = {
    "books": ("novels and reading", ("which short novel suits a long flight", "is it bad to write in the margins")),
    "movies": ("films", ("which film has the best final scene", "do you stay for the credits")),
    "television": ("TV series", ("which series ended at the right time", "best pilot episode ever made")),
    "Music": ("albums and concerts", ("which album sounds best on vinyl", "earplugs for small concerts")),
    "gaming": ("video games", ("which game do you replay every year", "best game to play with a six-year-old")),
    "consoles": ("gaming consoles", ("is last year's console still a good buy", "how loud is your console")),
    "headphones": ("headphones", ("headphones for people with glasses", "how long do ear pads last")),
    "programming": ("software development", ("how do you name branches", "is pair programming worth the time")),
    "MachineLearning": ("machine learning research", ("how many seeds do you report", "best small model for a laptop")),
    "space": ("astronomy and spaceflight", ("when is the next lunar eclipse", "first telescope for a child")),
    "history": ("history", ("how did people keep food cool before ice boxes", "best archive for family letters")),
    "Cooking": ("recipes and cooking", ("how do I keep rice from sticking", "what can I cook with two leeks")),
    "Baking": ("bread and cakes", ("why does my bread have a thick crust", "can I freeze sourdough starter")),
    "Coffee": ("coffee", ("how fine should I grind for a moka pot", "does water temperature really matter")),
    "gardening": ("gardening", ("when should I prune an old rose", "which herbs survive on a north balcony")),
    "DIY": ("home repairs and building things", ("how do I hang a shelf on plasterboard", "best glue for old chairs")),
    "personalfinance": ("saving and budgeting", ("how large should an emergency fund be", "is a joint account wise")),
    "relationship_advice": (
        "relations between partners, family and friends",
        ("how do I apologise after a silly fight", "should I lend money to my brother"),
    ),
    "running": ("jogging and races", ("is car exhaust bad for runners", "how do I start with trail races")),
    "travel": ("trips abroad", ("is a rail pass worth it for two weeks", "how do you pack for three climates")),
    "nyc": ("New York", ("do I need a car with two kids in Queens", "quiet park for reading in Harlem")),
    "pittsburgh": ("Pittsburgh", ("best bridge for a sunrise photo", "where to park near the incline")),
}  # fmt: skip
QUESTIONS = (
    "What should a beginner know about {}?", "Who else here keeps coming back to {}?",
    "What is the most common mistake with {}?", "Has {} ever disappointed you?", "What comes after {} for you?",
)  # fmt: skip


def things() -> list[tuple[str, str]]:
    """(forum, something that the forum talks about)."""
    return [
        (content.name, subject[1] if content.name == "pics" else subject[0])
        for content in contents()
        for subject in content.subjects[:8]
    ]


def questions() -> list[tuple[str, str]]:
    """(forum, question) about things that the forum talks about."""
    return [(forum, QUESTIONS[number % len(QUESTIONS)].format(thing)) for number, (forum, thing) in enumerate(things())]
