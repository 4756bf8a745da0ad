"""Tables that tools are composed from: things, what can be done with them, kinds of parameters.

``THINGS``: by group, things with their synonyms. ``ACTIONS``: group action | verbs | requests |
results | replies | kinds of parameters; ``NOUN`` is the thing, ``REF`` the thing with what tells it
from its like, ``{ref}``; a kind ending in ``*`` is always told. ``KINDS``: kind | kind of value |
how it is said | parameter names.
"""

from __future__ import annotations

from dataclasses import dataclass

from dlm.datagen import composed_offers

THINGS: dict[str, str] = {
    "record": """invoice bill, ticket issue, contact, note memo, document file, report, contract
agreement, customer client, project, chore, bug defect, expense, receipt, claim, proposal,
quote estimate, employee worker, lead prospect, survey questionnaire, campaign, backup snapshot,
folder directory, photo picture, video clip, bookmark favorite, dish, journal diary, workout
exercise, meal, medication pill, patient, prescription, symptom, lesson, course class, student
pupil, assignment homework, flashcard, grade mark, recording, transcript, poll vote, announcement
notice, article, post, comment, subscription membership, coupon voucher, donation, budget, account,
card, policy, complaint grievance, inspection, permit licence, visitor guest, parcel package,
shipment delivery, supplier vendor, product, warehouse depot, tree plant, animal pet, vehicle car,
trip journey, route path, habit routine, goal target, skill, rule automation, scene, playlist,
channel, deployment release, server machine, table, branch, feature, outage, interview,
candidate applicant, shift, timesheet, badge pass, collection, song track, sample, experiment,
species, sensor probe""",
    "booking": """flight, hotel_suite suite, appointment, massage, haircut, taxi cab, tennis_court,
train_seat, bus_seat, ferry, rental_car, meeting_room, desk, parking_spot, boat, museum_tour, walk,
concert_seat, cinema_seat, theater_box, cooking_class, yoga_class, dentist, doctor, vaccination,
car_wash, oil_change, cleaning, babysitter nanny, dog_walker, photographer, tutor, locksmith,
electrician, plumber, gardener, campsite, cabin hut, ski_lift, spa_day, escape_room, bowling_lane,
golf_round, karaoke_booth, conference_call, test_drive, viewing, moving_van, storage_unit, table""",
    "machine": """dishwasher, robot rover, printer, pump, sprinkler irrigation, projector,
drone, furnace boiler, freezer, conveyor_belt conveyor, elevator, generator, charger, camera webcam,
siren, fountain, greenhouse, aquarium, sauna, pool_heater pool, hot_tub, treadmill, washing_machine
washer, dryer, espresso_machine, bread_maker, air_purifier purifier, dehumidifier, ventilation,
radiator, floor_heating, mower, barrier, telescope, microscope, welder, laser_cutter cutter, mixer
blender, turbine, battery, solar_panel, router, loudspeaker, screen monitor, scanner, antenna,
engine motor, valve""",
    "media": """opera operetta, audiobook book, radio_station station, news_briefing news, album,
film movie, documentary, series, lullaby, symphony, white_noise noise, rain_sound, meditation,
language_course, quiz trivia, bedtime_story story, talk, soundtrack, sermon, lecture, concert,
anthem, sketch, game, puzzle riddle""",
    "goods": """ink toner, paper, pizza, sushi, burger, bouquet, cake, novel, shoe sneaker, jacket,
lamp, chair stool, sofa couch, mattress, phone, laptop, headphone, watch, bicycle bike, tire,
battery_pack, filter, seed, paint, tile, hammer, umbrella, suitcase, toy, board_game, stroller,
diaper, vitamin, sandwich, salad, smoothie, wine_bottle wine, grocery_box, dog_toy, litter, razor,
perfume, sunscreen, tent, backpack, helmet, ski, guitar""",
    "topic": """traffic, air_quality, pollen, tide, surf, sunrise, moon_phase moon, earthquake,
snow_depth snow, river_level, fuel_price gas_price, electricity_price, gold_price, bitcoin_price,
mortgage_rate, tax_rate, postage, toll, parking_fee, train_delay delay, bus_timetable timetable,
football_score score, league_table, lottery_number, election_result, horoscope, joke, quotation
saying, proverb, synonym, translation, definition meaning, rhyme, anagram, capital, population,
distance mileage, calorie_count calories, nutrition, dosage, opening_hour, phone_number, area_code,
zip_code postcode, name_day, birthday, time_zone, recipe_idea recipe, wine_pairing, movie_rating,
restaurant_tip, trail hike, campground, charging_station charger, pharmacy, water_temperature""",
}

