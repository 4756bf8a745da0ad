"""Invented tools of offices, shops and more, in the notation of `dlm.datagen.inventions`."""

from __future__ import annotations

TABLE = """
@ take_note | Write a note. / Saves what the user dictates. / Notepad.
n take write save make store ; note memo jotting dictation
c take notes
p text task text note content what body
> !take a note {text} | !note down {text} | !write this down {text} | note {text}
> !save a note that says {text}
> make a memo {text} | !jot down {text} | new note {text} | i want to note {text}
+ and {text} | also {text}
- !take a note | !write something down | new note
? What should I write? | Go ahead, what is the note?
< Note saved: {text}. | Saved as note {number}.
= Noted: {text}. | I wrote down: {text}. | Saved as note {number}. | Note saved.

@ log_meal | Log food that was eaten. / Calorie diary. / Adds a meal to the diary.
n log track add record save ; meal food calories snack
c log meals
p food item food what meal item dish
p grams? large_number grams amount weight portion how_much
> i (ate|had) {food} | !log {food} | !log {grams} grams of {food}
> {grams} grams of {food} for lunch | !track {food}
> !add {food} to my food diary | i just had {grams} grams of {food} | !record {food} for today
+ and {food} | also {grams} grams of {food}
< Logged {food}, {number} calories. | {food}: {number} calories, {number2} today.
= Logged {food}, {number} calories. | That's {number} calories.
= {food} has {number} calories, {number2} today.

@ start_workout | Start a workout. / Begins tracking exercise. / Fitness coach.
n start begin track launch ; workout exercise training fitness
c start workouts
p kind running|cycling|yoga|swimming|rowing|boxing|hiking|tennis kind type sport exercise
p length? duration length duration time how_long for
> !start a {kind} workout | i'm going {kind} | !track my {kind} | !start {length} of {kind}
> {kind} for {length}
> let's do {kind} for {length} | begin {kind} [now] | i want to do some {kind}
> new {kind} session {length}
< {kind} started. | {kind} started for {length}.
= Okay, {kind} started. | {kind} for {length}, go. | Have fun, {kind} started.
= Tracking {kind} now.

@ vacuum_room | Send the robot vacuum. / Cleans a room. / Robot cleaner.
n vacuum clean sweep start ; room floor area robot
c clean rooms
p room room room where area place which
> !vacuum the {room} | !clean the {room} | send the robot to the {room} | the {room} is dirty
> {room} needs vacuuming
> could you clean the {room} floor? | start cleaning in the {room} | the {room} could use a clean
+ and the {room} | the {room} too
- !start the vacuum | !clean the house
? Which room? | Where should it clean?
< The robot is on its way to the {room}. | Cleaning the {room}, {number} minutes.
! The robot is stuck.
= The robot is cleaning the {room}. | Okay, cleaning the {room}.
= The {room} takes {number} minutes.

@ feed_pet | Feed a pet. / Opens the food dispenser. / Pet feeder.
n feed give dispense serve ; pet animal food portion
c feed pets
p pet name pet animal who name which
p portions? count portions amount how_much scoops
> !feed {pet} | !give {pet} {portions} portions | {pet} is hungry | {portions} portions for {pet}
> it's time to feed {pet} | could you feed {pet} {portions} scoops? | dinner for {pet}
+ and {pet} | {pet} too
< {pet} got {portions} portions. | {pet} was fed.
! The feeder is empty.
= {pet} has been fed. | Done, {pet} got {portions} portions. | Okay, I fed {pet}.

@ open_ticket | Open a support ticket. / Reports a problem to support. / Help desk.
n open create file report submit ; ticket issue case incident problem
c open tickets
p problem task problem issue subject text what about
p priority? low|medium|high|urgent priority urgency level severity
> !open a ticket {problem} | i have a problem {problem} | !report an issue {problem} it's {priority}
> !file a {priority} ticket {problem}
> new {priority} priority ticket {problem} | !create a case {problem} | something is wrong {problem}
- !open a ticket | i have a problem | !report something
? What is the problem? | What happened?
< Ticket {code} is open. | Ticket {code}, {priority} priority, is open.
= Your ticket number is {code}. | I opened ticket {code}. | Ticket {code} is open.
= Done, ticket {code}, {priority} priority.

@ ticket_status | Tell a ticket's state. / How a case is going. / Help desk status.
n check get read look_up ; ticket_status case_state issue_status ticket
c check tickets
p number code number ticket id code case
> what's the status of ticket {number}? | how is case {number}? | !check ticket {number}
> is {number} solved? | ticket {number} please
> any news on {number}? | has ticket {number} been closed? | i'm calling about ticket {number}
+ and {number}? | what about {number}?
- what about my ticket? | !check my case
? Which number? | What is the ticket number?
< Ticket {number} is with {name2}. | Ticket {number} was closed on {weekday}.
< Ticket {number} waits for {noun2} parts.
! There is no ticket {number}.
= Ticket {number} is with {name2}. | It was closed on {weekday}. | It waits for {noun2} parts.
= {name2} is working on it.

@ make_appointment | Make an appointment. / Books a slot with a doctor or stylist. / Front desk.
n make book arrange request ; appointment visit slot booking
c make appointments
p with person with doctor who person whom
p when when when time slot at date
> i need an appointment with {with} {when} | !book me with {with} {when} | can i see {with} {when}?
> {with} {when} please
> !make an appointment (with|for) {with} {when} | does {with} have time {when}?
> i'd like to come in {when} to see {with}
< Appointment with {with}, {when}, room {number}. | You see {with} {when}.
! {with} is not free {when}.
= You see {with} {when}. | Your appointment with {with} is {when}.
= Booked: {with}, {when}, room {number}.

@ define_word | Define a word. / Dictionary. / What a word means.
n define explain look_up mean ; word term meaning dictionary_entry
c define words
p word noun word term what expression entry
> what does {word} mean? | !define {word} | what is (a|the meaning of) {word}? | meaning of {word}
> !look up the word {word}
> what's the definition of {word}? | explain {word} [to me]
+ and {word}? | what about {word}?
< {word}: one {adjective} {noun2} used for {noun3}s. | A {word} is one {adjective} kind of {noun2}.
= A {word} is one {adjective} kind of {noun2}. | It's one {adjective} {noun2} used for {noun3}s.
= {word} means one {adjective} {noun2}.

@ flip_coin | Flip a coin. / Heads or tails. / Decides by chance.
n flip toss throw ; coin heads_or_tails
c flip coins
> !flip a coin | heads or tails | !toss a coin | coin flip please | let's flip for it
> can you flip a coin? | throw a coin
< Heads. | Tails.
= It's heads. | It's tails. | Heads. | Tails.

@ roll_dice | Roll dice. / Random number from a die. / Dice.
n roll throw cast ; dice die random number
c roll dice
p sides? count sides faces max of
> !roll a die | !roll a {sides} sided die | roll the dice | give me a number up to {sides}
> dice please | !throw a {sides} sided dice
< It shows {pips}. | {pips}.
= It's {pips}. | You rolled {pips}. | {pips}.

@ play_podcast | Play a podcast. / Latest episode of a show. / Podcasts.
n play start resume open ; podcast episode show radio_show
c play podcasts
p show title show podcast name title what
> !play the podcast {show} | !play the latest episode of {show} | resume {show}
> i want to hear {show} | podcast {show}
> !continue {show} | put on an episode of {show} | !start {show} where i left off
+ now {show} | and then {show}
< Playing {show}, episode {number}. | {show}, {number2} minutes left.
! {show} was not found.
= Playing {show}, episode {number}. | Here is {show}. | Okay, {show}, {number2} minutes left.

@ get_bus | When the next bus or train leaves. / Departures. / Public transport.
n get next find when ; bus departure train tram
c look up departures
p to place to destination where direction
p line? number line bus number route
> when is the next bus to {to}? | when does the {line} to {to} leave? | next train to {to}
> !find me a bus to {to}
> how do i get to {to} by train? | bus {line} to {to} | departures to {to} please
+ and to {to}? | what about {to}?
< The next one to {to} leaves at {clock2}. | Line {number} to {to}, {clock2}, platform {number2}.
! There is no connection to {to}.
= The next one to {to} leaves at {clock2}. | At {clock2}, platform {number2}. | {clock2} to {to}.

@ add_contact | Save a contact. / New entry in the address book. / Contacts.
n add save create store ; contact person number phone_entry
c save contacts
p person person person name contact who
p number code number phone digits telephone
> !save {person} with number {number} | !add {person} to my contacts {number}
> new contact {person} {number}
> the number of {person} is {number} | store {number} as {person}
> !create a contact {person} with {number}
< Saved {person}, {number}. | {person} is in your contacts.
= I saved {person}. | {person} is in your contacts. | Saved {person} with {number}.

@ rate_item | Rate something. / Gives stars. / Ratings.
n rate give score review ; item title stars book
c rate things
p title title title what item name book
p stars count stars score rating points value
> !give {title} {stars} stars | !rate {title} {stars} | {title} gets {stars} stars
> {stars} stars for {title}
> i'd rate {title} {stars} | !score {title} with {stars} points
+ and {title} gets {stars}
< {title} rated {stars}. | Rating saved: {title}, {stars}.
= I rated {title} {stars}. | {title} gets {stars}. | Rating saved: {title}, {stars}.

@ check_stock_item | Tell whether an article is in stock. / Looks into the warehouse. / Inventory.
n check look_up query find ; inventory availability warehouse article
c check the inventory
p item item item article product what name
p store? place store branch where location shop
> do you have {item}? | is {item} in stock [in {store}]? | !check if {item} is available
> have you got any {item} in {store}?
> i'm looking for {item} | how many {item} are there in {store}? | stock of {item}
+ and {item}? | what about {item}? | and in {store}?
< {number} of {item} in stock. | {item} is sold out until {weekday}.
< {item}: aisle {number2}, {price} dollars.
= We have {number} of {item}. | {item} is sold out until {weekday}.
= It's in aisle {number2}, {price} dollars. | There are {number} in stock.

@ start_car | Start the car. / Warms up the vehicle. / Remote start.
n start warm_up preheat turn_on ; car vehicle engine auto
c start the car
p degrees? degrees degrees temperature heat warmth to
> !start the car | !warm up the car to {degrees} | !preheat the car | get the car ready
> car on please | make the car {degrees}
< The car is running. | The car is warming to {degrees}.
! The car is too far away.
= The car is running. | The car is warming to {degrees}. | Okay, the car is on.

@ spell_word | Spell a word. / Letter by letter. / Spelling.
n spell letters write_out ; word name spelling
c spell words
p word made word what name term text
> how do you spell {word}? | !spell {word} | what's the spelling of {word}? | spell the word {word}
> letters of {word}
+ and {word}?
< {letters}.
= {letters}. | It's spelled {letters}.
"""
