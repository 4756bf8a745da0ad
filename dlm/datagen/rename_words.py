"""Other names and descriptions for the agents' tools and parameters.

A tool is three lines: its name, verbs ; nouns that other names are made of, and descriptions; a
parameter one line.
"""

from __future__ import annotations

from dlm.datagen import rename_wide

_TOOLS = """
get_time
get fetch tell read show current what ; time clock local_time hour now
What time it is. / Returns the current local time, optionally for a city. / Clock.
get_date
get fetch tell read look_up which ; date calendar_day day calendar weekday
What date a day is. / Returns the calendar date. / Look up a day in the calendar.
set_timer
start create begin make add launch new ; timer countdown stopwatch kitchen_timer egg_timer
Begin counting down. / Starts a timer that rings when over. / Countdown for cooking and so on.
list_timers
show get list read query all ; timers countdowns active_timers timer_status
All timers and the time left. / Returns the active timers. / How long timers still run.
cancel_timer
stop delete end kill clear drop ; timer countdown running_timer stopwatch
Ends a countdown. / Removes a timer before it rings. / Timer off.
set_alarm
create add schedule make new ; alarm wake_up wakeup_call alarm_clock morning_alarm
Wake the user. / Creates an alarm for a time of day. / Rings at the given time.
set_reminder
create add save make new store ; reminder memo task note_to_self todo_alert
Keep a note and bring it up later. / Creates a reminder. / Reminds the user of a task.
list_reminders
show get read query all ; reminders memos tasks pending_reminders
What the user wanted to remember. / Returns all reminders. / Open reminders.
add_to_list
append put insert save push ; list_item item_to_list entry shopping_item to_list
Adds an entry to a shopping or other list. / Writes something on a list. / List: add.
remove_from_list
delete take drop strike erase ; list_item item_from_list entry from_list
Deletes an entry of a list. / Takes something off a list. / List: remove.
read_list
get show fetch open view ; list list_items entries shopping_list whole_list
What is on a list. / Returns the entries of a list. / List: read.
calculate
compute evaluate solve work_out do ; math sum expression arithmetic formula
Does arithmetic. / Evaluates a mathematical expression. / Calculator.
convert_units
unit change transform measure to ; converter units measure conversion units_of
Changes one unit into another. / Unit converter for lengths, weights and so on.
convert_currency
exchange currency change money forex ; converter money exchange rate amount_to
Exchanges money at today's rate. / Currency converter. / What money is worth elsewhere.
get_weather
fetch check look_up query tell ; weather forecast conditions weather_report climate
Weather forecast for a place and day. / Rain, sun and temperature. / How the weather will be.
get_stock_price
fetch quote check look_up query ; stock share_price ticker quote market_price
Current price of a share. / Looks up a company at the stock exchange. / Stock quotes.
set_device
control switch adjust change turn ; device appliance home smart_home equipment
Controls lights, locks, blinds and so on. / Changes a device at home. / Smart home control.
get_device
query check read inspect state_of ; device appliance device_state home_state equipment
Whether a device is on, off, open or locked. / Reads a device at home. / Smart home status.
search_documents
find query look_in grep search ; documents notes files library knowledge_base
Full text search over notes. / Finds a passage in the user's files. / Look into notes.
end_conversation
stop finish close hang leave quit ; call conversation session chat dialogue talk
Say goodbye and hang up. / Finishes the talk. / Use when the user is done.
order_drink
add put make take new ; drink beverage coffee order_item drink_item to_order
Puts a beverage into the cart. / New drink for the customer. / Order a coffee or tea.
remove_drink
delete drop take_off cancel void ; drink beverage order_item item coffee
Takes a beverage out of the cart. / Cancel one drink. / The customer does not want it.
read_order
show get list repeat review ; order cart basket order_summary current_order
What was ordered so far. / Summary of the cart. / Repeat the order.
confirm_order
place submit finish complete send ; order cart purchase checkout basket
Submit the order. / The customer is done; send the order. / Finish and place it.
transfer_call
hand_over forward connect route pass ; call caller human agent line
Connect the caller to staff. / Forward the call. / When the caller wants a human.
"""
_PARAMETERS = """
place: place city location where town region area
day: day date when which_day on
duration: duration length time how_long period span
name: name label title called tag
when: when time at moment start due date_time
text: text message what note content task about
item: item thing entry product what article
list: list list_name target which_list to
expression: expression formula sum input query problem
amount: amount quantity value number how_much
from_unit: from_unit source unit from in_unit
to_unit: to_unit target unit_to into out_unit
from_currency: from_currency source from base have
to_currency: to_currency target to into want
company: company stock firm business symbol who
device: device appliance name target entity thing
room: room area location where zone place
state: state value setting status to action
query: query text search keywords topic about terms
drink: drink item beverage product kind what
size: size cup cup_size how_big
roast: roast bean roast_level roast_type beans
milk: milk dairy cream milk_type
shots: shots espresso shot_count espresso_shots
sweetener: sweetener sugar sweet sweetness syrup
extras: extras toppings additions addons topping
quantity: quantity count how_many number_of_drinks
to: to target whom person department who
"""

Words = tuple[list[str], list[str], list[str]]
"""First and second halves of a tool's other names, and its other descriptions."""


def _read(*tables: str) -> dict[str, Words]:
    found: dict[str, Words] = {}
    for table in tables:
        lines = table.strip().replace("\\\n", "").splitlines()
        for name, words, told in zip(lines[::3], lines[1::3], lines[2::3], strict=True):
            first, _, second = words.partition(" ; ")
            known = found.setdefault(name, ([], [], []))
            for kept, new in zip(
                known, (first.split(), second.split(), told.split(" / ")), strict=True
            ):
                kept += [word for word in new if word not in kept]
    return found


OTHERS: dict[str, dict[str, Words]] = {
    "heldout": _read(_TOOLS),
    "train": _read(_TOOLS, rename_wide.TABLE),
}
"""By split and tool. Training has more of them; held-out names are of the common ones."""

PARAMETERS: dict[str, list[str]] = {
    line.split(": ")[0]: line.split(": ")[1].split() for line in _PARAMETERS.strip().splitlines()
}
"""By parameter: names that it may have."""
