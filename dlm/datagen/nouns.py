"""Large word lists, so that a tool's thing cannot be known by heart: it must be read and matched.

``HEADS`` holds things by group of `dlm.datagen.composed_words`, ``MODIFIERS`` what may stand before
them ("garden chair", "office chair"), ``DEEDS`` verbs for things of any kind. All of this is for
training; the held-out split has the things that the tables keep unseen, which are never named here.
"""

from __future__ import annotations

from functools import cache
from random import Random

from dlm.datagen.composed import pseudo_word
from dlm.datagen.composed_words import ALL_THINGS, THINGS
from dlm.datagen.holdout import unseen

_HEADS: dict[str, str] = {
    "record": """
address agenda album allergy alert anecdote appeal application archive asset attachment audit award
ballot bid biography blueprint booklet briefing brochure bulletin bundle caption case catalog
certificate chapter charter checklist clause clipping clue code comic credential dataset deadline
debt decision decree deed definition design diagram digest discount draft drawing edition entry
episode equation essay event exam excerpt exhibit extract fact favor figure finding fine form
formula forum gadget gallery guideline hint idea identity image incident index inquiry insight
instruction inventory issue job joke keyword label lease ledger legend letter license list loan log
logo lyric magazine manual manuscript map memory menu milestone minute mission mistake model module
monologue motion motto newsletter notebook notification objection offer opinion order outline
package page pamphlet paper paragraph passport password patch patent payment payslip penalty phrase
platform poem portfolio portrait postcard poster preference premium presentation press_release
pricelist prize problem procedure profile program promise proof prototype puzzle question quota
ranking rate reading rebate recipe reference refund registration remark reminder replica reply
request requirement reservation resource response resume review riddle rota salary scan schedule
screenshot script season section secret segment sentence serial session setting sheet signal
signature sketch slide slogan snippet solution speech spreadsheet stamp statement statistic story
strategy study subtitle suggestion summary surcharge syllabus tariff tax_return template test theme
thesis thought token tool topic tournament trace trademark transaction transfer translation tribute
trophy tutorial update upload user verdict version visa vote voucher warning warrant warranty wish
word worksheet""",
    "booking": """
acupuncture airport_transfer apartment archery_lane astrology_reading auditorium badminton_court
ballroom band banquet barbecue_pit barber beach_chair bike_tour boardroom boxing_class brunch
bungalow bus_tour cable_car canoe caravan caterer chalet checkup chess_lesson choir_room
clinic_visit climbing_wall clown coach coaching cottage courier court cruise dance_class dance_hall
darkroom dinner diving_course dj_set driving_lesson escort exhibition eye_test facial farm_stay
fencing_lesson fishing_trip fitting florist football_pitch garden_party ghost_tour glamping_tent
guide guitar_lesson gym_slot harbor_cruise helicopter_ride hike_guide horse_ride hostel_bed
houseboat ice_rink interpreter jam_session kayak kennel laboratory laser_tag lecture_hall limousine
locker lodge loft lounge magician manicure marina_berth marquee minibus mooring motel music_lesson
notary nurse_visit observatory_visit orchestra_pit paddle_court painter paintball party_room
pedicure pet_sitter physiotherapy piano_tuner picnic_spot pilates_class planetarium_show podium
pottery_class property_tour puppet_show raft rehearsal_room retreat safari sailing_trip salon
scooter seminar shuttle sitter skating_lesson sleigh_ride spa squash_court stage stall studio
surf_lesson swim_lane swimming_lesson tailor tasting tattoo_session ticket tour trampoline trip
tutoring_session venue vet_visit villa waiter wedding_hall wine_tasting workshop yacht zip_line""",
    "machine": """
air_compressor airlock alarm_panel amplifier autoclave awning bandsaw barcode_reader beamer bell
bilge_pump blowtorch bubble_machine bulldozer burner car_lift carousel cash_register centrifuge
chainsaw chandelier chiller chimney chipper churn clock coffee_grinder composter compressor
computer console container controller cooker cooktop copier crane crusher cultivator dam deep_fryer
defroster dialysis_machine digger disinfector dispenser dock door_opener doorbell drill drum duct
dyno dust_collector excavator exhaust extractor fan feeder fence filter_pump fire_alarm floodlight
fog_machine food_processor forge forklift fryer furnace_fan gantry gate_motor gearbox generator_set
grill grinder hair_dryer harvester heat_pump heater hob hoist hood hose humidor hydrant ice_maker
incinerator incubator induction_hob infusion_pump insect_trap inverter ironing_press jackhammer
jukebox juicer kiln knitting_machine label_printer lathe lawn_robot leaf_blower lift lighthouse
loom loudhailer magnet massage_chair metronome microwave milking_machine milling_machine
mist_system modem monorail motor_boat nebulizer oscilloscope oven_fan oxygenator pacer pellet_stove
piano_player plotter polisher popcorn_maker pressure_cooker propeller radar reactor reel
refrigerator relay ride_mower ride_on roaster rocker rolling_door rotor sander satellite_dish saw
scale scrubber seismograph server_rack sewing_machine shower shredder shutter slicer
slide_projector sluice smoke_machine smoker snow_cannon snowplow solder_station sonar spinner
spotlight sprayer stair_lift steamer sterilizer still stove strobe submarine subwoofer sump_pump
tanning_bed tap thermostat_valve timer_switch toaster_oven tractor traffic_light train_set
transformer transmitter trash_compactor turntable typewriter ultrasound vacuum_cleaner vaporizer
vending_machine water_heater water_softener waterfall weather_station weeder winch wind_tunnel
windmill wine_cooler wiper woodchipper""",
    "media": """
aria ballad ballet bird_song broadcast bulletin cabaret cantata cartoon chant clip comedy
commentary concerto course debate dialogue dirge drama dub duet fable fairy_tale fanfare feature
fugue hit hymn improvisation interlude interview jazz_set jingle karaoke_track legend lesson
madrigal march match medley melody mixtape monologue musical mystery newsreel nocturne
nursery_rhyme ode operetta_scene oratorio overture panel performance podcast poem_reading polka
prayer prelude program quartet ragtime reading recital recording reel remix report requiem rhapsody
ringtone saga sea_shanty serenade serial sermon_tape set shanty sitcom skit sonata sound_bath
sound_effect speech spoof stand_up_set stream suite talk_show tango telenovela thriller title_track
tragedy trailer trilogy tune tutorial variety_show video_essay vlog voice_note waltz western
whale_song yoga_session""",
    "goods": """
accordion air_mattress alarm_clock apron aquarium_plant armchair atlas axe backdrop badge
bag_of_soil ball balloon bandage barrel bath_mat bathrobe beanbag bedsheet belt bench bib binder
binoculars bird_feeder biscuit_tin blanket blazer blender_jar blinds bolt bookcase bookmark
bookshelf boot bottle bow_tie bowl box bracelet brick broom brooch brush bucket buckle bulb
bunk_bed butter_dish cabinet cable calculator camera_bag candlestick cane canvas cap car_seat
cardigan carpet carton casserole cello chain chessboard chest chisel chopping_board clamp cleaver
clipboard cloak clutch coat coat_hanger coaster colander comb compass cooler_box cork corkscrew
costume cot crate crayon crib crowbar cufflink cup curtain_rod cushion cutlery_set dartboard
deckchair denim_jacket diary_book dictionary dinner_set doll doormat doorknob dress dresser
drone_kit drumstick duster earbud earring easel egg_timer_set envelope_pack eraser eyeliner
face_mask fan_belt fedora fern figurine fishing_rod flag flask flip_flop flowerpot flute folder_box
football fork frame frisbee frying_pan funnel fuse garden_gnome garden_hose glass globe glove
glue_stick goggles golf_club gown grater gravy_boat hair_clip hairbrush hammock handbag
handkerchief harmonica harness hat headband headlamp hinge hoodie hook hourglass ironing_board jar
jersey jigsaw jug jumper kayak_paddle kettlebell key_ring keyboard kilt kite knife_block
ladder_rack ladle lampshade lantern lawn_chair leash lens lighter linen_set lipstick lunchbox
magnifier mallet marker mask measuring_tape medal microphone mirror mitten mop mosquito_net
moustache_wax mousetrap mug nail_file napkin_ring necklace necktie needle_set net nightgown notepad
nutcracker oar ointment ottoman overcoat padlock pajama_set palette pan pantry_shelf paperweight
parasol parka patio_table pen pencil_case pendant pepper_mill photo_frame piano pick_axe
picnic_basket pillow pillowcase pin pipe pitchfork placemat plank plate pliers plug pocket_knife
pot potholder pouch puncher purse quilt racket radio rag_doll raincoat rake ramp rattle remote
ribbon ring robe rocking_chair rolling_pin rope rubber_duck rucksack rug ruler saddle safe sail
salt_shaker sandal sash saucepan saxophone scarf scissors screwdriver scroll sewing_kit shawl shelf
shield shirt shoelace shovel shower_curtain sieve sink skateboard skewer skirt slate sled
sleeping_bag slipper snorkel soap_dish sock socket soup_bowl spade spatula speaker_cable sponge
spoon stapler statue stencil step_ladder sticker stopwatch strainer straw string_set suit sundial
sunglasses suspender sweater swimsuit sword tablecloth tablet tambourine tape_measure tapestry
teapot teddy_bear telescope_stand thermos thimble thread tie tin_opener tissue_box toaster_rack
toilet_brush tongs toolbox toothbrush_head torch towel tray tripod trombone trowel trumpet tub
tweezers ukulele vase veil vest violin wallet wardrobe watering_can wetsuit wheelbarrow whisk
whistle wig wok wreath wrench yarn yoga_mat zipper""",
    "offer": """
adventure_park aquarium archery_club arena art_class babysitting_offer bank_branch barbecue_place
beer_garden bistro bookshop botanic_garden bowling_alley boxing_club brasserie brewery bridge_club
builder burger_place butcher cabaret_show camera_shop candle_shop car_dealer carpenter castle
cathedral choir chocolatier circus cobbler coding_school cooking_school craft_fair creperie
cycling_club dance_school day_trip decorator deli designer dietitian diving_school dog_park
drama_group driver drugstore electric_car escape_game estate_agent farm_shop fashion_shop
fish_market fitness_coach flea_market food_truck fortune_teller gallery_show garden_center
gift_shop goldsmith golf_course gospel_night grocer guesthouse handyman harbor_tour hiking_group
horse_farm ice_cream_parlor internship jazz_club jeweler juice_bar karate_school laundromat library
lodging makeup_artist mansion masseur mini_golf monument motorhome museum_shop music_hall musician
nanny nature_reserve noodle_bar nursery nutritionist open_air_cinema optician orchestra osteopath
penthouse petting_zoo photo_studio piano_teacher pizzeria planetarium pool_hall poetry_night
puppet_theater quiz_night reading_club riding_school river_cruise roof_terrace sailing_school
sandwich_bar sculptor shelter shoe_shop singing_teacher skate_park ski_resort snack_bar
soup_kitchen sports_club steakhouse street_artist summer_camp surf_school sushi_bar swimming_pool
synagogue tapas_bar tea_house temple tennis_club theater toy_shop townhouse translator tree_house
vegetarian_place vineyard viewpoint volunteer_job warehouse_sale water_park wedding_planner
weekend_trip wellness_center wine_bar yoga_studio youth_club zoo""",
    "topic": """
altitude aphorism asteroid_count avalanche_risk average_rent ballot_count barometer bedtime
birth_rate blood_type_rule boiling_point bond_yield bridge_status bus_fare carbon_level
census_figure chess_opening clock_change coffee_price comet_date commodity_price copper_price
cosmic_fact crop_price crossword_clue crowd_level crime_rate currency_history dew_point dialect
dividend drought_level eclipse_date elevation emoji_meaning etymology exam_date exchange_history
ferry_schedule fire_risk fish_count flood_warning flu_level fog_warning forecast_history frost_date
fun_fact garbage_day gate_number grain_price grammar_rule grid_load harvest_date headline
heat_index herb_use high_tide hotel_rate house_price humidity ice_thickness idiom inflation_rate
insult interest_rate internet_speed jet_stream kosher_rule lake_level lava_level leap_year
legal_limit library_hour life_hack lightning_count literacy_rate local_custom lunar_phase
lyrics_of_the_day magnitude market_index match_result melting_point meteor_shower milk_price
mosquito_level museum_hour noise_level nickname oil_price olive_price origin ozone_level
packing_tip palindrome parade_route park_hour pass_status passport_rule periodic_element pet_tip
phrase_of_the_day pi_digit planet_fact plant_tip poll_result pool_hour port_status potato_price
prayer_time prime_number pronunciation queue_length quiz_answer radiation_level rain_total
rainbow_chance record_high reservoir_level road_condition roman_numeral sailing_forecast
sand_temperature school_holiday sea_level season shadow_length share_index ship_position
silver_price ski_condition sleep_tip slope_status smog_level snow_line soil_moisture solar_output
solstice sound_speed space_news spelling star_sign steel_price storm_track street_name style_tip
sugar_price sun_angle sunset sunspot_number tea_tip temperature term_date tide_table timber_price
tongue_twister train_platform tram_schedule travel_warning trivia_fact unemployment_rate uv_index
vaccine_rule visibility visitor_count vocabulary voltage volcano_status voter_turnout wait_time
wave_height weather_record wheat_price whale_sighting wildfire_map wind_chill wind_speed
wine_vintage word_of_the_day wool_price word_origin work_hour world_record zodiac_sign""",
}
_MODIFIERS = """
abandoned academic acoustic active actual advance aerial afternoon airport alpine amber annual
antique aquatic arctic atomic attic autumn baby back backup bamboo banana bank basement basic bath
beach bedroom beginner big birthday black blank blue board boat bonus border bottom bronze brown
business camp canvas cardboard cargo carbon cash castle celebrity central ceramic charity cheap
cherry chief children chocolate church city classic clay clean club coastal coconut cold college
combined comfort commercial common community compact company concert conference control cooking
copper corner corporate cotton country county couple court cozy creative crew cross crystal
customer cycling daily dance dark daylight deep deluxe dental desert design desk digital dining
direct disco dock double dream dry dual dusty early eastern eco economy editorial elastic
electronic elegant elite emergency empire engine entry evening exotic expert express external extra
factory family farm fashion fast federal festival field final fine fire first fishing fitness flat
flexible floor flower foam focus folding foreign forest formal forward free fresh front frozen
fruit full funny garage garden gas general giant gift glass global gold golden graduate grand
granite graphic gravel gray green ground group guest hair half hand handmade happy harbor hard
harvest health heavy heritage hidden high highway hill hobby holiday home honey horse hospital
hotel house huge hybrid ice indoor industrial infant inner instant insurance internal iron island
ivory jade joint jumbo jungle junior kids kitchen lake large late laundry lead leather left legal
lemon leisure light linen liquid little local long loud lower lucky lunar lunch luxury magic main
maple marble marine market master matte maximum meadow medical medieval metal metro middle midnight
military mini mobile modern monthly morning mountain multi music narrow national native natural
navy neighbor new night noble nordic normal northern nursery oak ocean office old olive online open
orange orchard organic outdoor outer oval overnight own panel paper parent partner party patio peach
pearl personal pet pine pink plain plastic plaza pocket polar police pony poplar portable portal
postal premium press primary prime private public pumpkin purple quality quarter quick quiet rain
rapid rare raw rear red regional regular remote rental rescue retail retro reverse rice right river
road rocket rolling roof round royal rubber rural rustic safety sand satin school scout sea season
second secret security senior shared short shower side silent silk silver simple single sister slim
slow small smart smooth snow social soft solar solid south space spare special spice spiral sport
spring square stable staff standard star state station steel stone storm street striped strong
student studio style summer sun super surface sweet swift table tall team teen temporary thick thin
third tiny titanium top toy trade traditional trail training travel tropical truck turbo twin
ultra under union universal upper urban valley value vanilla vegan velvet vertical vintage virtual
visitor vital walnut warm water wedding weekend weekly western wet white wide wild window winter
wireless wood wool work world yearly yellow youth zen
"""
_DEEDS = """
adjust admire align analyze approve arrange assemble assess assign attach balance bless block boost
brush bury calibrate capture caress carry carve chase circulate classify clean coat collect combine
compress confiscate connect convert copy count cover crop cut dampen deactivate decorate defend
defrost deliver describe detach detect dim display distribute donate double drain dry duplicate dye
empty encrypt endorse engrave escort evaluate examine expand exhibit export extend fetch fill
filter flatten flip fold format freeze frame fumigate gather glaze greet grind guard guide hang
harvest heat hide highlight hoist hold ignite illuminate import inflate inspect install insulate
insure iron isolate juggle label launch lease lend level lift load lock loosen lubricate magnify
measure melt merge mix moisten monitor mount move mute nominate number oil organize outline paint
park patch pause peel photograph pin pitch plant polish pour praise preheat preserve press print
promote prune publish pump punch purify quarantine raise rank reactivate rearrange rebuild recharge
recommend record recycle refill refrigerate reject release rent replace rescue reseal reset reshape
restore reveal reverse rinse rotate salvage sample scan scrub seal shake sharpen shield shorten
shuffle sign simplify slice smooth soak solder sort spin split spray squeeze stabilize stack steer
sterilize stir store straighten strengthen stretch summarize swap sweep tag tame taste test tighten
tilt toast transport trim tune turn_around twist unload unlock unpack unwrap validate varnish
ventilate verify wake warm wash water wax weigh whiten widen wind wipe wrap
"""