ACTIONS = """
record create | create add new make open register file | !create a [new] NOUN / !add a [new] \
NOUN / !make a new NOUN / i need a new NOUN / new NOUN / !set up a NOUN / i'd like to add a \
NOUN / !register a new NOUN / please file a NOUN / !open a NOUN / !save a NOUN / !put in a new \
NOUN | Created NOUN {id}. / NOUN {id} was added. / Saved. / The NOUN is number {id}. | Okay, \
NOUN {id} is created. / Done, it's NOUN {id}. / The NOUN is saved. / Your NOUN has number \
{id}. | title for_person to_person when day text priority price topic company place category \
duration
record delete | delete remove erase drop discard clear | !delete REF / !remove REF / !get rid \
of REF / i don't need REF (anymore|any more) / !throw away REF / !erase REF / !drop REF / REF \
can go / please take out REF | Deleted. / NOUN deleted. / The NOUN is gone; {id} are left. | \
The NOUN is deleted. / Done, the NOUN is gone. / It's removed, {id} are left. | reason
record list | list show get all browse query | !show [me] [all] my NOUNs / what NOUNs (do i \
have|are there)? / !list [all] [the] NOUNs / which NOUNs are there? / !give me the NOUNs / \
(are|were) there any NOUNs? / how many NOUNs do i have? / my NOUNs please / !go through the \
NOUNs | {id} NOUNs: {x}, {y} and {z}. / There are {id} NOUNs; the latest is {x}. / No NOUNs \
found. | You have {id} NOUNs: {x}, {y} and {z}. / There are {id} NOUNs, the latest is {x}. / I \
found no NOUNs. | category status from_person day place company topic
record find | find search look_up get fetch retrieve | !find REF / !look up REF / !search for \
REF / where is REF? / can you find REF? / i'm looking for REF / !pull up REF / !open REF / \
!show me REF | NOUN {id}: {x}, from {weekday}. / Found {x}, number {id}. / Nothing found. | I \
found {x}, number {id}. / That's NOUN {id}, {x}, from {weekday}. / I found nothing, sorry. | \
from_person day
record update | update change edit modify set revise | !change REF to {value*} / !update REF \
to {value*} / !set REF to {value*} / REF should be {value*} / !edit REF to say {value*} / \
!make REF {value*} | NOUN updated. / Updated: {value}. / Changed. | Okay, the NOUN is changed. \
/ Done, it's {value} now. / The NOUN is updated. | reason
record send | send share forward mail transmit | !send REF to {to_person*} / !share REF with \
{to_person*} / !forward REF to {to_person*} / !give {to_person*} REF / !let {to_person*} have \
REF / {to_person*} needs REF | Sent to {to_person}. / NOUN shared. / Delivered to {to_person}. \
| I sent it to {to_person}. / Done, {to_person} has the NOUN. / The NOUN is on its way. | text \
when
record rate | rate score grade review | !rate REF {rating*} / !give REF {rating*} / REF \
(gets|deserves) {rating*} / i'd give REF {rating*} | Rated {rating}. / Saved with {rating}. | \
Okay, {rating}. / Saved, {rating} for the NOUN. | text
record close | close finish complete resolve archive mark_done | !close REF / !finish REF / \
!mark REF as done / REF is done / !archive REF / !complete REF | NOUN closed. / Done, {id} \
still open. | The NOUN is closed. / Okay, {id} are still open. | reason when
record status | status check state track get_status | what's the status of REF? / how is REF \
coming along? / !check [on] REF / is REF (done|ready|open)? / any news on REF? / what about \
REF? / !track REF | Status: {state}. / The NOUN is {state}. / {state} since {weekday}. | It is \
{state}. / The NOUN is {state}. / It's been {state} since {weekday}. |
booking book | book reserve schedule get arrange order | !book [me] a NOUN / !reserve a NOUN / \
i need a NOUN / !get me a NOUN / !schedule a NOUN / can i get a NOUN? / !arrange a NOUN / i'd \
like to book a NOUN / a NOUN please / we want a NOUN / !find us a NOUN | NOUN booked, number \
{id}. / Booked for {price} dollars. / Your code is {id}. / Confirmed. | Your NOUN is booked, \
number {id}. / It's booked for {price} dollars. / Booked, your code is {id}. / The NOUN is \
confirmed. | when day place for_person people company duration from_place to_place price \
with_person category text
booking cancel | cancel drop void call_off delete | !cancel (my|the) NOUN / !call off the NOUN \
/ i (can't make|don't need) the NOUN / !drop my NOUN / please cancel the NOUN | Cancelled. / \
NOUN cancelled, {price} dollars refunded. | Your NOUN is cancelled. / It's cancelled, and \
{price} dollars come back to you. | when day for_person number reason
booking move | reschedule move change postpone shift | !move (my|the) NOUN to {when*} / \
!reschedule the NOUN (to|for) {when*} / !change my NOUN to {when*} / !push the NOUN to {when*} \
/ can we do the NOUN {when*} instead? | Moved to {when}. / NOUN moved. | Your NOUN is now \
{when}. / Okay, I moved the NOUN. | for_person number reason
booking price | price cost quote check get_price | how much is a NOUN? / what does a NOUN \
cost? / !check the price of a NOUN / price of a NOUN / what would i pay for a NOUN? | {price} \
dollars. / From {price} dollars. | It costs {price} dollars. / A NOUN is {price} dollars. | \
place day people company from_place to_place
booking free | availability check find_free slots openings | is there a NOUN free? / when can \
i get a NOUN? / any NOUNs free? / !check if a NOUN is available / do you have a NOUN? | Free \
at {clock}. / {id} free. / Nothing free. | There is one at {clock}. / {id} are free. / Nothing \
is free, sorry. | day place people company
machine start | start run launch turn_on begin activate | !start the NOUN / !run the NOUN / \
!turn on the NOUN / !fire up the NOUN / !get the NOUN going / !switch the NOUN on / NOUN on / \
!activate the NOUN | NOUN started. / Running, {id} minutes left. / On. | The NOUN is running. \
/ It's on, {id} minutes left. / Okay, it's on. | duration when mode percent room
machine stop | stop halt turn_off shut_down end deactivate | !stop the NOUN / !turn off the \
NOUN / !shut down the NOUN / !switch the NOUN off / NOUN off / !halt the NOUN / !power down \
the NOUN / enough of the NOUN | NOUN stopped. / Off. / Stopped after {id} minutes. | The NOUN \
is off. / Okay, it's off. / It stopped after {id} minutes. | when room reason
machine set | set adjust change regulate configure | !set the NOUN to {percent*} / !turn the \
NOUN (up|down) to {percent*} / !adjust the NOUN to {percent*} / !put the NOUN at {percent*} / \
NOUN to {percent*} / i want the NOUN at {percent*} | NOUN at {percent}. / Set. | The NOUN is \
at {percent}. / Done, {percent}. | room duration when
machine state | state status check is_on read inspect | is the NOUN (on|running|ready)? / what \
is the NOUN doing? / !check the NOUN / how is the NOUN? / did i leave the NOUN on? / NOUN \
status | NOUN: {state}. / The NOUN is {state}, {id} percent. | The NOUN is {state}. / It is \
{state}, {id} percent. | room
machine repair | repair service fix maintain report_fault | the NOUN is broken / !have the \
NOUN repaired / !report a problem with the NOUN / someone must fix the NOUN / the NOUN needs \
service | Reported, case {id}. / A technician comes on {weekday}. | It's reported, case {id}. \
/ A technician comes on {weekday}. | text when priority room
media play | play start stream put_on listen watch | !play the NOUN {title*} / !put on the \
NOUN {title*} / i want the NOUN {title*} / !start the NOUN {title*} / !stream the NOUN \
{title*} / the NOUN {title*} please | Playing {title}. / NOUN started. | Here is {title}. / \
Playing {title} now. / The NOUN is on. | room from_person language percent
media any | play random suggest pick_a start | !play a NOUN / !put on some NOUN / give me a \
NOUN / how about a NOUN? / i want a NOUN | Playing {x}. / {x} by {y}. | Here is {x}. / How \
about {x} by {y}? | topic language from_person duration mode
media stop | stop pause end halt mute | !stop the NOUN / !pause the NOUN / enough of that NOUN \
/ !turn the NOUN off / no more NOUN | NOUN stopped. / Paused. | Okay, the NOUN is off. / \
Paused. | room
media skip | next skip forward continue jump | !skip this NOUN / next NOUN [please] / !go on \
to the next NOUN / another NOUN | Now: {x}. / Skipped. | Now it's {x}. / Okay, skipped. | room
media save | save like favorite remember keep | !save this NOUN / i like this NOUN / !remember \
this NOUN / !add this NOUN to my favorites | Saved {x}. / NOUN saved. | I saved {x}. / The \
NOUN is saved. | category
goods buy | buy order purchase get add_to_cart | !buy a NOUN / !order a NOUN / i need a [new] \
NOUN / !get me a NOUN / we are out of NOUNs / i want to buy a NOUN / !order more NOUNs / a \
NOUN please / can i have a NOUN? | Ordered for {price} dollars. / Order {id}. / NOUN ordered. \
| It's ordered for {price} dollars. / Your order is number {id}. / The NOUN is on its way. | \
color size quantity company price to_place for_person day text
goods find | find search browse look_for compare | !find [me] a NOUN / i'm looking for a NOUN \
/ where can i get a NOUN? / !search for NOUNs / !show me NOUNs / do you have NOUNs? / !look \
for a NOUN | {id} found, from {price} dollars. / {x} for {price} dollars. / None found. | I \
found {id}, from {price} dollars. / There's {x} for {price} dollars. / I found none, sorry. | \
color size price company place category
goods back | return send_back refund exchange | !return the NOUN / !send the NOUN back / the \
NOUN is (broken|wrong) / i want my money back for the NOUN | Return {id} opened. / {price} \
dollars refunded. | The return has number {id}. / You get {price} dollars back. | reason \
number company
goods price | price cost check_price quote | how much is a NOUN? / what do NOUNs cost? / \
!check the price of a NOUN / price of a NOUN | {price} dollars. / {price} dollars at {x}. | \
It's {price} dollars. / {price} dollars at {x}. | color size company quantity
goods where | track trace locate order_status | where is my NOUN? / has my NOUN shipped? / \
when does the NOUN come? / !track my NOUN | Arrives {weekday}. / {state}. | It arrives on \
{weekday}. / It is {state}. | number company
topic get | get check read fetch tell look_up query | what's the NOUN? / !tell me the NOUN / \
!check the NOUN / how is the NOUN? / NOUN / !give me the NOUN / what is the [current] NOUN? / \
!look up the NOUN / i'd like to know the NOUN | {id}. / NOUN: {id}. / {x}. / It is {state}. | \
The NOUN is {id}. / It's {id}. / {x}. / The NOUN is {state}. | place day for_topic from_place \
to_place company language when
topic follow | watch subscribe follow alert notify | !alert me about the NOUN / !notify me \
when the NOUN changes / !follow the NOUN / !keep an eye on the NOUN / !send me updates on the \
NOUN | Following. / Alert {id} set. | I will keep you posted. / Alert {id} is set. | place \
when to_person number
"""

