"""What is said: seeded sentences for training and evaluation.

``text.py COUNT`` prints labels of typical commands, made of the vocabulary's words alone: the decoding graph is
weighted by them (``graph.py --typical``).

A sentence is a pair: what the synthesiser reads (``don't``) and its label (``dont``; the 26 letters and the space
are all the tokens can spell). Half of the test sentences and of the training sentences come from the same
grammars with different seeds; random word strings and whole WordNet examples practically never coincide.
"""

# Word lists read best as one string (SIM905); the draws must repeat, not be secret (S311).
# ruff: noqa: SIM905, S311

from __future__ import annotations

import json
import random
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from pathlib import Path

from templates import Templates

HERE = Path(__file__).parent
WORDNET = Path("/usr/share/wordnet")

ONES = "zero one two three four five six seven eight nine".split()
TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth twentieth"
).split()
MONTHS = "january february march april may june july august september october november december".split()
DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
AREAS = [
    "kitchen", "living room", "bedroom", "bathroom", "office", "garage", "hallway", "garden", "basement", "attic",
    "dining room", "hall", "porch", "patio", "laundry room", "nursery", "guest room", "upstairs", "downstairs",
    "study", "balcony", "terrace", "playroom", "library", "closet", "corridor", "entrance", "kids room",
]  # fmt: skip
THINGS = [
    "light", "lights", "lamp", "fan", "heater", "heating", "television", "tv", "radio", "door", "window", "blinds",
    "curtains", "shutter", "oven", "coffee machine", "kettle", "vacuum", "washing machine", "dishwasher", "dryer",
    "air conditioner", "thermostat", "alarm", "camera", "doorbell", "gate", "garage door", "front door", "back door",
    "speaker", "music", "printer", "computer", "plug", "switch", "ceiling light", "floor lamp", "bed light", "pump",
    "humidifier", "projector", "fountain", "sprinkler", "freezer", "fridge", "toaster", "robot", "desk lamp", "socket",
]  # fmt: skip
COLORS = "red green blue white yellow orange purple pink black brown gray gold silver warm cold turquoise".split()
ITEMS = (
    "milk bread butter cheese eggs apples bananas coffee tea sugar salt pepper flour rice pasta tomatoes potatoes "
    "onions "
    "carrots chicken fish beef water juice beer wine soap paper batteries chocolate honey yogurt cereal lemons oranges"
).split()
SPELLING = (
    "alpha bravo charlie delta echo foxtrot golf hotel india juliet kilo lima mike november oscar papa quebec romeo "
    "sierra tango uniform victor whiskey xray yankee zulu"
).split()
UNITS = (
    "meters meter centimeters degrees degree steps step feet inches miles kilometers minutes seconds percent".split()
)
DIRECTIONS = "forward backward back left right up down ahead north south east west".split()


