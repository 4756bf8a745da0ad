"""Tools that no agent ships, told in a small notation; `dlm.train.inventions` reads it.

``@`` name | descriptions, ``n`` verbs ; nouns of other names, ``c`` what it can do, ``p`` a parameter with
its kind of value and other names, ``>`` what users say, ``+`` follow-ups, ``-`` requests lacking the first
parameter, ``?`` how it is asked for, ``<`` results, ``!`` an error, ``=`` replies.
"""

from __future__ import annotations

TABLE = """
@ play_music | Play music. / Starts a song, album or artist. / Music player.
n play start stream put_on queue ; song music track tune audio media
c play music
p song song song title track piece name
p artist? artist artist singer by performer band
> !play {song} | !play {song} by {artist} | !put on {song} | i want to (hear|listen to) {song} by {artist}
> !start {song} by {artist} | can we hear {song}? | some {song} please | music {song} | !queue {song} by {artist}
> let's listen to {song} | could you put {song} on [please]?
+ and then {song} | now {song} by {artist} | next {song}
- !play some music | !play a song | put some music on
? What would you like to hear? | Which song?
< Playing {song} by {artist}. | Now playing: {song}.
! {song} was not found.
= Okay, playing {song}. | Playing {song} by {artist}. | Here is {song}. | Now playing {song}. | Sure, {song} by {artist}.

@ set_volume | Set the volume. / Louder or quieter, in percent. / Loudness of the speaker.
n set change adjust turn ; volume loudness sound speaker_volume
c change the volume
p level percent level volume percent value to
p speaker? room speaker room where device zone
> !set the volume to {level} | !turn the volume to {level} in the {speaker} | volume {level} | make it {level} loud
> !put the {speaker} speaker at {level} | the volume should be {level} | !change the sound to {level} | sound at {level}
+ and {speaker} too | now {level}
- !change the volume | !adjust the volume
? How loud? | To what level?
< Volume is now {level}. | Volume in the {speaker} is now {level}.
= Volume set to {level}. | Okay, {level}. | The volume is at {level} now. | Done, {level} in the {speaker}.

@ send_message | Send a text message. / Texts a contact. / Message someone.
n send write text post drop ; message text sms note chat
c send messages
p person person person to contact recipient who
p message message message text body content what
> !text {person} {message} | !send a message to {person} saying {message} | !tell {person} {message}
> !message {person} that {message} | let {person} know {message} | !write to {person} {message}
> send {person} a text {message} | could you text {person} {message}? | i need to tell {person} {message}
+ and tell {person} {message} | also text {person} {message}
< Message sent to {person}: {message}. | Sent to {person}.
! There is no contact named {person}.
= I sent your message to {person}. | Done, I told {person}: {message}. | Message sent to {person}. | Okay, {person} has your message.

@ call_contact | Make a phone call. / Dials a person. / Telephone.
n call dial phone ring start ; contact person number phone_call
c make phone calls
p person person person contact name who callee
> !call {person} | !phone {person} | !dial {person} | !give {person} a call | i want to (call|talk to) {person}
> !ring {person} [now] | get {person} on the phone | could you call {person} for me?
+ no {person} | and then {person}
- !call someone | !make a call
? Who should I call? | Call whom?
< Calling {person}. | Calling {person} at {code}.
! There is no number for {person}.
= Calling {person}. | Okay, calling {person} now. | Sure, I'm calling {person}.

@ book_table | Book a table at a restaurant. / Makes a restaurant reservation. / Dinner reservations.
n book reserve make get ; table reservation restaurant dinner booking
c book tables
p restaurant restaurant restaurant place name where venue
p when when when time date at slot
p people? count people guests party_size persons seats
> !book a table at {restaurant} {when} | !reserve {restaurant} for {people} {when} | a table for {people} at {restaurant} {when}
> i need a table at {restaurant} {when} | get us into {restaurant} {when} for {people} people
> can you get a reservation at {restaurant} {when}? | !make a reservation for {people} at {restaurant} {when}
> we'd like to eat at {restaurant} {when} | table for {people} {when} at {restaurant} [please]
< Table booked at {restaurant}, {when}, code {code}. | Booked: {restaurant}, {when}, {people} people.
! {restaurant} has no table {when}.
= Your table at {restaurant} is booked for {when}. | Booked at {restaurant}, {when}. | Done, {restaurant} {when}, code {code}.

@ find_restaurant | Find a restaurant. / Looks up places to eat. / Restaurant search.
n find search look_for suggest ; restaurant place_to_eat food eatery
c find restaurants
p cuisine cuisine cuisine food kind type what
p place? place place city near area where
> !find a {cuisine} restaurant [in {place}] | where can i eat {cuisine} food in {place}? | i feel like {cuisine}
> i'm hungry for {cuisine} | any good {cuisine} places in {place}? | {cuisine} restaurants in {place} | !look for {cuisine} food
> is there a {cuisine} restaurant in {place}? | what's a good place for {cuisine} in {place}?
+ and {cuisine}? | what about in {place}?
< {made} has {cuisine} food, {number} minutes away. | {number2} {cuisine} places; the best is {made}.
! No {cuisine} restaurant was found.
= You could try {made}. | {made} has {cuisine} food. | The best is {made}. | I found {made}, {number} minutes away.

@ order_taxi | Order a taxi. / Calls a cab. / Ride to a place.
n order get call book request ; taxi cab ride car
c order taxis
p to address to destination where drop_off address
p when? when when time pickup_time at
> !get me a taxi to {to} | i need a (cab|ride) to {to} | !order a taxi to {to} {when} | taxi to {to}
> take me to {to} | !book a ride to {to} {when} | could you call a cab to {to}? | i have to get to {to} {when}
- !call me a taxi | i need a cab
? Where to? | Where are you going?
< A taxi to {to} comes in {number} minutes. | Taxi {code} to {to} is booked.
! No taxi is free.
= A taxi to {to} is on its way. | Your taxi comes in {number} minutes. | Taxi {code} is booked. | Okay, a taxi to {to}.

@ get_news | Read the news. / Latest headlines on a topic. / News reader.
n get read tell fetch latest ; news headlines stories articles
c read the news
p topic? noun topic about subject section category
> what's (in the news|new)? | any news about {topic}? | !read me the news | news on {topic} | what happened with {topic}?
> !tell me the headlines | !give me the latest on {topic} | what's going on with {topic}? | headlines please
+ and about {topic}? | what about {topic}?
< {name2} opens the {adjective} {noun2} in {place2}. | {place2}: {number} new {noun2}s were found.
! The news service cannot be reached.
= {name2} opens the {adjective} {noun2} in {place2}. | Here is one: {place2}: {number} new {noun2}s were found.

@ translate | Translate a word or sentence. / Says something in another language. / Translator.
n translate say convert turn ; text phrase words sentence
c translate
p text task text phrase words what sentence
p language spanish|french|german|italian|portuguese|dutch|polish|turkish|russian|japanese|chinese|korean|arabic|hindi|swedish|greek|danish|czech|finnish language to target into lang
> how do you say {text} in {language}? | !translate {text} (to|into) {language} | what is {text} in {language}?
> {text} in {language} | i need {text} in {language} | say {text} in {language} | what's the {language} for {text}?
+ and in {language}? | how about {language}?
< {made} {made2}. | In {language}: {made} {made2}.
= It's {made} {made2}. | That is {made} {made2}. | In {language} you say {made} {made2}.

@ track_package | Track a parcel. / Where a delivery is. / Parcel status.
n track find check locate where_is ; package parcel delivery shipment order
c track parcels
p number code number code id tracking_number parcel
> where is (package|parcel) {number}? | !track {number} | !check the delivery {number} | has {number} arrived [yet]?
> my parcel number is {number} where is it? | status of {number} | when does parcel {number} come? | i'm waiting for {number}
- where is my package? | !track my parcel | when does my delivery come?
? What is the number? | Which tracking number?
< Parcel {number} is in {place2}, due {weekday}. | {number} is out for delivery in {place2}. | {number} was delivered at {clock2}.
! There is no parcel {number}.
= Parcel {number}: {place2}. | It is in {place2}, due {weekday}. | {number} was delivered at {clock2}.

@ buy_tickets | Buy tickets. / Cinema, theatre and concert tickets. / Ticket office.
n buy get book order ; tickets seats ticket admission
c buy tickets
p event title event show movie title what film
p count? count count number seats tickets how_many
p day? day day date when on
> !get {count} tickets (for|to) {event} | !buy tickets for {event} {day} | {count} seats for {event} {day}
> i want to see {event} {day} | tickets to {event} please | !book {count} tickets for {event} {day} | can we go see {event}?
< {count} tickets for {event} are booked, row {number}. | Tickets for {event}: {price} dollars, code {code}.
! {event} is sold out.
= Your tickets for {event} are booked. | {event}: {price} dollars, code {code}. | Done, row {number}. | Booked: {event}.

@ book_hotel | Book a hotel room. / Finds a room for the night. / Hotels.
n book reserve get find ; hotel room stay accommodation
c book hotels
p place place place city where location town
p day day day check_in from date arrival
p nights? count nights length how_long number_of_nights
> !book a hotel in {place} {day} | i need a room in {place} {day} | a room in {place} for {nights} nights from {day}
> !find me a hotel in {place} {day} for {nights} nights | hotel in {place} {day} | we're staying in {place} from {day} get us a room
< {made} hotel in {place}, {price} dollars a night. | Room booked in {place} from {day}, code {code}.
! There is no free room in {place}.
= Booked in {place} from {day}, code {code}. | {made} hotel, {price} dollars a night. | Your room in {place} is booked.

@ transfer_money | Send money to someone. / Bank transfer. / Pays a person.
n transfer send pay wire move ; money funds payment cash
c send money
p amount large_number amount sum value how_much dollars
p person person person to recipient payee who
> !send {amount} dollars to {person} | !transfer {amount} dollars to {person} | !pay {person} {amount} dollars
> i owe {person} {amount} dollars send it | !wire {person} {amount} | {amount} dollars to {person} please
+ and {amount} dollars to {person}
< {amount} dollars sent to {person}. | Paid {person} {amount} dollars, {price} left.
! The account does not have {amount} dollars.
= I sent {amount} dollars to {person}. | Done, {person} has {amount} dollars. | {person} was paid {amount} dollars, {price} left.

@ check_balance | Tell an account's balance. / How much money there is. / Bank balance.
n check get read tell ; balance account funds money_left
c check accounts
p account? checking|savings|credit card|business|joint|travel|holiday|main account which name kind of
> how much (money|) is in my {account} account? | what's my balance? | !check my {account} account | balance please
> how much do i have left in {account}? | !tell me the balance of the {account} account | am i broke?
+ and {account}? | what about the {account} account?
< The balance is {price} dollars. | The {account} account has {price} dollars.
= You have {price} dollars. | The balance is {price} dollars. | There are {price} dollars in it.

@ schedule_meeting | Put a meeting in the calendar. / New calendar event. / Appointment planner.
n schedule add create plan set_up ; meeting event appointment calendar_entry
c plan meetings
p title event title what event subject name
p when when when time start at date
p person? person person with guest invitee attendee who
> !schedule {title} (at|) {when} | !put {title} on my calendar (at|for|) {when} | !plan {title} with {person} {when}
> i have {title} {when} add it | new event {title} {when} | !set up {title} with {person} (at|) {when}
> {when} i have {title} with {person} | !book {title} in my calendar {when} | calendar {title} {when}
< Added {title}, {when}. | {title} with {person} is in the calendar, {when}.
! You are busy {when}.
= {title} is in your calendar, {when}. | Added {title}, {when}. | Okay, {title} with {person}, {when}.

@ read_calendar | Say what is in the calendar. / Events of a day. / Agenda.
n read get show check list ; calendar agenda events schedule appointments
c read the calendar
p day? day day date when on which_day
> what's on my calendar {day}? | what do i have {day}? | am i free {day}? | !read my schedule for {day} | any meetings {day}?
> what's next on my calendar? | agenda for {day} | !show my appointments {day} | how busy am i {day}?
+ and {day}? | what about {day}?
< {day}: {event2} at {clock2}. | Nothing is planned. | {event2} at {clock2} and {event3} at {clock3}.
= {day}: {event2} at {clock2}. | You have {event2} at {clock2} and {event3} at {clock3}. | You have {event2} at {clock2}. | Nothing is planned.

@ find_recipe | Find a recipe. / How to cook a dish. / Cook book.
n find get look_up search suggest ; recipe dish cooking meal
c find recipes
p dish item dish food what name meal
> how do i (make|cook) {dish}? | !find a recipe (for|with) {dish} | what can i cook with {dish}? | recipe for {dish}
> i want to cook something with {dish} | !give me a {dish} recipe | any ideas for {dish}?
+ and with {dish}? | what about {dish}?
< {adjective} {dish}: mix with {item2}, bake {number} minutes. | {dish} with {item2} takes {number} minutes.
! No recipe with {dish} was found.
= Mix it with {item2} and bake {number} minutes. | {dish} with {item2} takes {number} minutes. | Try {dish} with {item2}.

@ get_directions | Tell the way. / Route to an address. / Navigation.
n get find show navigate route ; directions route way path
c give directions
p to address to destination where address goal
p by? car|bike|bus|train|foot|tram|subway by mode with transport vehicle
> how do i get to {to} [by {by}]? | directions to {to} | !navigate to {to} | what's the (best|fastest) way to {to} by {by}?
> !take me to {to} by {by} | how long to {to} by {by}? | route to {to} please | which way is {to}?
+ and by {by}? | how about by {by}?
< {to} is {number} minutes by {by}. | Turn left on {noun2} street, {number} minutes to {to}.
! {to} was not found.
= It takes {number} minutes to {to}. | {to} is {number} minutes by {by}. | Turn left on {noun2} street.

@ take_note | Write a note. / Saves what the user dictates. / Notepad.
n take write save make store ; note memo jotting dictation
c take notes
p text task text note content what body
> !take a note {text} | !note down {text} | !write this down {text} | note {text} | !save a note that says {text}
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
> i (ate|had) {food} | !log {food} | !log {grams} grams of {food} | {grams} grams of {food} for lunch | !track {food}
> !add {food} to my food diary | i just had {grams} grams of {food} | !record {food} for today
+ and {food} | also {grams} grams of {food}
< Logged {food}, {number} calories. | {food}: {number} calories, {number2} today.
= Logged {food}, {number} calories. | That's {number} calories. | {food} has {number} calories, {number2} today.

@ start_workout | Start a workout. / Begins tracking exercise. / Fitness coach.
n start begin track launch ; workout exercise training fitness
c start workouts
p kind running|cycling|yoga|swimming|rowing|walking|boxing|pilates|stretching|hiking|climbing|tennis kind type sport what exercise
p length? duration length duration time how_long for
> !start a {kind} workout | i'm going {kind} | !track my {kind} | !start {length} of {kind} | {kind} for {length}
> let's do {kind} for {length} | begin {kind} [now] | i want to do some {kind} | new {kind} session {length}
< {kind} started. | {kind} started for {length}.
= Okay, {kind} started. | {kind} for {length}, go. | Have fun, {kind} started. | Tracking {kind} now.

@ vacuum_room | Send the robot vacuum. / Cleans a room. / Robot cleaner.
n vacuum clean sweep start ; room floor area robot
c clean rooms
p room room room where area place which
> !vacuum the {room} | !clean the {room} | send the robot to the {room} | the {room} is dirty | {room} needs vacuuming
> could you clean the {room} floor? | start cleaning in the {room} | the {room} could use a clean
+ and the {room} | the {room} too
- !start the vacuum | !clean the house
? Which room? | Where should it clean?
< The robot is on its way to the {room}. | Cleaning the {room}, {number} minutes.
! The robot is stuck.
= The robot is cleaning the {room}. | Okay, cleaning the {room}. | The {room} takes {number} minutes.

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
> !open a ticket {problem} | i have a problem {problem} | !report an issue {problem} it's {priority} | !file a {priority} ticket {problem}
> new {priority} priority ticket {problem} | !create a case {problem} | something is wrong {problem}
- !open a ticket | i have a problem | !report something
? What is the problem? | What happened?
< Ticket {code} is open. | Ticket {code}, {priority} priority, is open.
= Your ticket number is {code}. | I opened ticket {code}. | Ticket {code} is open. | Done, ticket {code}, {priority} priority.

@ ticket_status | Tell a ticket's state. / How a case is going. / Help desk status.
n check get read look_up ; ticket_status case_state issue_status ticket
c check tickets
p number code number ticket id code case
> what's the status of ticket {number}? | how is case {number}? | !check ticket {number} | is {number} solved? | ticket {number} please
> any news on {number}? | has ticket {number} been closed? | i'm calling about ticket {number}
+ and {number}? | what about {number}?
- what about my ticket? | !check my case
? Which number? | What is the ticket number?
< Ticket {number} is with {name2}. | Ticket {number} was closed on {weekday}. | Ticket {number} waits for {noun2} parts.
! There is no ticket {number}.
= Ticket {number} is with {name2}. | It was closed on {weekday}. | It waits for {noun2} parts. | {name2} is working on it.

@ make_appointment | Make an appointment. / Books a slot with a doctor or stylist. / Front desk.
n make book arrange request ; appointment visit slot booking
c make appointments
p with person with doctor who person whom
p when when when time slot at date
> i need an appointment with {with} {when} | !book me with {with} {when} | can i see {with} {when}? | {with} {when} please
> !make an appointment (with|for) {with} {when} | does {with} have time {when}? | i'd like to come in {when} to see {with}
< Appointment with {with}, {when}, room {number}. | You see {with} {when}.
! {with} is not free {when}.
= You see {with} {when}. | Your appointment with {with} is {when}. | Booked: {with}, {when}, room {number}.

@ define_word | Define a word. / Dictionary. / What a word means.
n define explain look_up mean ; word term meaning dictionary_entry
c define words
p word noun word term what expression entry
> what does {word} mean? | !define {word} | what is (a|the meaning of) {word}? | meaning of {word} | !look up the word {word}
> what's the definition of {word}? | explain {word} [to me]
+ and {word}? | what about {word}?
< {word}: one {adjective} {noun2} used for {noun3}s. | A {word} is one {adjective} kind of {noun2}.
= A {word} is one {adjective} kind of {noun2}. | It's one {adjective} {noun2} used for {noun3}s. | {word} means one {adjective} {noun2}.

@ flip_coin | Flip a coin. / Heads or tails. / Decides by chance.
n flip toss throw ; coin heads_or_tails
c flip coins
> !flip a coin | heads or tails | !toss a coin | coin flip please | let's flip for it | can you flip a coin? | throw a coin
< Heads. | Tails.
= It's heads. | It's tails. | Heads. | Tails.

@ roll_dice | Roll dice. / Random number from a die. / Dice.
n roll throw cast ; dice die random number
c roll dice
p sides? count sides faces max of
> !roll a die | !roll a {sides} sided die | roll the dice | give me a number up to {sides} | dice please | !throw a {sides} sided dice
< It shows {number}. | {number}.
= It's {number}. | You rolled {number}. | {number}.

@ play_podcast | Play a podcast. / Latest episode of a show. / Podcasts.
n play start resume open ; podcast episode show radio_show
c play podcasts
p show title show podcast name title what
> !play the podcast {show} | !play the latest episode of {show} | resume {show} | i want to hear {show} | podcast {show}
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
> when is the next bus to {to}? | when does the {line} to {to} leave? | next train to {to} | !find me a bus to {to}
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
> !save {person} with number {number} | !add {person} to my contacts {number} | new contact {person} {number}
> the number of {person} is {number} | store {number} as {person} | !create a contact {person} with {number}
< Saved {person}, {number}. | {person} is in your contacts.
= I saved {person}. | {person} is in your contacts. | Saved {person} with {number}.

@ rate_item | Rate something. / Gives stars. / Ratings.
n rate give score review ; item title stars book
c rate things
p title title title what item name book
p stars count stars score rating points value
> !give {title} {stars} stars | !rate {title} {stars} | {title} gets {stars} stars | {stars} stars for {title}
> i'd rate {title} {stars} | !score {title} with {stars} points
+ and {title} gets {stars}
< {title} rated {stars}. | Rating saved: {title}, {stars}.
= I rated {title} {stars}. | {title} gets {stars}. | Rating saved: {title}, {stars}.

@ check_stock_item | Tell whether an article is in stock. / Looks into the warehouse. / Inventory.
n check look_up query find ; inventory availability warehouse article
c check the inventory
p item item item article product what name
p store? place store branch where location shop
> do you have {item}? | is {item} in stock [in {store}]? | !check if {item} is available | have you got any {item} in {store}?
> i'm looking for {item} | how many {item} are there in {store}? | stock of {item}
+ and {item}? | what about {item}? | and in {store}?
< {number} of {item} in stock. | {item} is sold out until {weekday}. | {item}: aisle {number2}, {price} dollars.
= We have {number} of {item}. | {item} is sold out until {weekday}. | It's in aisle {number2}, {price} dollars. | There are {number} in stock.

@ start_car | Start the car. / Warms up the vehicle. / Remote start.
n start warm_up preheat turn_on ; car vehicle engine auto
c start the car
p degrees? degrees degrees temperature heat warmth to
> !start the car | !warm up the car to {degrees} | !preheat the car | get the car ready | car on please | make the car {degrees}
< The car is running. | The car is warming to {degrees}.
! The car is too far away.
= The car is running. | The car is warming to {degrees}. | Okay, the car is on.

@ spell_word | Spell a word. / Letter by letter. / Spelling.
n spell letters write_out ; word name spelling
c spell words
p word made word what name term text
> how do you spell {word}? | !spell {word} | what's the spelling of {word}? | spell the word {word} | letters of {word}
+ and {word}?
< {letters}.
= {letters}. | It's spelled {letters}.
"""
