"""The text that the record model learns: short documents in the forms that people constrain.

Each maker writes one kind of document: a prompt and what follows it. The prompts are
plain ("Contact e-mail:", "A character named Paul, aged 20, as JSON:"), and what follows has
a form that a grammar can name. Names come from Faker; the other words are our own.

The fields of a JSON record vary in choice, order and type, since a debugger wants to see
the model hesitate between them; the syntax never varies within one prompt, since a model
of this size should spend nothing on it.
"""

from __future__ import annotations

import datetime as dt
import json
import random
import uuid
from collections.abc import Callable, Iterator, Mapping

from faker import Faker

Value = str | int | float | bool | list[str] | None

CITIES = "Leeds Paris Oslo Rome Lima Cairo Delhi Tokyo Boston Dublin Geneva Lisbon Madrid Vienna Warsaw York".split()
COUNTRIES = {
    "France": "Paris", "Norway": "Oslo", "Italy": "Rome", "Peru": "Lima", "Egypt": "Cairo", "Japan": "Tokyo",
    "Ireland": "Dublin", "Portugal": "Lisbon", "Spain": "Madrid", "Austria": "Vienna", "Poland": "Warsaw",
    "Greece": "Athens", "Kenya": "Nairobi", "Cuba": "Havana", "Iran": "Tehran", "Chile": "Santiago",
}  # fmt: skip
JOBS = (
    "baker blacksmith carpenter doctor farmer guard hunter judge mason miller nurse pilot poet sailor teacher".split()
)
ARMOR = ("leather", "chainmail", "plate")
WEAPONS = ("sword", "axe", "mace", "spear", "bow", "crossbow")
SKILLS = "archery climbing cooking fishing healing reading riding singing stealth swimming".split()
PETS = ("cat", "dog", "horse", "owl", "rat")
GOODS = "apple book candle chair clock cup desk hammer kettle knife lamp mirror pen shirt table towel".split()
COLOURS = "black blue brown green grey orange pink purple red white yellow".split()
EVENTS = ("meeting", "concert", "exam", "wedding", "match", "delivery", "launch", "lecture", "interview", "sale")
MONTHS = "January February March April May June July August September October November December".split()
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
DOMAINS = ("example.com", "example.org", "example.net", "mail.example.com")
NUMBER_WORDS = "zero one two three four five six seven eight nine ten eleven twelve".split()
THINGS = ("The soup", "The film", "The hotel", "The book", "The coffee", "The lamp", "The service", "The room")
PRAISE = ("was lovely", "was excellent", "arrived on time", "made my day", "works very well", "was worth every penny")
BLAME = ("was cold", "was terrible", "never arrived", "broke after a day", "was far too loud", "was a waste of money")
LEVELS = ("INFO", "WARNING", "ERROR")
LOG = (
    "server started",
    "connection closed",
    "file saved",
    "user logged in",
    "disk is almost full",
    "request timed out",
)


