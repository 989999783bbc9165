"""Templates of the shop that fill in forms: reviews, addresses, the account, messages."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from agentrl.envs.webarena.sites.store.people import AGENT, words
from agentrl.envs.webarena.sites.store.reviews import title_of
from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.template import Answer, Check, Click, Fill, On, Parameters, Template, template
from agentrl.envs.webarena.tasks.templates.shop.kit import (
    REVIEWS,
    SHOP,
    SITES,
    about,
    on_product,
    orders,
    product_page,
    products,
    store,
    to_account,
)
from agentrl.envs.webarena.tasks.vocabulary import Row, both, done, ends_at, exists, shows, text_of

NICKNAMES = ("Emma", "EmmaL", "Lopez", "E. Lopez", "Em from San Mateo")
RATING, AUTHOR = "func:shopping_get_sku_latest_review_rating", "func:shopping_get_sku_latest_review_author"
# Parts of an address, with their fields.
ADDRESS = {"street": "#street_1", "city": "#city", "region": "#region", "postcode": "#zip", "telephone": "#telephone"}
MESSAGE = "document.querySelector('[title=\"What\u2019s on your mind?\"]').value"
TROUBLES = {
    "refund": "I would like a refund for order {number}.",
    "exchange": "Please exchange the items of order {number} for new ones.",
    "question about the delivery": "When will order {number} be delivered?",
    "request for an invoice copy": "Please send me a copy of the invoice of order {number}.",
}


@template(
    "shop-write-review", SITES, "fill-form",
    ("Write a review of \"{product}\": {stars} of 5 stars, nickname \"{nickname}\", summary and text \"{title}\".",
     "Rate \"{product}\" {stars} out of 5 as \"{nickname}\". Use \"{title}\" as the summary and as the review."),
    lambda row: shows(
        ("last", f"{RATING}('{row['sku']}')", str(20 * row["stars"])),
        ("last", f"{AUTHOR}('{row['sku']}')", row["nickname"]),
        (f"{SHOP}/review/customer/", text_of("#my-reviews-table"), [row["product"], row["title"]]),
    ),
    lambda row: [
        *on_product(
            row, REVIEWS, Check(f"#Rating_{row['stars']}"), Fill("#nickname_field", row["nickname"]),
            Fill("#summary_field", row["title"]), Fill("#review_field", row["title"]), Click("button.submit"),
        ),
        done(product_page(row), lambda world: bool(store(world).changes.get("review"))),
    ],
)  # fmt: skip
def write_review(world: World) -> Iterator[Row]:
    for row in products(world, 6):
        stars = 1 + row["id"] // 15 % 5
        title = title_of(row["catalogue_index"], stars, Random(row["id"]))
        nickname = NICKNAMES[row["id"] % len(NICKNAMES)]
        yield {**about(row), "sku": row["sku"], "stars": stars, "nickname": nickname, "title": title}


def _new_addresses(world: World) -> Iterator[Row]:
    rng, texts = Random("new addresses"), words("people.toml")
    for _ in range(150):
        city, region, postcode, area = rng.choice(texts["cities"])
        yield {
            "street": f"{rng.randrange(2, 990)} {rng.choice(texts['streets'])}", "city": city, "region": region,
            "postcode": postcode, "telephone": f"{area}555{rng.randrange(100, 9999):04}",
        }  # fmt: skip


def _enter_address(row: Parameters, button: str, form: str) -> list[On]:
    """Open a form of the address book, fill it in and save it."""
    fields = [Fill(ADDRESS[name], row[name]) for name in ("telephone", "street", "city", "region", "postcode")]
    added = exists("store", "SELECT 1 FROM address WHERE customer_id = ? AND street = ?", AGENT, row["street"])
    return [
        *to_account("/customer/address/"),
        On(r"/customer/address/$", [Click(button)]),
        On(form, [*fields, Click("button.save")]),
        done(r"/customer/address/$", added),
    ]


@template(
    "shop-change-name", SITES, "edit-record",
    ("Change the name of my account to {firstname} {lastname}.",
     "I am called {firstname} {lastname} now. Update my account information."),
    lambda row: shows(
        (f"{SHOP}/customer/account/", text_of(".box-information"), [f"{row['firstname']} {row['lastname']}"])
    ),
    lambda row: [
        *to_account("/customer/account/edit/"),
        On("/customer/account/edit/",
           [Fill("#firstname", row["firstname"]), Fill("#lastname", row["lastname"]), Click("button.save")]),
        done(r"/customer/account/$",
             exists("store", "SELECT 1 FROM customer WHERE id = ? AND lastname = ?", AGENT, row["lastname"])),
    ],
)  # fmt: skip
def change_name(world: World) -> Iterator[Row]:
    rng, texts = Random("new names"), words("people.toml")
    for last in rng.sample(texts["last_names"], 90):
        lastname = last if rng.random() < 0.5 else f"Lopez-{last}"
        yield {"lastname": lastname, "firstname": rng.choice(("Emma", "Emilia", "Em"))}


TEMPLATES = (
    write_review,
    Template(
        "shop-add-address", SITES, "fill-form",
        ("Add a new address to my address book: {street}, {city}, {region} {postcode}, phone {telephone}.",
         "I also live at {street}, {city}, {region} {postcode} (phone {telephone}). Put that into my address book."),
        _new_addresses,
        lambda row: shows(
            (f"{SHOP}/customer/address/", text_of("#additional-addresses-table"), [row[name] for name in ADDRESS])
        ),
        lambda row: _enter_address(row, "a.add", "/customer/address/new/"),
    ),
    Template(
        "shop-change-default-address", SITES, "edit-record",
        ("I have moved. Change my default shipping address to {street}, {city}, {region} {postcode}, phone "
         "{telephone}.",
         "Update the default shipping address of my account: {street}, {city}, {region} {postcode}, phone "
         "{telephone}."),
        lambda world: (
            {**row, "street": f"{row['street']}, Apt {place % 40 + 1}"}
            for place, row in enumerate(_new_addresses(world))
        ),
        lambda row: shows(
            (f"{SHOP}/customer/address/", text_of(".box-address-shipping"), [row[name] for name in ADDRESS])
        ),
        lambda row: _enter_address(row, ".box-address-shipping a.edit", "/customer/address/edit/"),
    ),
    change_name,
    Template(
        "shop-draft-message", SITES, "fill-form",
        ("Draft a message in the shop's contact form ({what}): \"{text}\" Do not submit it yet, I want to check it.",
         "Fill in the contact form with this text, but do not send it: {text}"),
        lambda world: (
            {"number": order["increment_id"], "what": what, "text": text.format(number=order["increment_id"])}
            for order in orders(world) for what, text in TROUBLES.items()
        ),
        lambda row: both(shows(("last", MESSAGE, [row["text"]])), ends_at(f"{SHOP}/contact")),
        lambda row: [
            On(SHOP, [Click("ul.footer a", "Contact Us")]), On("/contact/", [Fill("#comment", row["text"]), Answer()]),
        ],
    ),
)  # fmt: skip