KINDS = """
title | title | called {}; named {}; titled {} | title name label subject headline
for_person | person | for {} | person customer client for_whom owner name who
to_person | person | to {}; for {} | to recipient receiver contact send_to person
with_person | person | with {} | with attendee companion partner guest who
from_person | person | from {}; by {} | sender author by creator from person
when | when | {}; for {} | when time at date_time due slot moment
day | day | {}; for {} | day date when on which_day
duration | duration | for {} | duration length how_long period minutes
place | place | in {}; near {} | place city location where town area
from_place | place | from {} | from origin start departure from_city source
to_place | place | to {} | to destination target arrival to_city end
text | message | saying {}; with the note {}; that says {} | text message note body content \
comment
reason | task | because i have to {} | reason why cause purpose
priority | low|medium|high|urgent | with {} priority; priority {} | priority urgency \
importance level
status | open|closed|new|pending|late|paid | that are {}; with status {} | status state filter \
which
category | private|work|family|sport|travel|school|garden | in the category {}; under {} | \
category kind group folder tag section
mode | quick|quiet|eco|normal|turbo|night | in {} mode; on {} | mode program setting profile
number | code | number {}; with number {} | number id reference ref code
people | count:integer | for {} people; for {} | people guests party_size persons seats
price | number | for {} dollars; under {} dollars | price amount budget max_price cost limit
company | company | from {}; at {}; with {} | company vendor shop store provider brand
topic | topic | about {}; on {} | topic about subject query keywords theme
for_topic | noun | for {}; of {} | term word item subject query what
color | color | in {} | color colour shade tone
size | small|medium|large|extra large | in {}; size {} | size format how_big
quantity | count:integer | and i want {}; {} of them | quantity count how_many pieces number
percent | percent | at {} | level percent value power intensity target
room | room | in the {} | room area zone where location
rating | one star|two stars|three stars|four stars|five stars | {} | rating stars score grade
language | spanish|french|german|italian|japanese|english|dutch | in {} | language lang tongue
value | salad | {} | value new_value content to new text
ref | ref | {} | id name number title which reference
"""