_SHORT = 0.3
"""Share of compounds that are called by their last word as well."""
_OTHER = 0.4
"""Share of things that have another's name besides, as synonyms are for who does not know them."""

ANY = "any"
"""The group of deeds: what can be done with things of whatever kind."""


@cache
def heads(group: str) -> tuple[str, ...]:
    """Things of a group, in the notation of tool names; `ANY` has those of all."""
    groups = list(_HEADS) if group == ANY else [group]
    found = dict.fromkeys(head for name in groups for head in _HEADS[name].split())
    return tuple(head for head in found if not kept(head))


@cache
def modifiers() -> tuple[str, ...]:
    """Words that may stand before a thing."""
    return tuple(m for m in _MODIFIERS.split() if not kept(m))


@cache
def deeds() -> tuple[str, ...]:
    """Verbs for things of any kind."""
    return tuple(d for d in _DEEDS.split() if not kept(d))


def thing(rng: Random, group: str, split: str) -> tuple[str, ...]:
    """All names of a random thing: of the tables, of the lists here, a compound, or a made-up word.

    In the held-out split a thing is one that the tables keep unseen. In training many have a
    second name that no table knows: the name and the description must be read to know that they
    are the same, and that "bedtime" is no part of a story's title.
    """
    roll = rng.random()
    if split == "heldout" or (group != ANY and roll < 0.3):
        return rng.choice(_tables(group, split))
    head = rng.choice(heads(group))
    names = [head if roll < 0.5 else f"{rng.choice(modifiers())}_{head}"]
    if roll > 0.9:
        names = [pseudo_word(rng) if roll > 0.95 else f"{pseudo_word(rng)}_{head}"]
    second = rng.random()
    if second < _SHORT and names[0].endswith(f"_{head}"):
        names.append(head)
    elif second > 1 - _OTHER:
        names.append(rng.choice(heads(group)))
    return tuple(dict.fromkeys(names))


