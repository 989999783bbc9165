"""Templates of the shop that fill in forms: reviews, addresses, the account, messages."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from agentrl.envs.webarena.sites.store.people import AGENT, words
from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.template import (
    Act,
    Answer,
    Check,
    Click,
    Fill,
    On,
    Parameters,
    Template,
)
from agentrl.envs.webarena.tasks.templates.shop.parts import (
    SHOP,
    SITES,
    about,
    on_product,
    orders,
    pages,
    products,
    search_for,
    store,
    text_of,
    to_account,
)

MY_REVIEWS = f"{SHOP}/review/customer/"
NICKNAMES = ("Emma", "EmmaL", "Lopez", "E. Lopez", "Em from San Mateo")
RATING, AUTHOR = "func:shopping_get_sku_latest_review_rating", "func:shopping_get_sku_latest_review_author"

# ---------------------------------------------------------------------- reviews


def _reviews(world: World) -> Iterator[dict[str, Any]]:
    titles = words("reviews.toml")["titles"]
    for row in products(world, 6):
        stars = 1 + row["id"] // 15 % 5
        texts = titles[str(stars)]
        yield {
            **about(row), "sku": row["sku"], "stars": stars, "nickname": NICKNAMES[row["id"] % len(NICKNAMES)],
            "title": texts[row["id"] % len(texts)].format(noun=row["kind"], brand=row["brand"]),
        }  # fmt: skip


def _review_solution(given: Parameters) -> list[On]:
    acts = [
        Check(f"#Rating_{given['stars']}"),
        Fill("#nickname_field", given["nickname"]),
        Fill("#summary_field", given["title"]),
        Fill("#review_field", given["title"]),
        Click("button.submit"),
    ]
    return [
        *search_for(given["phrase"], given["url_key"]),
        on_product(given["url_key"], acts),
        on_product(given["url_key"], [Answer()], when=_has_reviewed),
    ]


def _has_reviewed(world: World) -> bool:
    return bool(store(world).changes.get("review"))


REVIEW = Template(
    "shop-write-review", SITES, "fill-form",
    (
        "Write a review of \"{product}\": {stars} of 5 stars, nickname \"{nickname}\", summary and text \"{title}\".",
        "Rate \"{product}\" {stars} out of 5 as \"{nickname}\". Use \"{title}\" as the summary and as the review.",
    ),
    _reviews,
    lambda given: pages(
        ("last", f"{RATING}('{given['sku']}')", {"exact_match": str(20 * given["stars"])}),
        ("last", f"{AUTHOR}('{given['sku']}')", {"exact_match": given["nickname"]}),
        (MY_REVIEWS, text_of("#my-reviews-table"), {"must_include": [given["product"], given["title"]]}),
    ),
    _review_solution,
)  # fmt: skip

# ---------------------------------------------------------------------- account


def _new_addresses(world: World) -> Iterator[dict[str, Any]]:
    rng, texts = Random("new addresses"), words("people.toml")
    for _ in range(150):
        city, region, postcode, area = rng.choice(texts["cities"])
        yield {
            "street": f"{rng.randrange(2, 990)} {rng.choice(texts['streets'])}", "city": city, "region": region,
            "postcode": postcode, "telephone": f"{area}555{rng.randrange(100, 9999):04}",
        }  # fmt: skip


def _address_acts(given: Parameters) -> list[Act]:
    fields = {
        "telephone": "#telephone",
        "street": "#street_1",
        "city": "#city",
        "region": "#region",
        "postcode": "#zip",
    }
    return [*(Fill(selector, given[name]) for name, selector in fields.items()), Click("button.save")]


def _has_address(given: Parameters) -> Any:
    return lambda world: bool(
        store(world).value("SELECT count(*) FROM address WHERE customer_id = ? AND street = ?", AGENT, given["street"])
    )


ADD_ADDRESS = Template(
    "shop-add-address", SITES, "fill-form",
    (
        "Add a new address to my address book: {street}, {city}, {region} {postcode}, phone {telephone}.",
        "I also live at {street}, {city}, {region} {postcode} (phone {telephone}). Put that into my address book.",
    ),
    _new_addresses,
    lambda given: pages((
        f"{SHOP}/customer/address/", text_of("#additional-addresses-table"),
        {"must_include": [given[name] for name in ("street", "city", "region", "postcode", "telephone")]},
    )),
    lambda given: [
        *to_account("/customer/address/"),
        On(r"/customer/address/$", [Click("a.add")]),
        On("/customer/address/new/", _address_acts(given)),
        On(r"/customer/address/$", [Answer()], when=_has_address(given)),
    ],
)  # fmt: skip

MOVE = Template(
    "shop-change-default-address", SITES, "edit-record",
    (
        "I have moved. Change my default shipping address to {street}, {city}, {region} {postcode}, phone {telephone}.",
        "Update the default shipping address of my account: {street}, {city}, {region} {postcode}, phone {telephone}.",
    ),
    lambda world: (
        {**row, "street": f"{row['street']}, Apt {place % 40 + 1}"} for place, row in enumerate(_new_addresses(world))
    ),
    lambda given: pages((
        f"{SHOP}/customer/address/", text_of(".box-address-shipping"),
        {"must_include": [given[name] for name in ("street", "city", "region", "postcode", "telephone")]},
    )),
    lambda given: [
        *to_account("/customer/address/"),
        On(r"/customer/address/$", [Click(".box-address-shipping a.edit")]),
        On("/customer/address/edit/", _address_acts(given)),
        On(r"/customer/address/$", [Answer()], when=_has_address(given)),
    ],
)  # fmt: skip


def _new_names(world: World) -> Iterator[dict[str, Any]]:
    rng, texts = Random("new names"), words("people.toml")
    for last in rng.sample(texts["last_names"], 90):
        yield {
            "lastname": last if rng.random() < 0.5 else f"Lopez-{last}",
            "firstname": rng.choice(("Emma", "Emilia", "Em")),
        }


def _is_renamed(given: Parameters) -> Any:
    return lambda world: store(world).value("SELECT lastname FROM customer WHERE id = ?", AGENT) == given["lastname"]


RENAME = Template(
    "shop-change-name", SITES, "edit-record",
    (
        "Change the name of my account to {firstname} {lastname}.",
        "I am called {firstname} {lastname} now. Update my account information.",
    ),
    _new_names,
    lambda given: pages((
        f"{SHOP}/customer/account/", text_of(".box-information"),
        {"must_include": [f"{given['firstname']} {given['lastname']}"]},
    )),
    lambda given: [
        *to_account("/customer/account/edit/"),
        On("/customer/account/edit/", [
            Fill("#firstname", given["firstname"]), Fill("#lastname", given["lastname"]), Click("button.save"),
        ]),
        On(r"/customer/account/$", [Answer()], when=_is_renamed(given)),
    ],
)  # fmt: skip

# ---------------------------------------------------------------------- messages

MESSAGE = "document.querySelector('[title=\"What\u2019s on your mind?\"]').value"
TROUBLES = {
    "refund": "I would like a refund for order {number}.",
    "exchange": "Please exchange the items of order {number} for new ones.",
    "question about the delivery": "When will order {number} be delivered?",
    "request for an invoice copy": "Please send me a copy of the invoice of order {number}.",
}


def _messages(world: World) -> Iterator[dict[str, Any]]:
    for order in orders(world):
        for what, text in TROUBLES.items():
            yield {"number": order["increment_id"], "what": what, "text": text.format(number=order["increment_id"])}


DRAFT = Template(
    "shop-draft-message", SITES, "fill-form",
    (
        "Draft a message in the shop's contact form ({what}): \"{text}\" Do not submit it yet, I want to check it.",
        "Fill in the contact form with this text, but do not send it: {text}",
    ),
    _messages,
    lambda given: {
        **pages(("last", MESSAGE, {"must_include": [given["text"]]})),
        "eval_types": ["program_html", "url_match"], "reference_url": f"{SHOP}/contact", "url_note": "GOLD in PRED",
    },
    lambda given: [
        On(SHOP, [Click("ul.footer a", "Contact Us")]),
        On("/contact/", [Fill("#comment", given["text"]), Answer()]),
    ],
)  # fmt: skip

WRITING = (REVIEW, ADD_ADDRESS, MOVE, RENAME, DRAFT)
