"""Intents of the utterance corpora as tools: other people's words for a few hundred purposes.

Each labelled intent becomes a tool of that purpose, its slots parameters; name and parameters are
drawn anew for each dialogue. Intents whose hash marks them as unseen appear in the held-out split
alone, and so do held-out rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from dlm.datagen import labelled, leftover, spans, telling_words
from dlm.datagen.grammar import Piece
from dlm.datagen.holdout import held_out, unseen
from dlm.datagen.rename import styled
from dlm.datagen.schemas import Spec
from dlm.datagen.world import capital

_NOT_TOOLS = (
    "general_", "oos", "qa_", "mood_", "out_of_scope", "maybe", "yes", "no", "affirm", "deny",
    "greet", "goodbye", "thank", "What", "Who", "When", "Where", "inform", "chat", "cancel",
    "repeat", "smalltalk", "are_you", "do_you", "what_are", "where_are", "who_", "how_old", "bot_",
    "check_human", "meaning_of_life", "UnspecifiedReminder", "date", "datetime_query",
    "music_likeness", "is_", "what.", "what_", "current_", "do-i", "weather_query", "alarm",
    "timer", "time", "next.",
    "start.", "calculator", "measurement", "reminder", "Something", "ClearRem", "Snooze", "todo",
)  # fmt: skip
_PURPOSES = """
PlayMusic: play start stream put_on ; music song audio tune
BookRestaurant: book reserve get ; restaurant table reservation dinner
SearchCreativeWork: search find show look_up ; creative_work media work title
AddToPlaylist: add put append insert ; to_playlist playlist song_to_playlist
RateBook: rate score review give ; book rating book_rating novel
SearchScreeningEvent: find search check ; movie_times screenings showtimes cinema
GetWeather: get check fetch ; weather forecast
weather_query: get check fetch query ; weather forecast conditions
calendar_set: create add schedule set ; event calendar_event appointment meeting
calendar_query: get check query read ; calendar schedule events agenda
calendar_remove: delete remove cancel ; calendar_event event appointment
email_sendemail: send write compose ; email mail message
email_query: check read query get ; email mail inbox
email_querycontact: find get look_up ; contact contact_info phonebook
email_addcontact: add save create ; contact address
play_music: play start put_on ; music song track
play_radio: play tune_in start ; radio station radio_station
play_podcasts: play start continue ; podcast podcast_episode
play_audiobook: play read resume ; audiobook audio_book
play_game: play start open ; game
news_query: get read tell ; news headlines
transport_ticket: book buy get ; ticket train_ticket travel_ticket
transport_taxi: book call order ; taxi ride cab
transport_query: get find check ; directions route transport
transport_traffic: check get ; traffic traffic_report
takeaway_order: order get ; takeaway food delivery
takeaway_query: check ask ; delivery takeaway food_delivery
recommendation_locations: find recommend suggest ; places location venue
recommendation_events: find recommend list ; events event
recommendation_movies: recommend find suggest ; movie film
social_post: post tweet share ; social_media status update
social_query: check read get ; social_media feed notifications
cooking_recipe: find get look_up ; recipe cooking_instructions
lists_query: read show get ; list lists
lists_remove: delete remove clear ; list list_entry
lists_createoradd: create add make ; list list_entry
alarm_set: set create add ; alarm wake_up
alarm_query: check list get ; alarms alarm
alarm_remove: delete cancel remove ; alarm
datetime_convert: convert get ; time_zone timezone
iot_cleaning: start run ; vacuum cleaning robot_cleaner
iot_coffee: make brew start ; coffee coffee_machine
iot_hue_lightchange: change set ; light_color lights
iot_hue_lightoff: turn_off switch_off ; lights light
iot_hue_lightdim: dim lower ; lights brightness
iot_hue_lightup: brighten raise ; lights brightness
iot_wemo_off: turn_off disable ; socket smart_plug plug
iot_wemo_on: turn_on enable ; socket smart_plug plug
audio_volume_up: raise increase turn_up ; volume sound
audio_volume_down: lower decrease turn_down ; volume sound
audio_volume_mute: mute silence ; sound volume speaker
music_query: identify get ; current_song song_info
w2: get find ; tax_form w2_form
apr: get check ; card_interest apr
mpg: get check ; gas_mileage fuel_economy
pto_balance: get check ; vacation_days days_off
pto_request: request ask_for ; vacation time_off
pto_used: get check ; used_vacation vacation_taken
pto_request_status: check get ; vacation_request time_off_request
uber: call book ; ride car
"""
_SLOTS = """
artist artist_name: artist performer singer band by
track song_name: song track title name
album music_album: album record
playlist playlist_name: playlist list playlist_name target
playlist_owner: owner whose user
service app_name: service app provider platform with
year: year decade from_year
genre music_genre: genre style kind_of_music
entity_name: song entry what title
restaurant_name: restaurant name place
restaurant_type: kind place_type venue restaurant_type
cuisine: cuisine kitchen food_style
served_dish: dish food meal
party_size_number: people guests party_size seats
party_size_description: guests with companions
city: city town location
state country: region state country area
timeRange: when time date period
object_name: name title work work_title
rating_value: rating score value stars
best_rating: out_of maximum scale
rating_unit: unit rating_unit
movie_name: movie film title
location_name: cinema theater location where
date: date day when on
time: time at clock_time hour
timeofday: part_of_day time_of_day
event_name: event title name what
person: person name contact who
relation: relation relative who person
place_name geographic_poi: place city location where
business_name: business company name shop
business_type: kind type business_type
food_type: food dish meal item
ingredient: ingredient with
definition_word: word term
news_topic: topic about subject
media_type: medium source app channel
radio_name: station radio channel
podcast_name: podcast show title
podcast_descriptor: about kind topic
audiobook_name: book title audiobook
game_name: game title name
transport_type: vehicle mode by transport
transport_agency: company agency provider
email_address: address email to
personal_info: field detail info
email_folder: folder box
list_name: list name which
color_type color: color colour
house_place: room area where
device_type: device machine appliance
change_amount: amount by level
coffee_type: coffee kind drink
weather_descriptor condition_description condition_temperature: condition kind what
order_type: mode how order_type
location: place city location where
movie_type: genre kind
"""

_TOLD = 0.6
"""Share of names and of descriptions that are made of what an intent's sentences tell."""
_PLAIN_VERBS = ("", "", "", "handle", "get", "request", "check", "find", "help_with")

