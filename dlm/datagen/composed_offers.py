"""Tables of things that are searched by what they should be like, then taken: the directory's kind.

Notation of `dlm.datagen.composed_words`. A kind's value may end in its type, ``:integer`` or
``:boolean``: numbers are then given as such, and "without ..." or "no ..." is false.
"""

from __future__ import annotations

THINGS = """
restaurant diner, hotel inn, concert gig, festival, art_show, play drama, museum, gym, pub bar,
cafe coffee_house, city_tour, holiday_home, hostel, cinema, nightclub club, sports_match match,
comedy_night, physician specialist, lawyer attorney, mechanic garage, hairdresser stylist, teacher
instructor, rental, train connection, coach_ride, sea_cruise, campground, job vacancy position,
evening_class, song, film movie, television_series series, recipe dish, wine, house home,
studio_flat flat, parking_space, playground, beach, park, landmark sight, bakery, market, charity,
club_meeting, employer, college school, kindergarten, laptop computer, phone, sofa, second_hand_car
car
"""
ACTIONS = """
offer find | find search look_up browse get discover list | !find [me] a NOUN / !look for a NOUN \
/ i'm looking for a NOUN / !search for NOUNs / i want a NOUN / i'd like to find a [nice] NOUN / \
are there any NOUNs? / do you know a NOUN? / !show me NOUNs / what NOUNs are there? / which NOUN \
can you recommend? / i need help finding a NOUN / !suggest a NOUN / a NOUN would be nice / could \
there be a NOUN? / i'm in the mood for a NOUN / !look up NOUNs | {id} found: {x}, {y}. / Found \
{x}. / {x}, {y} and {z}. / {id} NOUNs; the best is {x}. / No NOUNs found. | I found {id}, such as \
{x} and {y}. / I found {x}. / There's {x}, {y} and {z}. / There are {id} NOUNs, the best is {x}. \
/ I found no NOUNs. | genre cuisine place stars rooms wifi parking pets kids free outdoors day \
price company category language rating_least nearby new sort
offer take | book reserve rent buy get order hold schedule | !book the NOUN {title*} / !reserve \
the NOUN {title*} / !get me the NOUN {title*} / i'd like the NOUN {title*} / i'll take the NOUN \
{title*} / the NOUN {title*} sounds good / !rent the NOUN {title*} / let's go with the NOUN \
{title*} / !schedule the NOUN {title*} | Booked {title}. / Reference {id}. / {title} is booked \
for {price} dollars. / Confirmed. | It's booked: {title}. / Done, the reference is {id}. / \
{title} is booked for {price} dollars. / That's confirmed. | people when day place rooms stars \
parking wifi for_person duration price language
offer about | details info describe tell show_info about | !tell me [more] about the NOUN \
{title*} / what is the NOUN {title*} like? / i want details on the NOUN {title*} / is the NOUN \
{title*} any good? / !describe the NOUN {title*} / where is the NOUN {title*}? | {title}: \
{state}, {price} dollars. / {title} is {state}. / It is on {x} street. | {title} is {state}, for \
{price} dollars. / {title} is {state}. / It is on {x} street. | language day place
"""
KINDS = """
genre | action|comedy|drama|jazz|rock|pop|country|horror|fantasy|romance|classical|mystery|folk | \
that is {}; preferably {}; {} if you can; something {} | genre kind type category style sort
cuisine | italian|thai|indian|mexican|chinese|greek|french|turkish|vegan|korean | with {} food; \
serving {} food; preferably {}; maybe {} | cuisine food kitchen kind_of_food
stars | count:integer | with {} stars; {} stars | stars star_rating rating class
rooms | count:integer | with {} rooms; with {} bedrooms; {} rooms | rooms number_of_rooms \
bedrooms beds
wifi | with wifi|that has wifi|and i need internet|without wifi|no wifi:boolean | {} | has_wifi \
wifi internet with_internet
parking | with parking|where i can park|with a garage|without parking|no parking needed:boolean | \
{} | has_parking parking garage can_park
pets | that takes pets|where dogs are allowed|pet friendly|without pets|no pets:boolean | {} | \
pets_allowed pets dogs_allowed pet_friendly
kids | good for kids|for children|that is child friendly|without children|no kids:boolean | {} | \
good_for_kids child_friendly kids family_friendly
free | that is free|free of charge|with free entry|without an entry fee|that costs \
nothing:boolean | {} | free free_entry no_fee gratis
outdoors | outdoors|in the open air|with a terrace|no outdoor seats:boolean | {} | outdoor \
outside open_air has_terrace
nearby | nearby|close to here|within walking distance|not too near:boolean | {} | nearby near_me \
close walkable
new | that is new|brand new|opened lately|not new:boolean | {} | new is_new recent latest
sort | price|distance|rating|name | sorted by {}; by {} | sort_by order sort order_by
rating_least | count:integer | rated at least {}; with a rating over {} | min_rating rating_above \
minimum at_least
"""
