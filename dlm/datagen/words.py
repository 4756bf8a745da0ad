"""Word lists from which slot values are drawn when no corpora are at hand, and for word salad.

Lists are comma-separated text; `WORDS` holds them by name.
"""

from __future__ import annotations

_LISTS = {
    "item": """
milk, eggs, bread, butter, cheese, apples, bananas, oranges, lemons, limes, tomatoes, potatoes,
onions, garlic, carrots, spinach, lettuce, cucumber, rice, pasta, flour, sugar, salt, pepper,
olive oil, vinegar, honey, jam, peanut butter, oats, cereal, yoghurt, yogurt, cream, ice cream,
chicken, chicken breast, ground beef, bacon, ham, salmon, tuna, shrimp, tofu, beans, lentils,
chickpeas, coffee, coffee beans, green tea, orange juice, apple juice, sparkling water, beer, red
wine, soap, dish soap, shampoo, conditioner, toothpaste, a toothbrush, toilet paper, paper towels,
napkins, trash bags, laundry detergent, light bulbs, batteries, candles, matches, dog food, cat
food, bird seed, diapers, baby wipes, aspirin, vitamins, band aids, sunscreen, printer paper,
envelopes, stamps, pens, sticky notes, wrapping paper, a birthday card, flowers, potting soil,
nails, screws, duct tape, paint, sandpaper, a hammer, an extension cord, hot sauce, maple syrup,
blueberries, strawberries, grapes, avocados, mushrooms, broccoli, zucchini, celery, corn,
tortillas, salsa, chips, crackers, popcorn, chocolate, cookies, cake mix, baking powder, vanilla,
cinnamon, basil, parsley, ginger, soy sauce, mayonnaise, mustard, ketchup, pickles, a dozen eggs,
two liters of milk, six bagels, a bag of ice, three lemons, half a pound of butter, oat milk,
almond milk, whole wheat bread, sourdough, brown rice, frozen peas, a loaf of bread, mangoes,
pears, peaches, a pineapple, sponges, bleach, aluminum foil, zip bags, razor blades, dental floss,
hand cream, lip balm, cough drops, a phone charger, sweet potatoes, cabbage, kale
""",
    "list": """
shopping, grocery, groceries, to do, todo, packing, christmas, wish, work, hardware, party,
chores, reading, movie, gift, camping, birthday, weekend, vacation, school, garden, cleaning,
errands, wedding, baby, holiday, costco, pharmacy, travel, office, books, bucket, guest
""",
    "task": """
call mom, call the dentist, buy milk, water the plants, take out the trash, feed the cat, walk the
dog, pay the rent, pay the electricity bill, pick up the kids, book a flight, send the report,
email the landlord, check the oven, take my medicine, take my pills, do the laundry, clean the
kitchen, return the library books, renew my passport, charge the car, change the filter, turn off
the sprinkler, defrost the chicken, call the plumber, finish the slides, study for the exam, go to
the gym, drink some water, stretch my legs, buy flowers, wrap the presents, back up the laptop,
order more ink, pick up the dry cleaning, wash the car, cancel the subscription, vote, mow the
lawn, rotate the tires, sign the papers, meet anna, text my brother, check on grandma, submit the
expense report, reply to the lawyer, join the meeting, move the car, bring an umbrella, lock the
shed, empty the dishwasher, fold the laundry, bake the cookies, mail the letter, pick up the
prescription, get a haircut, fix the sink, schedule the inspection, practice piano, read chapter
six, feed the fish, check the mail, bring the cake, thank the neighbors, sign the permission slip,
transfer the money, call the bank, clean the gutters, buy a new lamp
""",
    "timer_name": """
pasta, pizza, egg, eggs, tea, laundry, oven, chicken, rice, bread, cookie, cake, nap, workout,
study, break, homework, parking, plank, meditation, dishwasher, dryer, soup, potato, steak,
reading, cooking, coffee, roast, rest, game, bath, kids, turkey, lasagna, pie, brownies, fish,
sauce, focus, yoga
""",
    "room": """
kitchen, living room, bedroom, bathroom, hallway, garage, office, dining room, basement, attic,
laundry room, guest room, nursery, study, porch, patio, garden, entrance, playroom, sunroom, den,
master bedroom, kids room, upstairs, downstairs, backyard, front yard, hall, pantry, closet,
balcony, library, workshop, studio, conservatory, home office, guest bedroom, tv room, utility
room, gym
""",
    "light": """
light, lights, lamp, ceiling light, floor lamp, desk lamp, bedside lamp, spotlights, led strip,
chandelier, night light, reading lamp, string lights, table lamp, overhead light
""",
    "switch": """
fan, heater, air conditioner, television, tv, coffee maker, kettle, humidifier, radio, speaker,
dishwasher, oven, plug, outlet, printer, vacuum, sprinkler, pump, ceiling fan, space heater,
stereo, air purifier, electric blanket, fountain, toaster, washing machine, dryer, projector,
router
""",
    "lock": "front door, back door, garage door, side door, gate, door, shed, main door",
    "cover": """
blinds, curtains, shutters, shades, garage door, window, windows, awning, skylight, gate
""",
    "thermostat": "thermostat, heating, temperature, ac, air conditioning, heat, oven, radiator",
    "color": """
red, green, blue, yellow, purple, orange, pink, white, warm white, cool white, turquoise, teal,
violet, magenta, cyan, gold, amber, lavender, lime, soft blue, dark red, light green
""",
    "place": """
London, Paris, Tokyo, New York, Berlin, Madrid, Rome, Vienna, Prague, Dublin, Oslo, Stockholm,
Helsinki, Copenhagen, Amsterdam, Brussels, Lisbon, Athens, Istanbul, Moscow, Cairo, Nairobi,
Lagos, Cape Town, Johannesburg, Mumbai, Delhi, Bangalore, Beijing, Shanghai, Hong Kong, Singapore,
Bangkok, Jakarta, Manila, Seoul, Osaka, Sydney, Melbourne, Perth, Auckland, Honolulu, Los Angeles,
Seattle, San Francisco, San Diego, Portland, Denver, Phoenix, Dallas, Houston, Austin, Chicago,
Detroit, Boston, Philadelphia, Washington, Miami, Atlanta, Toronto, Montreal, Vancouver, Mexico
City, Lima, Bogota, Santiago, Buenos Aires, Sao Paulo, Rio de Janeiro, Reykjavik, Edinburgh,
Glasgow, Manchester, Liverpool, Leeds, Bristol, Cardiff, Belfast, Zurich, Geneva, Munich, Hamburg,
Cologne, Frankfurt, Barcelona, Seville, Valencia, Milan, Naples, Venice, Florence, Turin, Warsaw,
Krakow, Budapest, Bucharest, Sofia, Belgrade, Zagreb, Kyiv, Riga, Tallinn, Vilnius, Dubai, Doha,
Riyadh, Tehran, Karachi, Lahore, Dhaka, Kathmandu, Colombo, Hanoi, Taipei, Brisbane, Adelaide,
Wellington, Texas, Salt Lake City, Las Vegas, New Orleans, Nashville, Memphis, Saint Louis, Kansas
City, Minneapolis, Milwaukee, Cleveland, Pittsburgh, Baltimore, Charlotte, Tampa, Orlando,
Sacramento, San Jose, Fresno, Tucson, Albuquerque, Omaha, Tulsa, Boise, Spokane, Anchorage,
Quebec, Ottawa, Calgary, Halifax
""",
    "company": """
Apple, Microsoft, Google, Amazon, Tesla, Netflix, Nvidia, Intel, Samsung, Sony, Toyota, Ford,
General Motors, Boeing, Airbus, Walmart, Target, Costco, Starbucks, Nike, Adidas, Disney, Coca
Cola, Pepsi, IBM, Oracle, Adobe, Salesforce, Uber, Spotify, Shell, Exxon, Chevron, Pfizer,
Moderna, Visa, Mastercard, Goldman Sachs, Bank of America, Wells Fargo, Home Depot, Siemens,
Volkswagen, Nestle, Unilever, Nokia, Ericsson, Honda, Nintendo, Dell, Cisco, Qualcomm,
Caterpillar, John Deere, FedEx
""",
    "name": """
Anna, Ben, Carla, David, Emma, Felix, Grace, Henry, Isabel, Jack, Kate, Liam, Maria, Noah, Olivia,
Peter, Quinn, Rosa, Sam, Tina, Umar, Vera, Will, Xenia, Yusuf, Zoe, Alex, Bianca, Carlos, Diana,
Eric, Fiona, George, Hannah, Ivan, Julia, Kevin, Laura, Mike, Nina, Oscar, Paula, Raj, Sarah, Tom,
Ursula, Victor, Wendy, Amir, Beth, Chen, Dora, Elias, Frank, Gina, Hugo, Irene, James, Karen, Leo,
Mei, Nate, Omar, Priya, Ravi, Sofia, Theo, Usha, Vince, Walter, Aisha, Bruno, Clara, Dmitri,
Esther, Farah
""",
    "surname": """
Smith, Jones, Brown, Taylor, Wilson, Davies, Evans, Johnson, Walker, Wright, Robinson, Thompson,
White, Hughes, Edwards, Green, Hall, Wood, Harris, Lewis, Martin, Jackson, Clarke, Garcia,
Martinez, Lopez, Gonzalez, Perez, Sanchez, Rossi, Schmidt, Weber, Fischer, Meyer, Novak, Kowalski,
Ivanov, Nguyen, Tran, Kim, Park, Lee, Wang, Zhang, Chen, Singh, Patel, Khan, Ali, Okafor, Mensah,
Silva
""",
    "drink": """
latte, cappuccino, americano, espresso, mocha, flat white, macchiato, cortado, drip coffee,
coffee, house coffee, iced coffee, iced latte, iced mocha, cold brew, iced tea, green tea, black
tea, chai, chai latte, hot chocolate, matcha latte, caramel macchiato, vanilla latte, white mocha,
tea, filter coffee, decaf coffee, decaf latte, nitro cold brew, iced americano, affogato,
ristretto, lungo, red eye, cafe au lait, pour over, earl grey, peppermint tea, steamed milk,
frappe, pumpkin spice latte, hazelnut latte, iced matcha, lemonade, turkish coffee, iced caramel
macchiato
""",
    "size": """
small, medium, large, extra large, eight ounce, twelve ounce, sixteen ounce, twenty ounce, tall,
grande, venti, regular, ten ounce
""",
    "roast": "dark roast, medium roast, light roast, blonde roast, french roast, house roast",
    "milk": """
milk, oat milk, almond milk, soy milk, skim milk, whole milk, cream, half and half, coconut milk,
two percent milk, nonfat milk, one percent milk, fat free milk, hot milk, cold milk, no milk, non
fat milk, lactose free milk, rice milk, heavy cream, low fat milk, foamed milk
""",
    "shots": """
a single shot, a double shot, a triple shot, single shot, double shot, triple shot, two shots,
three shots, one shot, an extra shot, two extra shots, five shots, a shot, four shots, a quad shot
""",
    "sweetener": """
sugar, brown sugar, sweetener, honey, agave, stevia, white sugar, raw sugar, artificial sweetener,
maple syrup, cane sugar, vanilla syrup, sugar free syrup, one sugar, two sugars, three sugars, a
spoon of sugar, two spoons of sugar, a packet of sugar, caramel syrup, hazelnut syrup, no sugar, a
teaspoon of sugar, two teaspoons of sugar, sugar free vanilla
""",
    "amount": """
a little, a bit of, a little bit of, lots of, a lot of, extra, some, light, a splash of, a dash
of, plenty of, not too much
""",
    "spoons": """
one, two, three, four, a pump of, two pumps of, a spoon of, two spoons of, three packets of
""",
    "extras": """
whipped cream, cinnamon, extra foam, no foam, extra ice, no ice, light ice, caramel drizzle,
chocolate sprinkles, a lid, vanilla, hazelnut, extra hot, a straw, nutmeg, cocoa powder, caramel
sauce, no whip, pumpkin spice, an extra cup, marshmallows, peppermint
""",
    "person_to": """
a person, a human, someone, a real person, the manager, an operator, the barista, an agent, a
staff member, the front desk, the owner, a supervisor, customer service, the shift manager
""",
    "dose": """
single shot, double shot, triple shot, two shot, three shot, quad shot, one shot, double
""",
    "all": "all, all, both, every",
    "topic": """
the wifi password, the boiler manual, the warranty, the lasagna recipe, tide tables, the lease,
bee keeping, sourdough, the meeting notes, parking rules, vaccination dates, the insurance policy,
photosynthesis, the roman empire, black holes, knitting patterns, the alarm code, bike repair, the
trip to norway, tax deadlines, the garden plan, recycling days, the school calendar, tomatoes,
chess openings, the printer, the dishwasher error codes, first aid, volcanoes, guitar chords, the
budget, the annual report, our vacation policy, the onboarding guide, the reading group, tides
""",
    "adjective": """
red, old, quiet, golden, broken, hollow, silver, frozen, gentle, hidden, purple, rusty, sudden,
empty, bright, little, northern, wooden, electric, ancient, clever, distant, early, famous, green,
heavy, crimson, lazy, magic, narrow, odd, patient, rapid, secret, tiny, velvet, wild, young,
bitter, calm, absent, amber, bare, blind, bold, brave, brief, busy, careful, cheerful, chilly,
common, cosmic, cruel, curious, damp, deaf, delicate, dizzy, double, drowsy, dull, eager, eastern,
elegant, endless, exact, faint, fancy, fierce, final, foggy, foreign, fragile, fresh, friendly,
funny, giant, glad, grand, grateful, hasty, honest, hungry, icy, idle, inner, jolly, kind, last,
lean, light, local, lonely, loud, loyal, lucky, mad, mellow, merry, midnight, mild, modern, moody,
muddy, mute, naked, neat, nervous, nimble, noble, outer, pale, paper, plain, polite, proud, pure,
quick, raw, ripe, rough, round, royal, sacred, salty, second, shallow, sharp, shiny, shy, silent,
simple, sleepy, slim, slow, smooth, sober, soft, solar, solid, sour, spare, stale, steady, steep,
sticky, stormy, strange, sunny, sweet, swift, tall, tame, tender, thick, third, thirsty, tidy,
tight, tough, twin, urban, vague, vast, warm, weary, western, wet, whole, wicked, wise, witty
""",
    "noun": """
river, mountain, garden, engine, window, lantern, forest, bridge, island, winter, compass, mirror,
falcon, harbor, castle, violin, planet, desert, candle, anchor, tiger, meadow, thunder, shadow,
orchard, puzzle, rocket, saddle, temple, umbrella, valley, wagon, zebra, basket, button, carpet,
dragon, feather, guitar, hammer, iceberg, jacket, kettle, ladder, marble, needle, oyster, pepper,
quilt, ribbon, spider, ticket, uniform, village, whistle, blanket, cactus, dolphin, elbow,
fountain, acorn, alley, almond, amulet, apron, arrow, atlas, aunt, badger, balloon, banjo, barn,
barrel, beacon, beard, beaver, beetle, berry, bishop, blossom, bonfire, boulder, brick, brook,
bucket, buffalo, cabin, camel, canal, canyon, captain, caravan, carrot, cave, cellar, chapel,
chariot, cherry, chimney, circus, clover, cobbler, comet, coral, cottage, crane, crater, crow,
crown, crystal, curtain, dagger, daisy, dawn, deer, diamond, ditch, donkey, dove, drummer, duke,
dust, eagle, ember, emperor, fairy, farmer, ferry, fiddle, flame, flute, fox, friend, frost,
galaxy, giant, giraffe, glacier, goblin, goose, granite, hat, hawk, heron, hill, honey, horizon,
horse, hunter, idol, ivory, jaguar, jasmine, jewel, jungle, king, knight, lagoon, lemon,
lighthouse, lily, lion, lizard, lobster, locket, magnet, mammoth, maple, mask, maze, melon,
mermaid, meteor, mill, miner, monk, moon, moose, moss, moth, museum, mustang, nectar, nest, nomad,
north, oak, oasis, ocean, olive, onion, opal, orchid, otter, owl, palace, panther, parrot, peacock,
pearl, pebble, penguin, pilgrim, pillow, pine, pirate, plum, pony, poppy, prairie, prince, pumpkin,
pyramid, queen, rabbit, raven, reef, robin, rooster, rose, ruby, sailor, salmon, sapphire,
scarecrow, shepherd, shield, silk, sister, skeleton, smoke, snail, sparrow, squirrel, star, statue,
storm, straw, stream, sunrise, swan, tailor, thief, thistle, throne, tinker, torch, tower,
traveler, treasure, trumpet, tulip, tunnel, turtle, twilight, vase, vineyard, volcano, wallet,
walnut, walrus, waterfall, whale, wheel, widow, willow, windmill, witch, wizard, wolf, wren
""",
}