_RESULTS = (
    ("Done.", ("Done.", "Okay, it's done.", "All right, that's done.")),
    ("OK", ("Okay.", "Done.", "It's done.")),
    ("{Words}: {n}.", ("The result is {n}.", "It says {n}.", "{Words}: {n}.")),
    ("Reference {n}.", ("Done, the reference is {n}.", "It's done, number {n}.")),
    ("{v} found.", ("I found {v}.", "Here is {v}.")),
    ("Accepted: {v}.", ("Okay, {v}.", "Done: {v}.")),
    ("Error: The service cannot be reached.", ("Sorry, the service cannot be reached.",
     "I could not reach the service.")),
    ('{{"status": "success", "id": {n}}}', ("Done, the number is {n}.", "It worked, number {n}.")),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Purpose:
    """An intent as it may be offered.

    Attributes:
        intent: Its name in the corpora.
        verbs: First halves of tool names; `nouns` second halves.
        rows: Its sentences, each with its slots as spans.
        phrases: What its sentences tell (`dlm.datagen.telling_words`), in training: tools are
            mostly called that, so that many names lead to a purpose; none where it keeps its own
            names.
        marked: Whether any of its sentences has slots.
    """

    intent: str
    verbs: tuple[str, ...]
    nouns: tuple[str, ...]
    rows: list[tuple[str, spans.Spans]]
    phrases: tuple[str, ...] = ()
    marked: bool = False


@dataclass(frozen=True, slots=True)
class Wish:
    """A tool made of a purpose for one dialogue: its schema, and slot → parameter.

    Attributes:
        told: The words of its name and description that are no verbs, with underscores.
    """

    spec: Spec
    purpose: Purpose
    keys: dict[str, str]
    told: tuple[str, ...]

    @property
    def name(self) -> str:
        """The tool's name."""
        return str(self.spec["name"])

    @property
    def topic(self) -> frozenset[str]:
        """Words that tools with another purpose should not share in the same dialogue."""
        names = (*self.purpose.nouns, self.purpose.intent, *self.told)
        return frozenset(w for name in names for w in _cut(name))

    @property
    def ability(self) -> str:
        """Completes "I can't ..."."""
        return f"{self.purpose.verbs[0]} {self.purpose.nouns[0]}".replace("_", " ").strip()


def _table(text: str) -> Iterator[tuple[list[str], str]]:
    for line in text.strip().splitlines():
        head, _, rest = line.partition(": ")
        yield head.split(), rest


_NAMES = {key: rest for keys, rest in _table(_PURPOSES) for key in keys}
SLOT_NAMES = {key: rest.split() for keys, rest in _table(_SLOTS) for key in keys}


def collect(rows: Iterable[dict[str, Any]], split: str) -> dict[str, Purpose]:
    """Purposes of a split, with those of their rows that are short and whose slots can be found.

    Args:
        rows: Of the utterance corpora.
        split: "train": seen intents, rows not held out; "heldout": unseen intents, all their rows
            that no tool of ours serves.
    """
    wanted = split == "heldout"
    found: dict[str, Purpose] = {}
    for row in leftover.from_markers(rows):
        intent = row["intent"]
        if not intent or unseen(intent) != wanted or intent.startswith(_NOT_TOOLS):
            continue
        if intent.startswith("Hass") or (held_out(row["text"]) and not wanted):
            continue
        if not 2 <= len(row["text"].split()) <= 20 or (wanted and labelled.request(row)):
            continue
        slots = _found(row)
        if slots is None:
            continue
        purpose = found.get(intent) or found.setdefault(
            intent, Purpose(intent, *_words(intent), [])
        )
        purpose.rows.append((row["text"], slots))
    whole = {name: _whole(purpose) for name, purpose in found.items()}
    return _with_phrases({name: p for name, p in whole.items() if len(p.rows) >= 10}, split)


def _whole(purpose: Purpose) -> Purpose:
    """A purpose without the rows that seem to leave a value unmarked."""
    cut = [(row, pieces) for row in purpose.rows if (pieces := spans.pieces(*row)) is not None]
    kept = leftover.all_marked([pieces for _, pieces in cut])
    rows = [row for (row, _), whole in zip(cut, kept, strict=True) if whole]
    return replace(purpose, rows=rows, marked=any(slots for _, slots in rows))


def _with_phrases(purposes: dict[str, Purpose], split: str) -> dict[str, Purpose]:
    if split == "heldout":
        return purposes
    sentences = {n: [_without(*row) for row in p.rows] for n, p in purposes.items()}
    told = telling_words.phrases(sentences)
    return {n: replace(p, phrases=told.get(n, ())) for n, p in purposes.items()}


def _without(text: str, slots: spans.Spans) -> str:
    """A sentence without the values of its slots."""
    taken = {i for start, end in slots.values() for i in range(start, end)}
    return " ".join(w for i, w in enumerate(spans.tokens(text)) if i not in taken)


def _cut(name: str) -> list[str]:
    parts = re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower().split("_")
    return [p.rstrip("s") for p in parts if len(p) > 3]


def _found(row: dict[str, Any]) -> spans.Spans | None:
    """Every slot's span; None where one is not in the text once, or two overlap."""
    found: spans.Spans = {}
    if not row["slots"]:
        return found
    words = spans.tokens(row["text"])
    for slot, value in row["slots"].items():
        if slot not in SLOT_NAMES:
            continue
        span = spans.find(words, value) if isinstance(value, str) else None
        if span is None:
            return None
        found[slot] = span
    taken = [i for start, end in found.values() for i in range(start, end)]
    return found if len(taken) == len(set(taken)) else None


def _words(intent: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    named = _NAMES.get(intent)
    if named:
        verbs, nouns = named.split(" ; ")
        return tuple(verbs.split()), tuple(nouns.split())
    plain = intent.replace(".", "_").replace("?", "").replace("-", "_").lower().strip("_")
    return ("", "", "handle", "get", "request"), (plain,)


def offer(purpose: Purpose, rng: Random, style: str, wanted: spans.Spans | None = None) -> Wish:
    """The purpose as a tool.

    Args:
        purpose: The intent.
        rng: Source of chance.
        style: Of its name.
        wanted: Slots of the row that will ask for it: these are mostly among its parameters.
    """
    named = _titled(purpose, rng)
    name = styled([w for w in "_".join(named).split("_") if w], style)
    slots = [s for s in wanted or () if rng.random() < 0.92]
    others = [s for _, found in rng.sample(purpose.rows, min(4, len(purpose.rows))) for s in found]
    slots += [s for s in dict.fromkeys(others) if s not in (wanted or ()) and rng.random() < 0.6]
    rng.shuffle(slots)
    keys: dict[str, str] = {}
    for slot in slots[:6]:
        options = [n for n in SLOT_NAMES[slot] if n not in keys.values()]
        if options:
            keys[slot] = rng.choice(options)
    described = _titled(purpose, rng)
    words = " ".join(described).replace("_", " ").strip()
    forms = ("{}.", "{}.", "To {}.", "Use it to {}.", "{} for the user.", "When the user asks: {}.")
    required = [k for s, k in keys.items() if s in (wanted or ()) and rng.random() < 0.3]
    properties = {k: {"type": "string"} for k in keys.values()}
    schema = {"type": "object", "properties": properties, "required": required}
    description = capital(rng.choice(forms).format(words))
    spec = {"name": name, "description": description, "parameters": schema}
    return Wish(spec, purpose, keys, (named[1], described[1]))


def _titled(purpose: Purpose, rng: Random) -> tuple[str, str]:
    """A verb and what it is done with, with underscores."""
    verb, noun = rng.choice(purpose.verbs), rng.choice(purpose.nouns)
    if not purpose.phrases or rng.random() > _TOLD:
        return verb, noun
    return rng.choice(_PLAIN_VERBS), rng.choice(purpose.phrases)


def asked(wish: Wish, text: str, slots: spans.Spans) -> list[Piece] | None:
    """A row in pieces whose slots are the tool's parameters."""
    return spans.pieces(text, {wish.keys[s]: span for s, span in slots.items() if s in wish.keys})


def answered(wish: Wish, arguments: dict[str, str], rng: Random) -> tuple[str, str]:
    """A result and what the agent says of it."""
    words = wish.purpose.nouns[0].replace("_", " ")
    fields = {
        "Words": capital(words),
        "n": str(rng.choice((rng.randint(2, 60), rng.randint(100, 99999)))),
    }
    fields["v"] = rng.choice(list(arguments.values())) if arguments else words
    weights = (6, 3, 4, 3, 3, 4, 1, 2) if arguments else (6, 3, 4, 3, 0, 0, 1, 2)
    shown, replies = rng.choices(_RESULTS, weights)[0]
    text = shown.format(**fields)
    return text, capital(rng.choice(replies).format(**fields))
