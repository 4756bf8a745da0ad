"""Still more names and descriptions for the agents' tools, so that none of them is known by heart.

Notation of `dlm.datagen.rename_words`: three lines for each tool.
"""

from __future__ import annotations

TABLE = """
get_time
say check ask_for display give look_at ; time_of_day local_clock clock_time city_time world_clock
Says how late it is. / The hour and minute right now, here or elsewhere. / Reads the clock. / \
Use this when someone asks for the time. / Gives the time of day. / World clock. / time now
get_date
say check find give convert ; calendar_date todays_date day_of_week date_for_day date_info
Says the date. / Turns a day such as tomorrow into a date. / Which weekday and date it is. / \
Use this when someone asks what day it is. / Calendar lookup, holidays too. / date of a given day
set_timer
count_down put run schedule kick_off time ; minute_timer timer_for countdown_timer cooking_timer \
interval
Counts down a length of time and rings. / Runs a timer of so many minutes. / Use it to time \
something, such as pasta. / New countdown, with a name if the user gives one. / Lets the user know \
when a time span has passed. / timer: start one
list_timers
see check how_long what view report ; timers_left running_timers remaining_time time_left \
countdown_status
Shows the timers and what is left of them. / How much time is left. / Use it when the user asks \
about running timers. / Reads out every countdown. / remaining time
cancel_timer
abort remove switch_off dismiss quit turn_off ; active_timer timers named_timer cooking_timer \
countdown_timer
Stops a countdown early. / The user no longer needs a timer. / Cancels one timer or all. / Turns \
a timer off. / Use it to get rid of a running timer. / abort a countdown
set_alarm
put ring program wake turn_on start ; alarm_at wake_time clock_alarm alarm_for morning_call
Wakes the user up at a time. / Sets the alarm clock to a time of day. / For wake-up times. / \
Rings when a time of day has come. / New alarm. / when to get up
set_reminder
remember note put write_down schedule tell_me ; reminder_for thing_to_do to_remember nudge \
personal_note
Remembers something for later. / Notes what the user must not forget. / Tells the user to do \
something at a time. / Use it when the user says remind me. / Makes a note to self. / new reminder
list_reminders
see check hear tell what_are view ; to_remember my_reminders saved_reminders things_to_do nudges
Tells what the user asked to be reminded of. / Shows the saved reminders. / What is still to be \
remembered. / Use it when the user asks for their reminders. / Reads reminders out.
add_to_list
write note enter place include jot ; onto_list shopping_list new_item groceries item_on_list
Puts things on the shopping list. / One more item for a list. / Use it when something must be \
bought or noted on a list. / Writes an entry. / Makes a list longer. / new list item
remove_from_list
cross_off cut scratch clear tick_off pull ; off_list shopping_item item_off list_line bought_item
Crosses an item off. / Takes back what was put on a list. / Use it when something need not be \
bought any more. / Clears one entry from a list. / Makes a list shorter.
read_list
see check hear tell what_is_on display ; the_list list_contents my_list groceries items
Says what is on a list. / Reads the shopping list out. / Tells which items a list has. / Use it \
when the user asks what they need to buy. / contents of a list
calculate
figure_out add_up count work reckon crunch ; numbers calculation maths result total
Works out numbers. / Adds, subtracts, multiplies and divides. / Use it for any sum. / Tells the \
result of a calculation. / Does the maths. / plus, minus, times, percent
convert_units
translate turn express switch compute ; measurement unit_to_unit metric amount_in_unit length
Converts between units such as miles and kilometers. / How much an amount is in another unit. / \
Use it for inches, pounds, liters. / Translates measurements. / unit conversion
convert_currency
translate turn swap price compute ; dollars_to foreign_money cash fx money_in_currency
Converts money into another currency. / Says what dollars are in euros and so on. / Use it for \
exchange rates. / Changes cash. / How much money is elsewhere. / foreign exchange
get_weather
see ask_for report give is_it ; outdoor_conditions temperature_outside rain_forecast sky
Says what the weather is like. / Will it rain, snow or shine. / Use it when someone asks about \
temperature, rain or wind. / Weather for a city. / What to expect outside. / meteorology
get_stock_price
check value say see give ; shares company_stock market_value stock_value share_quote
Says what a company's stock is worth. / How a company does on the market. / Use it when someone \
asks about shares. / Market price of a firm. / stock market lookup
set_device
turn_on_off set put dim command operate ; light_or_switch house home_device thing_at_home
Turns things at home on or off, opens, locks or dims them. / Use it for lamps, heating, doors, \
blinds. / Sets a light, a lock or a thermostat. / Operates the house. / state of an appliance: set
get_device
is_on look_at see ask tell report ; light_state door_state device_status house_state is_it_on
Tells if a lamp is on or a door is locked. / Use it when the user asks how something at home is. / \
Reads out the state of lights, locks and doors. / Looks at one thing in the house.
search_documents
read_up browse scan ask open consult ; papers my_notes text_files written_notes archive
Looks something up in the user's own papers. / Use it when the user asks what their notes say. / \
Searches text files for words. / Finds what was written about something.
end_conversation
say exit finish_up ring_off stop_talking bye ; goodbye the_call session_now this_chat line
Ends it when the user says goodbye. / Nothing more to talk about. / Closes the line. / Use it when \
the user wants to stop talking. / bye
order_drink
buy get request want serve prepare ; a_drink coffee_order hot_drink cup_of latte new_item
Adds a coffee or tea as the customer wants it. / Use it for each drink that is ordered. / Takes \
down an order for a drink. / What the guest wants to drink. / Another drink, with milk and so on.
remove_drink
remove take_away scratch undo leave_out erase ; ordered_drink from_order cup drink_again a_coffee
Takes a drink off the order. / Use it when the customer changes their mind about a drink. / \
Leaves a drink out. / One drink less. / removes what was ordered
read_order
tell check say go_over view see ; the_order my_drinks ordered_items order_so_far bill
Says what has been ordered. / Reads the drinks back to the customer. / Use it when the customer \
asks what they have. / Goes over the order. / order so far
confirm_order
close finalize accept pay_for done_with ; the_order final_order all_drinks whole_order the_purchase
Finishes the order. / Use it when nothing more is wanted. / Places the order under the customer's \
name. / That is all; send it. / finalizes the drinks
transfer_call
put_through give switch escalate get ; real_person staff manager colleague operator
Puts the caller through to staff. / Use it when the customer asks for a person. / Gets someone on \
the line. / A human takes over. / passes the caller on
"""
