"""Invented tools of daily life, in the notation that `dlm.datagen.inventions` reads."""

from __future__ import annotations

TABLE = """
@ play_music | Play music. / Starts a song, album or artist. / Music player.
n play start stream put_on queue ; song music track tune audio media
c play music
p song song song title track piece name
p artist? artist artist singer by performer band
> !play {song} | !play {song} by {artist} | !put on {song}
> i want to (hear|listen to) {song} by {artist}
> !start {song} by {artist} | can we hear {song}? | some {song} please | music {song}
> !queue {song} by {artist}
> let's listen to {song} | could you put {song} on [please]?
+ and then {song} | now {song} by {artist} | next {song}
- !play some music | !play a song | put some music on
? What would you like to hear? | Which song?
< Playing {song} by {artist}. | Now playing: {song}.
! {song} was not found.
= Okay, playing {song}. | Playing {song} by {artist}. | Here is {song}. | Now playing {song}.
= Sure, {song} by {artist}.

@ set_volume | Set the volume. / Louder or quieter, in percent. / Loudness of the speaker.
n set change adjust turn ; volume loudness sound speaker_volume
c change the volume
p level percent level volume percent value to
p speaker? room speaker room where device zone
> !set the volume to {level} | !turn the volume to {level} in the {speaker} | volume {level}
> make it {level} loud
> !put the {speaker} speaker at {level} | the volume should be {level}
> !change the sound to {level} | sound at {level}
+ and {speaker} too | now {level}
- !change the volume | !adjust the volume
? How loud? | To what level?
< Volume is now {level}. | Volume in the {speaker} is now {level}.
= Volume set to {level}. | Okay, {level}. | The volume is at {level} now.
= Done, {level} in the {speaker}.

@ send_message | Send a text message. / Texts a contact. / Message someone.
n send write text post drop ; message text sms note chat
c send messages
p person person person to contact recipient who
p message message message text body content what
> !text {person} {message} | !send a message to {person} saying {message} | !tell {person} {message}
> !message {person} that {message} | let {person} know {message} | !write to {person} {message}
> send {person} a text {message} | could you text {person} {message}?
> i need to tell {person} {message}
+ and tell {person} {message} | also text {person} {message}
< Message sent to {person}: {message}. | Sent to {person}.
! There is no contact named {person}.
= I sent your message to {person}. | Done, I told {person}: {message}. | Message sent to {person}.
= Okay, {person} has your message.

@ call_contact | Make a phone call. / Dials a person. / Telephone.
n call dial phone ring start ; contact person number phone_call
c make phone calls
p person person person contact name who callee
> !call {person} | !phone {person} | !dial {person} | !give {person} a call
> i want to (call|talk to) {person}
> !ring {person} [now] | get {person} on the phone | could you call {person} for me?
+ no {person} | and then {person}
- !call someone | !make a call
? Who should I call? | Call whom?
< Calling {person}. | Calling {person} at {code}.
! There is no number for {person}.
= Calling {person}. | Okay, calling {person} now. | Sure, I'm calling {person}.

@ book_table | Book a table at a restaurant. / Makes a reservation. / Dinner reservations.
n book reserve make get ; table reservation restaurant dinner booking
c book tables
p restaurant restaurant restaurant place name where venue
p when when when time date at slot
p people? count people guests party_size persons seats
> !book a table at {restaurant} {when} | !reserve {restaurant} for {people} {when}
> a table for {people} at {restaurant} {when}
> i need a table at {restaurant} {when} | get us into {restaurant} {when} for {people} people
> can you get a reservation at {restaurant} {when}?
> !make a reservation for {people} at {restaurant} {when}
> we'd like to eat at {restaurant} {when} | table for {people} {when} at {restaurant} [please]
< Table booked at {restaurant}, {when}, code {code}.
< Booked: {restaurant}, {when}, {people} people.
! {restaurant} has no table {when}.
= Your table at {restaurant} is booked for {when}. | Booked at {restaurant}, {when}.
= Done, {restaurant} {when}, code {code}.

@ find_restaurant | Find a restaurant. / Looks up places to eat. / Restaurant search.
n find search look_for suggest ; restaurant place_to_eat food eatery
c find restaurants
p cuisine cuisine cuisine food kind type what
p place? place place city near area where
> !find a {cuisine} restaurant [in {place}] | where can i eat {cuisine} food in {place}?
> i feel like {cuisine}
> i'm hungry for {cuisine} | any good {cuisine} places in {place}?
> {cuisine} restaurants in {place} | !look for {cuisine} food
> is there a {cuisine} restaurant in {place}? | what's a good place for {cuisine} in {place}?
+ and {cuisine}? | what about in {place}?
< {made} has {cuisine} food, {number} minutes away.
< {number2} {cuisine} places; the best is {made}.
! No {cuisine} restaurant was found.
= You could try {made}. | {made} has {cuisine} food. | The best is {made}.
= I found {made}, {number} minutes away.

@ order_taxi | Order a taxi. / Calls a cab. / Ride to a place.
n order get call book request ; taxi cab ride car
c order taxis
p to address to destination where drop_off address
p when? when when time pickup_time at
> !get me a taxi to {to} | i need a (cab|ride) to {to} | !order a taxi to {to} {when} | taxi to {to}
> take me to {to} | !book a ride to {to} {when} | could you call a cab to {to}?
> i have to get to {to} {when}
- !call me a taxi | i need a cab
? Where to? | Where are you going?
< A taxi to {to} comes in {number} minutes. | Taxi {code} to {to} is booked.
! No taxi is free.
= A taxi to {to} is on its way. | Your taxi comes in {number} minutes. | Taxi {code} is booked.
= Okay, a taxi to {to}.

@ get_news | Read the news. / Latest headlines on a topic. / News reader.
n get read tell fetch latest ; news headlines stories articles
c read the news
p topic? noun topic about subject section category
> what's (in the news|new)? | any news about {topic}? | !read me the news | news on {topic}
> what happened with {topic}?
> !tell me the headlines | !give me the latest on {topic} | what's going on with {topic}?
> headlines please
+ and about {topic}? | what about {topic}?
< {name2} opens the {adjective} {noun2} in {place2}. | {place2}: {number} new {noun2}s were found.
! The news service cannot be reached.
= {name2} opens the {adjective} {noun2} in {place2}.
= Here is one: {place2}: {number} new {noun2}s were found.

@ translate | Translate a word or sentence. / Says something in another language. / Translator.
n translate say convert turn ; text phrase words sentence
c translate
p text task text phrase words what sentence
p language spanish|french|german|italian|polish|turkish|japanese|arabic|hindi|swedish language lang
> how do you say {text} in {language}? | !translate {text} (to|into) {language}
> what is {text} in {language}?
> {text} in {language} | i need {text} in {language} | say {text} in {language}
> what's the {language} for {text}?
+ and in {language}? | how about {language}?
< {made} {made2}. | In {language}: {made} {made2}.
= It's {made} {made2}. | That is {made} {made2}. | In {language} you say {made} {made2}.

@ track_package | Track a parcel. / Where a delivery is. / Parcel status.
n track find check locate where_is ; package parcel delivery shipment order
c track parcels
p number code number code id tracking_number parcel
> where is (package|parcel) {number}? | !track {number} | !check the delivery {number}
> has {number} arrived [yet]?
> my parcel number is {number} where is it? | status of {number} | when does parcel {number} come?
> i'm waiting for {number}
- where is my package? | !track my parcel | when does my delivery come?
? What is the number? | Which tracking number?
< Parcel {number} is in {place2}, due {weekday}. | {number} is out for delivery in {place2}.
< {number} was delivered at {clock2}.
! There is no parcel {number}.
= Parcel {number}: {place2}. | It is in {place2}, due {weekday}.
= {number} was delivered at {clock2}.

@ buy_tickets | Buy tickets. / Cinema, theatre and concert tickets. / Ticket office.
n buy get book order ; tickets seats ticket admission
c buy tickets
p event title event show movie title what film
p count? count count number seats tickets how_many
p day? day day date when on
> !get {count} tickets (for|to) {event} | !buy tickets for {event} {day}
> {count} seats for {event} {day}
> i want to see {event} {day} | tickets to {event} please | !book {count} tickets for {event} {day}
> can we go see {event}?
< {count} tickets for {event} are booked, row {number}.
< Tickets for {event}: {price} dollars, code {code}.
! {event} is sold out.
= Your tickets for {event} are booked. | {event}: {price} dollars, code {code}.
= Done, row {number}. | Booked: {event}.

@ book_hotel | Book a hotel room. / Finds a room for the night. / Hotels.
n book reserve get find ; hotel room stay accommodation
c book hotels
p place place place city where location town
p day day day check_in from date arrival
p nights? count nights length how_long number_of_nights
> !book a hotel in {place} {day} | i need a room in {place} {day}
> a room in {place} for {nights} nights from {day}
> !find me a hotel in {place} {day} for {nights} nights | hotel in {place} {day}
> we're staying in {place} from {day} get us a room
< {made} hotel in {place}, {price} dollars a night.
< Room booked in {place} from {day}, code {code}.
! There is no free room in {place}.
= Booked in {place} from {day}, code {code}. | {made} hotel, {price} dollars a night.
= Your room in {place} is booked.

@ transfer_money | Send money to someone. / Bank transfer. / Pays a person.
n transfer send pay wire move ; money funds payment cash
c send money
p amount large_number amount sum value how_much dollars
p person person person to recipient payee who
> !send {amount} dollars to {person} | !transfer {amount} dollars to {person}
> !pay {person} {amount} dollars
> i owe {person} {amount} dollars send it | !wire {person} {amount}
> {amount} dollars to {person} please
+ and {amount} dollars to {person}
< {amount} dollars sent to {person}. | Paid {person} {amount} dollars, {price} left.
! The account does not have {amount} dollars.
= I sent {amount} dollars to {person}. | Done, {person} has {amount} dollars.
= {person} was paid {amount} dollars, {price} left.

@ check_balance | Tell an account's balance. / How much money there is. / Bank balance.
n check get read tell ; balance account funds money_left
c check accounts
p account? checking|savings|credit card|business|joint|travel|main account which name kind of
> how much (money|) is in my {account} account? | what's my balance? | !check my {account} account
> balance please
> how much do i have left in {account}? | !tell me the balance of the {account} account
> am i broke?
+ and {account}? | what about the {account} account?
< The balance is {price} dollars. | The {account} account has {price} dollars.
= You have {price} dollars. | The balance is {price} dollars. | There are {price} dollars in it.

@ schedule_meeting | Put a meeting in the calendar. / New calendar event. / Appointment planner.
n schedule add create plan set_up ; meeting event appointment calendar_entry
c plan meetings
p title event title what event subject name
p when when when time start at date
p person? person person with guest invitee attendee who
> !schedule {title} (at|) {when} | !put {title} on my calendar (at|for|) {when}
> !plan {title} with {person} {when}
> i have {title} {when} add it | new event {title} {when}
> !set up {title} with {person} (at|) {when}
> {when} i have {title} with {person} | !book {title} in my calendar {when}
> calendar {title} {when}
< Added {title}, {when}. | {title} with {person} is in the calendar, {when}.
! You are busy {when}.
= {title} is in your calendar, {when}. | Added {title}, {when}.
= Okay, {title} with {person}, {when}.

@ read_calendar | Say what is in the calendar. / Events of a day. / Agenda.
n read get show check list ; calendar agenda events schedule appointments
c read the calendar
p day? day day date when on which_day
> what's on my calendar {day}? | what do i have {day}? | am i free {day}?
> !read my schedule for {day} | any meetings {day}?
> what's next on my calendar? | agenda for {day} | !show my appointments {day}
> how busy am i {day}?
+ and {day}? | what about {day}?
< {day}: {event2} at {clock2}. | Nothing is planned.
< {event2} at {clock2} and {event3} at {clock3}.
= {day}: {event2} at {clock2}. | You have {event2} at {clock2} and {event3} at {clock3}.
= You have {event2} at {clock2}. | Nothing is planned.

@ find_recipe | Find a recipe. / How to cook a dish. / Cook book.
n find get look_up search suggest ; recipe dish cooking meal
c find recipes
p dish item dish food what name meal
> how do i (make|cook) {dish}? | !find a recipe (for|with) {dish} | what can i cook with {dish}?
> recipe for {dish}
> i want to cook something with {dish} | !give me a {dish} recipe | any ideas for {dish}?
+ and with {dish}? | what about {dish}?
< {adjective} {dish}: mix with {item2}, bake {number} minutes.
< {dish} with {item2} takes {number} minutes.
! No recipe with {dish} was found.
= Mix it with {item2} and bake {number} minutes. | {dish} with {item2} takes {number} minutes.
= Try {dish} with {item2}.

@ get_directions | Tell the way. / Route to an address. / Navigation.
n get find show navigate route ; directions route way path
c give directions
p to address to destination where address goal
p by? car|bike|bus|train|foot|tram|subway by mode with transport vehicle
> how do i get to {to} [by {by}]? | directions to {to} | !navigate to {to}
> what's the (best|fastest) way to {to} by {by}?
> !take me to {to} by {by} | how long to {to} by {by}? | route to {to} please | which way is {to}?
+ and by {by}? | how about by {by}?
< {to} is {number} minutes by {by}. | Turn left on {noun2} street, {number} minutes to {to}.
! {to} was not found.
= It takes {number} minutes to {to}. | {to} is {number} minutes by {by}.
= Turn left on {noun2} street.
"""