STATES = (
    "open", "closed", "ready", "running", "off", "pending", "delayed", "on time", "good", "poor",
    "empty", "full", "high", "low", "in progress", "on hold", "finished", "fine",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Action:
    """What can be done with the things of a group.

    Attributes:
        verbs: First words of tool names.
        say: Requests; results and replies share fields.
        kinds: Kinds of parameters that may come on top of those in the requests.
    """

    group: str
    name: str
    verbs: tuple[str, ...]
    say: tuple[str, ...]
    results: tuple[str, ...]
    replies: tuple[str, ...]
    kinds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of parameter: the kind of its values, how they are said, how it may be called.

    Attributes:
        typed: "integer" or "boolean" where values need not be strings.
    """

    value: str
    said: tuple[str, ...]
    names: tuple[str, ...]
    typed: str = ""


def _actions() -> tuple[Action, ...]:
    found = []
    for line in (ACTIONS.strip() + composed_offers.ACTIONS.rstrip()).splitlines():
        head, verbs, say, results, replies, kinds = (part.strip() for part in line.split(" |"))
        group, name = head.split()
        said, told, spoken = (tuple(text.split(" / ")) for text in (say, results, replies))
        first = tuple(verbs.split())
        found.append(Action(group, name, first, said, told, spoken, tuple(kinds.split())))
    return tuple(found)


def _kinds() -> dict[str, Kind]:
    found = {}
    for line in (KINDS.strip() + composed_offers.KINDS.rstrip()).splitlines():
        name, value, said, names = (part.strip() for part in line.split(" | "))
        value, _, typed = value.partition(":")
        found[name] = Kind(value, tuple(said.split("; ")), tuple(names.split()), typed)
    return found


def _things() -> dict[str, tuple[tuple[str, ...], ...]]:
    return {
        group: tuple(_names(entry.split()) for entry in " ".join(text.split()).split(", "))
        for group, text in (THINGS | {"offer": composed_offers.THINGS}).items()
    }


def _names(words: list[str]) -> tuple[str, ...]:
    return tuple(words)


ALL_ACTIONS = _actions()
ALL_KINDS = _kinds()
ALL_THINGS = _things()