@cache
def _tables(group: str, split: str) -> tuple[tuple[str, ...], ...]:
    return tuple(t for t in ALL_THINGS[group] if unseen(t[0]) == (split == "heldout"))


def relative(rng: Random, name: str) -> tuple[str, ...]:
    """A thing whose name shares its last word with another: "garden chair" for "office chair"."""
    head = name.split("_")[-1]
    while (found := f"{rng.choice(modifiers())}_{head}") == name:
        pass
    return (found,)


_PLURAL = (
    "blinds",
    "curtains",
    "shutters",
    "glasses",
    "scissors",
    "stairs",
    "headphones",
    "lights",
)
"""Ends of nouns that are plurals already."""


def plural(noun: str) -> str:
    """A noun in the plural, as the rules have it."""
    if noun.endswith("y") and noun[-2:-1] not in tuple("aeiou"):
        return f"{noun[:-1]}ies"
    if noun.endswith(_PLURAL):
        return noun
    return f"{noun}es" if noun.endswith(("s", "x", "ch", "sh", "tz")) else f"{noun}s"


def kept(name: str) -> bool:
    """Whether a thing, in the notation of tool names, is kept unseen or holds a word that is."""
    return name in _unseen() or any(word in _unseen() for word in name.split("_"))


@cache
def _unseen() -> frozenset[str]:
    """All names of the things that the tables keep unseen, but for words that others share."""
    tables = [names for group in THINGS for names in ALL_THINGS[group]]
    shown = {name for names in tables if not unseen(names[0]) for name in names}
    words = {word for name in shown for word in name.split("_")}
    hidden = {name for names in tables if unseen(names[0]) for name in names}
    return frozenset(hidden - shown - words)