WORDS: dict[str, list[str]] = {
    name: [value.strip() for value in text.replace("\n", " ").split(",")]
    for name, text in _LISTS.items()
}

UNITS: dict[str, tuple[str, float]] = {
    "kilometers": ("length", 1000),
    "meters": ("length", 1),
    "centimeters": ("length", 0.01),
    "millimeters": ("length", 0.001),
    "miles": ("length", 1609.344),
    "yards": ("length", 0.9144),
    "feet": ("length", 0.3048),
    "inches": ("length", 0.0254),
    "kilograms": ("mass", 1),
    "grams": ("mass", 0.001),
    "pounds": ("mass", 0.45359237),
    "ounces": ("mass", 0.028349523),
    "stones": ("mass", 6.35029318),
    "liters": ("volume", 1),
    "milliliters": ("volume", 0.001),
    "gallons": ("volume", 3.785411784),
    "pints": ("volume", 0.473176473),
    "quarts": ("volume", 0.946352946),
    "cups": ("volume", 0.2365882365),
    "tablespoons": ("volume", 0.01478676),
    "teaspoons": ("volume", 0.00492892),
    "hours": ("time", 3600),
    "minutes": ("time", 60),
    "seconds": ("time", 1),
    "days": ("time", 86400),
    "weeks": ("time", 604800),
    "celsius": ("heat", 1),
    "fahrenheit": ("heat", 1),
}
"""Unit to what it measures and its size in that measure's base unit; heat is converted apart."""

CURRENCIES: dict[str, float] = {
    "dollars": 1.0,
    "us dollars": 1.0,
    "euros": 1.168,
    "pounds": 1.322,
    "british pounds": 1.322,
    "yen": 0.00663,
    "swiss francs": 1.247,
    "canadian dollars": 0.713,
    "australian dollars": 0.659,
    "new zealand dollars": 0.583,
    "rupees": 0.01137,
    "yuan": 0.1404,
    "mexican pesos": 0.0538,
    "swedish kronor": 0.1048,
    "norwegian kroner": 0.0989,
    "danish kroner": 0.1565,
    "zlotys": 0.2741,
    "won": 0.00071,
    "rand": 0.0577,
    "reais": 0.1868,
    "rubles": 0.0123,
    "lira": 0.0238,
    "baht": 0.0307,
    "forints": 0.003,
    "shekels": 0.302,
}
"""Currency to what one of it is worth in US dollars."""
