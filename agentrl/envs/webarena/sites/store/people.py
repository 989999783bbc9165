"""Customers with their addresses, who among them reads the newsletter, and the words that base data is made from."""

from __future__ import annotations

import sqlite3
from datetime import datetime
from functools import partial
from random import Random

from agentrl.envs.common.data_files import data_file
from agentrl.envs.webarena.sites.formats import stamp

PACKAGE = "agentrl.envs.webarena.sites.store"
words = partial(data_file, PACKAGE)  # the contents of a file such as "people.toml"
CUSTOMERS = 150
FIRST_CUSTOMER = datetime(2021, 10, 20, 9, 0)
LAST_CUSTOMER = datetime(2025, 6, 10, 18, 0)
AGENT = 27  # the id of the customer whom an agent plays

_MAILS = ("gmail.com", "hotmail.com", "outlook.com", "yahoo.com", "fastmail.com", "protonmail.com")
_EMMA = (
    AGENT, "emma.lopez@gmail.com", "Password.123", "Emma", "Lopez", "General", "6505550142", 0, "2021-12-02 10:14:27",
)  # fmt: skip
_EMMA_ADDRESSES = (
    ("Emma", "Lopez", "", "6505550142", "412 Alder Court", "San Mateo", "California", "94401", "United States", 1, 1),
    (
        "Emma", "Lopez", "Lopez Studio", "4155550167", "88 Bryant Street, Suite 4", "San Francisco", "California",
        "94107", "United States", 0, 0,
    ),
)  # fmt: skip
_ADDRESS = (
    "customer_id, firstname, lastname, company, telephone, street, city, region, postcode, country, is_billing,"
    " is_shipping"
)


def build_customers(connection: sqlite3.Connection) -> None:
    """Fill `customer`, `address` and `newsletter_subscriber`."""
    rng = Random("customers")
    streets, cities = words("people.toml")["streets"], words("people.toml")["cities"]
    joined = sorted(FIRST_CUSTOMER + (LAST_CUSTOMER - FIRST_CUSTOMER) * rng.random() ** 1.4 for _ in range(CUSTOMERS))
    people, addresses = [], []
    # As many names as customers: no surname comes more than twice, and no pair twice.
    last_names, first_names = words("people.toml")["last_names"] * 2, words("people.toml")["first_names"] * 2
    rng.shuffle(last_names)
    rng.shuffle(first_names)
    pairs = list(dict.fromkeys(zip(first_names, last_names, strict=False)))
    for number, ((first, last), moment) in enumerate(zip(pairs[:CUSTOMERS], joined, strict=True), start=1):
        city, region, postcode, area = rng.choice(cities)
        phone = f"{area}555{rng.randrange(100, 9999):04}"
        if number == AGENT:
            people.append(_EMMA)
            addresses += [(AGENT, *address) for address in _EMMA_ADDRESSES]
            continue
        mail = f"{first}.{last}@{rng.choice(_MAILS)}".lower()
        group = rng.choices(("General", "Wholesale", "Retailer"), (88, 6, 6))[0]
        subscribed = int(rng.random() < 0.4)
        people.append((number, mail, f"secret-{number}", first, last, group, phone, subscribed, stamp(moment)))
        street = f"{rng.randrange(2, 990)} {rng.choice(streets)}"
        addresses.append((number, first, last, "", phone, street, city, region, postcode, "United States", 1, 1))
        if rng.random() < 0.2:
            city, region, postcode, _ = rng.choice(cities)
            street = f"{rng.randrange(2, 990)} {rng.choice(streets)}"
            addresses.append(
                (number, first, last, f"{last} & Co", phone, street, city, region, postcode, "United States", 0, 0)
            )
    names = "id, email, password, firstname, lastname, group_name, telephone, subscribed, created_at"
    connection.executemany(f"INSERT INTO customer ({names}) VALUES ({', '.join('?' * 9)})", people)
    connection.executemany(f"INSERT INTO address ({_ADDRESS}) VALUES ({', '.join('?' * 12)})", addresses)
    # Readers of the newsletter: customers who subscribed, and visitors without an account.
    connection.execute(
        "INSERT INTO newsletter_subscriber (email, customer_id)"
        " SELECT email, id FROM customer WHERE subscribed = 1 ORDER BY id"
    )
    for first in rng.sample(words("people.toml")["first_names"], 35):
        mail = f"{first}{rng.randrange(50, 99)}@{rng.choice(_MAILS)}".lower()
        status = rng.choices(("Subscribed", "Unsubscribed", "Not Activated"), (80, 12, 8))[0]
        connection.execute("INSERT INTO newsletter_subscriber (email, status) VALUES (?, ?)", (mail, status))