def number_words(value: int) -> str:
    """``value`` (0 to 9999) in words: ``two hundred five``."""
    if value < 10:
        return ONES[value]
    if value < 20:
        return TEENS[value - 10]
    if value < 100:
        return TENS[value // 10 - 2] + (f" {ONES[value % 10]}" if value % 10 else "")
    unit, name = (100, "hundred") if value < 1000 else (1000, "thousand")
    return f"{number_words(value // unit)} {name}" + (f" {number_words(value % unit)}" if value % unit else "")


def label(spoken: str) -> str:
    """The training label of a spoken sentence: lower-case letters and single spaces."""
    return " ".join(re.sub(r"[^a-z ]", "", spoken.lower().replace("-", " ")).split())


@cache
def vocabulary() -> tuple[str, ...]:
    """The words of ``words.txt``, the ones that the decoding graph holds."""
    return tuple((HERE / "words.txt").read_text(encoding="utf-8").split())


def _small(draw: random.Random) -> str:
    return number_words(draw.choice([draw.randint(0, 20), draw.randint(0, 100), 5 * draw.randint(1, 20)]))


# Each maker returns one spoken sentence.


def _timer(draw: random.Random) -> str:
    length = f"{_small(draw)} {draw.choice(['seconds', 'minutes', 'hours', 'minute', 'second', 'hour'])}"
    forms = [
        f"set a timer for {length}",
        f"set a {length} timer",
        f"timer {length}",
        f"start a timer for {length}",
        f"cancel the {length} timer",
        f"add {length} to the timer",
        f"remind me in {length}",
        f"how much time is left on the {length} timer",
        f"wake me up at {_clock(draw)}",
        f"set an alarm for {_clock(draw)}",
        "stop the timer",
        "cancel all timers",
        "pause the timer",
        "resume the timer",
        "snooze",
        f"set a {draw.choice(ITEMS)} timer for {length}",
    ]
    return draw.choice(forms)


def _clock(draw: random.Random) -> str:
    hour = number_words(draw.randint(1, 12))
    forms = [
        f"{hour} o'clock",
        f"{hour} {draw.choice(['am', 'pm'])}",
        f"half past {hour}",
        f"quarter to {hour}",
        f"quarter past {hour}",
        f"{hour} {number_words(draw.randint(10, 59))}",
        f"{hour} in the morning",
        f"{hour} tonight",
    ]
    return draw.choice(forms)


def _date(draw: random.Random) -> str:
    day = draw.choice([*ORDINALS, "twenty first", "twenty fifth", "thirtieth", "thirty first"])
    forms = [
        f"{draw.choice(MONTHS)} {day}",
        f"{draw.choice(DAYS)} {draw.choice(MONTHS)} {day}",
        f"the {day} of {draw.choice(MONTHS)}",
        f"next {draw.choice(DAYS)}",
        f"{draw.choice(DAYS)} at {_clock(draw)}",
        f"remind me on {draw.choice(DAYS)}",
        f"what is on my calendar {draw.choice(['today', 'tomorrow', 'on ' + draw.choice(DAYS)])}",
        _clock(draw),
        f"in the year twenty {number_words(draw.randint(10, 40))}",
        f"nineteen {number_words(draw.randint(10, 99))}",
    ]
    return draw.choice(forms)


def _digits(draw: random.Random) -> str:
    count = draw.choice([1, 1, 2, 3, 4, 5, 6, 7])
    return " ".join(draw.choice([*ONES, "oh"] if draw.random() < 0.2 else ONES) for _ in range(count))


def _one_digit(draw: random.Random) -> str:
    return draw.choice(ONES)


def _direction(draw: random.Random) -> str:
    return draw.choice([*DIRECTIONS, "yes", "no", "on", "off", "stop", "go", "start", "okay", "cancel", "help"])


def _number(draw: random.Random) -> str:
    value = draw.choice(
        [draw.randint(0, 99), draw.randint(100, 999), draw.randint(1000, 9999), 100 * draw.randint(1, 90)]
    )
    tail = draw.choice(["", "", f" {draw.choice(UNITS)}", f" point {draw.choice(ONES)}", " percent", " dollars"])
    return draw.choice(["", "", "minus ", "number ", "channel ", "volume "]) + number_words(value) + tail


def _letters(draw: random.Random) -> str:
    count = draw.randint(1, 5)
    return " ".join(draw.choice(SPELLING) for _ in range(count))


def _robot(draw: random.Random) -> str:
    amount, unit, way = _small(draw), draw.choice(UNITS), draw.choice(DIRECTIONS)
    forms = [
        f"go {way} {amount} {unit}",
        f"move {way} {amount} {unit}",
        f"turn {way} {amount} degrees",
        f"turn {way}",
        f"go {way}",
        "stop",
        "stop now",
        "turn around",
        f"drive {way} slowly",
        f"move {way} fast",
        f"look {way}",
        "come here",
        "come back",
        "follow me",
        "go home",
        f"raise the {draw.choice(['arm', 'hand', 'camera'])}",
        f"lower your {draw.choice(['arm', 'hand', 'head'])}",
        "open the gripper",
        "close the gripper",
        "pick up the box",
        f"pick up the {draw.choice(COLORS)} {draw.choice(['ball', 'box', 'cube', 'bottle', 'cup'])}",
        "put it down",
        f"rotate {way} {amount} degrees",
        "speed up",
        "slow down",
        f"walk {amount} steps {way}",
        "take a picture",
        f"go to the {draw.choice(AREAS)}",
        "start",
        "halt",
        "faster",
        "slower",
        "dock",
        "charge",
        "stand up",
        "sit down",
    ]
    return draw.choice(forms)


def _house(draw: random.Random) -> str:
    area, thing, state = draw.choice(AREAS), draw.choice(THINGS), draw.choice(["on", "off"])
    level = f"{_small(draw)} {draw.choice(['percent', 'degrees'])}"
    forms = [
        f"turn {state} the {thing}",
        f"turn the {thing} {state}",
        f"switch {state} the {thing} in the {area}",
        f"{thing} {state}",
        f"turn {state} the {area} {thing}",
        f"set the {area} {thing} to {level}",
        f"open the {thing}",
        f"close the {thing}",
        f"make the {area} {draw.choice(COLORS)}",
        f"dim the {thing} to {level}",
        f"is the {thing} {state}",
        f"lock the {thing}",
        f"set {thing} to {draw.choice(COLORS)}",
        f"what is the temperature in the {area}",
        f"unlock the {thing}",
        f"set the temperature to {level}",
        "play some music",
        f"play music in the {area}",
        "next song",
        "previous track",
        "volume up",
        "volume down",
        f"set the volume to {level}",
        "mute",
        "louder",
        "quieter",
        "good morning",
        "good night",
        f"add {draw.choice(ITEMS)} to my shopping list",
        f"remove {draw.choice(ITEMS)} from the list",
        "what time is it",
        "what is the weather",
        f"will it rain {draw.choice(['today', 'tomorrow', 'tonight'])}",
        "yes",
        "no",
        "okay",
        "cancel",
        "never mind",
        "help",
        "repeat that",
        "thank you",
        f"call {draw.choice(['mom', 'dad', 'home', 'the office'])}",
        f"increase the brightness in the {area}",
        f"is the {area} {thing} open",
        f"good morning turn {state} the {thing}",
    ]
    return draw.choice(forms)


def _word(draw: random.Random) -> str:
    return draw.choice(vocabulary())


def _words(draw: random.Random) -> str:
    return " ".join(draw.choice(vocabulary()) for _ in range(draw.randint(2, 8)))


@cache
def _intent_templates() -> tuple[Templates, tuple[str, ...]]:
    import home_assistant_intents

    path = Path(home_assistant_intents.__file__).parent / "data" / "en.json"
    book = json.loads(path.read_text(encoding="utf-8"))
    lists = {
        name: [entry["in"] if isinstance(entry, dict) else entry for entry in body["values"]]
        for name, body in book["lists"].items()
        if "values" in body
    }
    numbers = [number_words(value) for value in range(101)]
    for name, body in book["lists"].items():
        if "range" in body:
            lists[name] = numbers
    lists |= {
        "area": AREAS,
        "name": THINGS,
        "floor": ["upstairs", "downstairs", "first floor", "ground floor"],
        "item": ITEMS,
    }
    templates = Templates(book["expansion_rules"], lists)
    # The phrases of a list may be templates themselves.
    draw = random.Random(0)
    for name, phrases in lists.items():
        grown = [templates.expand(phrase, draw) for phrase in phrases for _ in range(3)]
        lists[name] = sorted({phrase for phrase in grown if phrase})
    sentences = [s for intent in book["intents"].values() for data in intent["data"] for s in data["sentences"]]
    return templates, tuple(sentences)


def _intent(draw: random.Random) -> str:
    templates, sentences = _intent_templates()
    while True:
        sentence = templates.expand(draw.choice(sentences), draw)
        if sentence and len(sentence.split()) <= 14 and not re.search(r"[0-9]", sentence):
            return sentence


@cache
def _examples() -> tuple[str, ...]:
    """WordNet's example sentences that spell without digits, 2 to 14 words."""
    found: set[str] = set()
    for part in ("noun", "verb", "adj", "adv"):
        text = (WORDNET / f"data.{part}").read_text(encoding="ascii", errors="ignore")
        found.update(re.findall(r'"([A-Za-z\' ,-]{8,90})"', text))
    return tuple(sorted(sentence for sentence in found if 2 <= len(sentence.split()) <= 14))


def _english(draw: random.Random) -> str:
    return draw.choice(_examples())


Maker = Callable[[random.Random], str]

DOMAIN: tuple[tuple[float, Maker], ...] = (
    (3.0, _house),
    (3.0, _intent),
    (1.2, _timer),
    (1.0, _date),
    (1.2, _digits),
    (0.8, _number),
    (0.5, _letters),
    (2.0, _robot),
)
"""Command sentences."""

TRAINING: tuple[tuple[float, Maker], ...] = (*DOMAIN, (2.5, _word), (3.5, _words), (5.0, _english))
"""What the model is trained on."""

SHORT: tuple[tuple[float, Maker], ...] = ((4.0, _one_digit), (2.0, _digits), (3.0, _word), (1.0, _direction))
"""Words alone, which people cut short and models hear worst; single digits above all."""

TEST: tuple[tuple[float, Maker], ...] = (*DOMAIN, (12.7, _words))
"""Half command sentences, half random strings of vocabulary words."""


def sentences(mix: tuple[tuple[float, Maker], ...], seed: str) -> Iterator[str]:
    """Endless spoken sentences of ``mix``; the same seed gives the same ones."""
    draw = random.Random(seed)
    weights = [weight for weight, _ in mix]
    makers = [maker for _, maker in mix]
    while True:
        spoken = draw.choices(makers, weights)[0](draw)
        if label(spoken):
            yield spoken


def typical_commands() -> Iterator[str]:
    """Endless labels of command sentences that the vocabulary covers; seeded apart from training and test speech."""
    known = set(vocabulary())
    return (said for said in map(label, sentences(DOMAIN, "typical")) if known.issuperset(said.split()))


if __name__ == "__main__":
    try:
        print("\n".join(islice(typical_commands(), int(sys.argv[1]))))
    except ModuleNotFoundError as error:
        package = (error.name or "").replace("_", "-")
        sys.exit(f"error: the Python package {package!r} is not installed; install it with: pip install {package}")