class Scribe:
    """A seeded source of names, dates and numbers."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self._faker = Faker("en_US")
        self._faker.seed_instance(seed)

    def pick(self, words: tuple[str, ...] | list[str]) -> str:
        """One of the words."""
        return self.random.choice(words)

    def first(self) -> str:
        """A first name, common ones more often."""
        return str(self._faker.first_name())

    def last(self) -> str:
        """A family name."""
        return str(self._faker.last_name())

    def date(self) -> dt.date:
        """A day of 1990 to 2039."""
        return dt.date(1990, 1, 1) + dt.timedelta(days=self.random.randrange(18_262))

    def long_date(self, day: dt.date) -> str:
        """A day as an English sentence has it."""
        return f"{DAYS[day.weekday()]}, {day.day} {MONTHS[day.month - 1]} {day.year}"

    def clock(self) -> str:
        """A time of the day, to the minute."""
        return f"{self.random.randrange(24):02}:{self.random.randrange(60):02}"

    def price(self) -> str:
        """An amount with two decimals."""
        return f"{self.random.randrange(1, 200)}.{self.pick(['00', '25', '49', '50', '75', '90', '95', '99'])}"

    def email(self, first: str, last: str) -> str:
        """An address at a domain reserved for examples."""
        form = self.pick(["{f}", "{f}.{l}", "{f}.{l}", "{i}{l}", "{f}{n}"])
        local = form.format(f=first, l=last, i=first[0], n=self.random.randrange(1, 100))
        return f"{local.lower()}@{self.pick(DOMAINS)}"

    def phone(self) -> str:
        """A number in one of three common forms, from the ranges kept for fiction."""
        tail = f"{self.random.randrange(100, 200):04}"
        return self.pick([f"555-{tail}", f"(212) 555-{tail}", f"+1 212 555 {tail}"])


def character_fields(scribe: Scribe, name: str, age: int) -> dict[str, Value]:
    """Return the fields of a character: name and age, then the classic three or some of the others.

    Args:
        scribe: the source of random values.
        name: the name.
        age: the age in years.
    """
    rng = scribe.random
    fields: dict[str, Value] = {"name": name, "age": age}
    if rng.random() < 0.5:
        fields |= {"armor": scribe.pick(ARMOR), "weapon": scribe.pick(WEAPONS), "strength": rng.randrange(1, 101)}
        return fields
    others: dict[str, Callable[[], Value]] = {
        "armor": lambda: scribe.pick(ARMOR),
        "weapon": lambda: scribe.pick(WEAPONS),
        "strength": lambda: rng.randrange(1, 101),
        "job": lambda: scribe.pick(JOBS),
        "city": lambda: scribe.pick(CITIES),
        "alive": lambda: rng.random() < 0.8,
        "pet": lambda: scribe.pick(PETS) if rng.random() < 0.6 else None,
        "skills": lambda: rng.sample(SKILLS, rng.randrange(1, 4)),
        "height": lambda: rng.randrange(140, 205) / 100,
        "email": lambda: f"{name.lower()}@{scribe.pick(DOMAINS)}",
        "born": lambda: f"{2026 - age}-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}",
    }
    for key in rng.sample(list(others), rng.randrange(1, 5)):
        fields[key] = others[key]()
    return fields


def _spelled(scribe: Scribe, subject: str, record: Mapping[str, Value]) -> str:
    form = scribe.random.random()
    if form < 0.10:
        return f"{subject}, as indented JSON:\n{json.dumps(record, indent=2)}\n"
    if form < 0.18:
        return f"{subject}, as compact JSON:\n{json.dumps(record, separators=(',', ':'))}\n"
    gap = "\n" if scribe.random.random() < 0.6 else " "
    return f"{subject}, as JSON:{gap}{json.dumps(record)}\n"


def character(scribe: Scribe) -> str:
    """A character as a JSON record, sometimes with a sentence about it."""
    name, age = scribe.first(), scribe.random.randrange(8, 90)
    record = character_fields(scribe, name, age)
    text = _spelled(scribe, f"A character named {name}, aged {age}", record)
    if "weapon" in record and scribe.random.random() < 0.3:
        text += f"{name} is {age} years old and carries {_article(str(record['weapon']))}.\n"
    return text


def order(scribe: Scribe) -> str:
    """An order, a book or an event as a JSON record."""
    rng, day = scribe.random, scribe.date()
    kind = rng.randrange(3)
    if kind == 0:
        item, count, price = scribe.pick(GOODS), rng.randrange(1, 13), float(scribe.price())
        paid = rng.random() < 0.5
        return _spelled(
            scribe, f"An order of {count} {item}s", {"item": item, "count": count, "price": price, "paid": paid}
        )
    if kind == 1:
        city, size = scribe.pick(CITIES), rng.randrange(20, 900) * 1000
        return _spelled(
            scribe, f"The city of {city}", {"city": city, "population": size, "coastal": rng.random() < 0.5}
        )
    event, city = scribe.pick(EVENTS), scribe.pick(CITIES)
    return _spelled(
        scribe,
        f"The {event} in {city} on {day.isoformat()}",
        {"event": event, "city": city, "date": day.isoformat(), "time": scribe.clock()},
    )


def dates(scribe: Scribe) -> str:
    """A date, asked for in one of several ways."""
    day, event = scribe.date(), scribe.pick(EVENTS)
    return scribe.pick([
        f"The date of the {event} is {day.isoformat()}.\n",
        f"The date of the {event} is {day.isoformat()} at {scribe.clock()}.\n",
        f"Today is {scribe.long_date(day)}.\n",
        f"ISO date: {day.isoformat()}\n",
        f"Date: {scribe.long_date(day)}\nISO date: {day.isoformat()}\n",
        f"Time: {scribe.clock()}\n",
        f"Timestamp: {day.isoformat()}T{scribe.clock()}:{scribe.random.randrange(60):02}Z\n",
        f"The {event} is on {scribe.long_date(day)} in {scribe.pick(CITIES)}.\n",
    ])  # fmt: skip


def contact(scribe: Scribe) -> str:
    """An address, a telephone number, or a whole card."""
    first, last = scribe.first(), scribe.last()
    email, phone = scribe.email(first, last), scribe.phone()
    return scribe.pick([
        f"Contact e-mail: {email}\n",
        f"Contact e-mail: {email}\n",
        f"E-mail of {first} {last}: {email}\n",
        f"Phone: {phone}\n",
        f"Name: {first} {last}\nE-mail: {email}\nPhone: {phone}\nBorn: {scribe.date().isoformat()}\n",
        (f"From: {email}\nTo: {scribe.email(scribe.first(), scribe.last())}\nSubject: The {scribe.pick(EVENTS)}\n\n"
        f"Dear {scribe.first()},\nthe {scribe.pick(EVENTS)} is on {scribe.long_date(scribe.date())}.\n"
        f"Yours, {first}\n"),
        f"{first} {last} lives in {scribe.pick(CITIES)}. You can write to {email} or call {phone}.\n",
    ])  # fmt: skip


def codes(scribe: Scribe) -> str:
    """Numbers and codes with a label: addresses, prices, versions, colours."""
    rng = scribe.random
    address = ".".join(str(rng.choice((10, 127, 192, 172, rng.randrange(256)))) for _ in range(4))
    page = scribe.pick(["about", "contact", "index.html", "news", "shop"])
    return scribe.pick([
        f"IPv4 address: {address}\n",
        f"Price: ${scribe.price()}\n",
        f"The {scribe.pick(GOODS)} costs ${scribe.price()}.\n",
        f"Version: {rng.randrange(5)}.{rng.randrange(13)}.{rng.randrange(10)}\n",
        f"Colour: #{rng.randrange(1 << 24):06x}\n",
        f"UUID: {uuid.UUID(int=rng.getrandbits(128), version=4)}\n",
        f"URL: https://www.example.{scribe.pick(['com', 'org', 'net'])}/{page}\n",
        (f"{scribe.date().isoformat()} {scribe.clock()}:{rng.randrange(60):02} {scribe.pick(LEVELS)} "
        f"{scribe.pick(LOG)}\n"),
        f"Number: {rng.randrange(10_000)}\n",
        f"Percentage: {rng.randrange(101)}%\n",
    ])  # fmt: skip


def questions(scribe: Scribe) -> str:
    """A question and a short answer."""
    rng = scribe.random
    a, b = rng.randrange(13), rng.randrange(13)
    country = scribe.pick(list(COUNTRIES))
    good = rng.random() < 0.5
    verdict = f"{scribe.pick(THINGS)} {scribe.pick(PRAISE if good else BLAME)}."
    return scribe.pick([
        f"Q: What is {a} + {b}?\nA: {a + b}\n",
        f"Q: What is {a} times {b}?\nA: {a * b}\n",
        f"Q: What is the capital of {country}?\nA: {COUNTRIES[country]}\n",
        f"Q: Is {a} even? Answer yes or no.\nA: {'no' if a % 2 else 'yes'}\n",
        f"Q: Which is larger, {a} or {b}?\nA: {max(a, b)}\n",
        f"Q: How do you spell {a} in words?\nA: {NUMBER_WORDS[a]}\n",
        f"Review: {verdict}\nSentiment: {'positive' if good else 'negative'}\n",
        f"Review: {verdict}\nStars: {rng.choice((4, 5) if good else (1, 2))}\n",
        f"Q: What colour is the {scribe.pick(GOODS)}?\nA: {scribe.pick(COLOURS)}\n",
    ])  # fmt: skip


def lists(scribe: Scribe) -> str:
    """Lists: numbered, comma-separated, as CSV, as a JSON array."""
    rng = scribe.random
    words = rng.sample(rng.choice((GOODS, COLOURS, CITIES, SKILLS)), rng.randrange(2, 5))
    rows = [f"{scribe.first()},{rng.randrange(8, 90)},{scribe.pick(CITIES)}" for _ in range(rng.randrange(1, 5))]
    return scribe.pick([
        "A list:\n" + "".join(f"{i}. {word}\n" for i, word in enumerate(words, 1)),
        "A list:\n" + "".join(f"- {word}\n" for word in words),
        "CSV:\nname,age,city\n" + "".join(f"{row}\n" for row in rows),
        f"{NUMBER_WORDS[len(words)].title()} words: {', '.join(words[:-1])} and {words[-1]}.\n",
        f"A JSON array: {json.dumps(words)}\n",
    ])  # fmt: skip


def story(scribe: Scribe) -> str:
    """Plain English sentences about someone."""
    rng, first = scribe.random, scribe.first()
    other, city, item = scribe.first(), scribe.pick(CITIES), scribe.pick(GOODS)
    sentences = [
        f"{first} is {_article(scribe.pick(JOBS))} from {city}.",
        f"{first} was {rng.randrange(8, 90)} years old when {other} came to {city}.",
        f"One day {first} found {_article(scribe.pick(COLOURS))} {item} in the street.",
        f"{first} gave the {item} to {other}, who put it on the table.",
        f"It was a cold morning in {scribe.pick(MONTHS)}, and nobody was awake.",
        f'"I have lost my {item}," said {other}.',
        f'"Where is the {scribe.pick(PETS)}?" asked {first}.',
        f"They walked to {city} and sold the {item} for {rng.randrange(2, 100)} coins.",
        f"In the evening they read a book and talked about the {scribe.pick(EVENTS)}.",
        f"{other} can do many things: {scribe.pick(SKILLS)}, {scribe.pick(SKILLS)} and {scribe.pick(SKILLS)}.",
    ]
    return " ".join(rng.sample(sentences, rng.randrange(2, 6))) + "\n"


MAKERS: tuple[tuple[Callable[[Scribe], str], int], ...] = (
    (character, 32), (order, 9), (dates, 12), (contact, 13), (codes, 9), (questions, 8), (lists, 6), (story, 11),
)  # fmt: skip


def documents(count: int, seed: int) -> Iterator[str]:
    """`count` documents, the makers drawn by weight."""
    scribe = Scribe(seed)
    makers, weights = zip(*MAKERS, strict=True)
    for _ in range(count):
        yield scribe.random.choices(makers, weights)[0](scribe)


def paragraphs(text: str) -> list[str]:
    """The paragraphs of a book, each on one line, without headings and white space runs."""
    blocks = (" ".join(block.split()) for block in text.replace("\r\n", "\n").split("\n\n"))
    return [block + "\n" for block in blocks if len(block) > 40 and any(char.islower() for char in block)]


def _article(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"
