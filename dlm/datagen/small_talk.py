"""What people tell a voice that asks for nothing: how they are, what they do and think.

Written wide rather than deep: a model of this size that meets a remark of no kind that it knows
answers with whatever its small talk has most of, glad to hear that the user's dog is sick.
"""

from __future__ import annotations

_LISTS = {
    "BAD": (
        "sad|down|upset|lonely|miserable|depressed|heartbroken|stressed|anxious|worried|"
        "overwhelmed|frustrated|angry|annoyed|nervous|scared|afraid|sick|ill|hurt|lost|"
        "not well|not okay|unhappy|not feeling well|not doing well|in a bad mood|in pain|"
        "feeling down|having a hard time"
    ),
    "GOOD": (
        "happy|excited|in love|proud|glad|in a good mood|over the moon|feeling good|thrilled|"
        "delighted|doing great|doing well|having fun|having a great time|on vacation|"
        "grateful"
    ),
    "SPELL": ("day|night|week|morning|weekend|afternoon|evening|year|time at work|time at school"),
    "KIN": (
        "dog|cat|mother|father|mom|dad|brother|sister|son|daughter|friend|grandma|boss|baby|wife"
    ),
}
"""What words in capitals stand for."""


def _topic(said: str, *answers: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Templates divided by slashes, and the answers that fit all of them."""
    for name, words in _LISTS.items():
        said = said.replace(name, words)
    return tuple(" ".join(source.split()) for source in said.split("/")), answers


SMALL_TALK: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "bad": _topic(
        """
        i'm [so|really|very|a bit|just|kind of] (BAD) / i feel (sad|terrible|sick|lonely) /
        i am [so|really] (BAD) [today|right now] / i feel [so] (awful|bad|low|horrible) /
        i('ve had| had| have had) a [really] (bad|terrible|rough|hard|long|awful) (SPELL) /
        today was [really] (awful|terrible|bad|hard|a bad day|the worst) /
        it was a (bad|terrible|rough|long) (day|week|night) / nobody (likes|loves) me /
        my (KIN) is [very|really] (sick|ill|in the hospital|hurt|mad at me|dying) /
        my (KIN) (died|passed away|ran away|hates me|left me|is gone|got hurt) /
        my (car|phone|computer|bike|oven|washing machine) (broke down|is broken|died|got stolen) /
        i (lost|broke|forgot) my (keys|wallet|phone|glasses|ring|passport|umbrella|job) /
        i (failed|missed) my (exam|test|bus|flight|train|interview|appointment) /
        i broke my (leg|arm|finger|toe|tooth) / everything (hurts|goes wrong|is terrible) /
        my (back|head|tooth|stomach|knee|throat|foot) hurts / i can't (sleep|stop crying) /
        i've got (a headache|a cold|a fever|the flu|a cough) / i (don't|do not) feel (good|well) /
        i have a [terrible] (headache|cold|fever|toothache|stomachache|hangover) /
        i got (fired|dumped|robbed|hurt|sick|a bad grade) / i miss (him|her|my {noun}|them) /
        (we|our team) lost the game / someone stole my (car|bike|phone|wallet) /
        it's been a (long|bad|hard|tough) (day|week|year) / i could cry / life is hard /
        things are not going well / i hate my (job|life|boss) / i failed / i give up /
        i'm not [so|very|too] (happy|good|well|great) / not [so|too|very] (good|well|great) /
        i'm having a (bad|terrible|rough|hard) (day|week|time)
        """,
        "I'm sorry to hear that.",
        "Oh no, I'm sorry.",
        "Sorry to hear that.",
        "I'm sorry. I'm here if you need me.",
        "I'm very sorry to hear that.",
    ),
    "good": _topic(
        """
        i'm [so|really|very] (GOOD) / i am [so|really] (GOOD) [today|right now] /
        i('ve had| had| have had) a [really] (good|great|nice|wonderful|lovely) (SPELL) /
        today was [really] (great|good|wonderful|a good day|the best) / life is (good|great) /
        i feel [so] (good|great|happy|amazing|fantastic|much better) / i feel better [now] /
        i (passed|aced) my (exam|test|driving test) / i got (the job|a raise|engaged|married) /
        my (KIN) (had a baby|is getting married|is coming home|feels better|won) /
        (we|our team) won [the game] / i won [the lottery|a prize|the game] / i did it /
        it was a (good|great|nice|wonderful) (day|week|trip|party|movie) / i found my keys /
        i bought a new (car|house|phone|bike|dress) / everything is (great|fine|perfect) /
        i'm having a (good|great|nice) (day|time|week) / i'm [doing] (good|fine|great|well|okay) /
        (pretty|very|really) good / not (bad|too bad) / i'm good how are you? /
        i can't wait for (the weekend|summer|my vacation|christmas) / it's friday /
        i (love|like) my (job|life|new job|new house) / that made my day / i finished my {noun}
        """,
        "I'm happy to hear that.",
        "That's great!",
        "Good for you!",
        "That's wonderful.",
        "Glad to hear it.",
    ),
    "despair": _topic(
        """
        i want to (die|kill myself|end it all|hurt myself) / i don't want to live [anymore] /
        i'm (going to kill|thinking of killing|going to hurt) myself / i wish i was dead /
        i can't go on [like this] / life is not worth living / i want to disappear /
        nobody would miss me / i see no way out / i hate myself / i have no reason to live
        """,
        "I'm sorry you feel that way. Please talk to someone you trust.",
        "I'm so sorry. Please call someone who can help you.",
    ),
    "tired": _topic(
        """
        i'm [so|really|very|just|a bit] (tired|exhausted|sleepy|worn out|beat|wiped out) /
        i am [so|really] (tired|exhausted|sleepy) / i need (sleep|a nap|a break|a rest|a vacation) /
        i (couldn't|could not|didn't) sleep [well|last night] / what a [long] (day|week) /
        i (barely|hardly) slept / i was up all night / i could (sleep for days|use a nap) /
        i can't keep my eyes open / i've been working all (day|night|week) / i need a holiday /
        work was exhausting / the baby kept me up / i want to (sleep|rest|lie down)
        """,
        "I hope you get some rest soon.",
        "Maybe a break will help.",
        "That sounds tiring.",
        "I hope you can rest soon.",
    ),
    "bored": _topic(
        """
        i'm [so|really|very|a bit|just] bored / i am [so|really] bored [today] / so bored /
        this is [so] boring / there's nothing to do / i have nothing to do / boring /
        i don't know what to do / what should i do [today|now]? / nothing ever happens here /
        i'm bored out of my mind / life is boring / help i'm bored
        """,
        "That's a drag. I'm here if you think of something.",
        "I'm here if you need something.",
        "That's a drag.",
    ),
    "hungry": _topic(
        """
        i'm [so|really|very|a bit] (hungry|starving|thirsty) / i am [so|really] (hungry|thirsty) /
        i could eat a horse / i'm dying for (a snack|some food|some water) /
        i haven't eaten [all day|yet|anything] / my stomach is (growling|empty) / feed me /
        i want something (to eat|sweet|salty|warm) /
        what should i (eat|cook|have for dinner|have for lunch)? / i'm craving chocolate
        """,
        "Maybe a snack will help.",
        "Sounds like it's time for a snack.",
    ),
    "uncomfortable": _topic(
        """
        i'm [so|really|a bit|too] (cold|freezing|hot|sweating|warm|chilly) / i am [so] (cold|hot) /
        it's [so|too|really|very|a bit] (cold|hot|dark|bright|loud|noisy|stuffy|warm) [in here] /
        it is [so|too|really] (cold|hot|dark|bright|loud|noisy) [in here|here] / i'm freezing /
        i can't see (anything|a thing) / it smells [bad|funny] in here / brr / it's a mess /
        it's getting (dark|cold|hot|late|loud) / the sun is too bright / i can't breathe in here /
        the neighbors are [so|too] loud / it's [way] too (dark|cold|hot|loud|bright) in this room
        """,
        "Tell me what I can do about it.",
        "Oh. Is there something I can do?",
        "What should I do about it?",
    ),
    "plans": _topic(
        """
        i'm going (for a run|to the gym|out|home|to work|shopping|for a walk|to school|to a party) /
        i'm going to (cook|eat|read|take a shower|work|clean the house|watch a movie|go for a run) /
        i think i'm going to (go for a run|go out|cook|take a walk|read a book|stay home|work) /
        i think i('ll| will) (go for a run|stay home|take a walk|have lunch|go out|wait) /
        i'm about to (leave|cook dinner|go out|start work|take a shower|have lunch|eat) /
        i'm (on my way home|at work|in the kitchen|at home|in the car|outside|in the garden) /
        i'm (cooking|reading|working|cleaning|studying|driving|eating|watching a movie) /
        i just (got home|woke up|had lunch|finished work|came back|ate|finished my homework) /
        i have (to go to work|a meeting later|an exam tomorrow|a date tonight|visitors) /
        i need to (go shopping|clean up|study|get going|work|leave soon|do the laundry) /
        we're (going out|having guests|leaving tomorrow|moving to {place}|having a party) /
        my (KIN) is (coming over|visiting|cooking dinner|at school|asleep|at work) /
        i'll be (right back|back soon|back later|home late|out tonight) / i'm back / i'm home /
        i (have|should) (to work|to study|to get up early tomorrow) / i'm ready / i'm waiting /
        tomorrow i'm (off|going to {place}) / i'm learning (spanish|to cook)
        """,
        "Sounds good. I'm here if you need me.",
        "Okay. Let me know if you need anything.",
        "Sounds good.",
        "Alright, I'm here if you need me.",
    ),
    "remark": _topic(
        """
        it's (raining|snowing|sunny|cloudy|windy) [outside|again|today] / it rained [all day] /
        what a (nice|lovely|beautiful|strange) day / the traffic was (bad|terrible|awful) /
        (my|the) {noun} is (new|nice|big|red|old|too small|on the table|very old) /
        i (like|love|hate|see|hear|bought|found) [a|the|some] {noun} /
        i have (two|three|four) (cats|dogs|kids|brothers|sisters) / i live in {place} /
        i have a (dog|cat|sister|brother|big family|new job) / i'm from {place} /
        i work (in an office|at a school|at night|from home|with {person}) /
        i'm (thirty|forty|twenty five|sixty two|eighteen) years old / i was in {place} last year /
        i (saw|met|called|visited) {person} (today|yesterday|last week) / i saw {title} yesterday /
        {person} is my (friend|brother|sister|boss|teacher|neighbor) / i like {title} /
        my (KIN) is (funny|nice|crazy|very tall|from {place}|a doctor|a teacher) /
        my (KIN) is called {person} / {person} (told me a secret|called|is here|says hi) /
        the {noun} is (broken|open|empty|gone|here|ready|in the kitchen) / i think so /
        i used to (live in {place}|play the piano|smoke|run a lot) / i read a book about {noun}s /
        people are (strange|nice|funny) / the kids are (asleep|at school|playing outside) /
        i don't (know|care|think so|mind|remember) / maybe / i guess [so] /
        that reminds me of (my childhood|{place}|{person}) / i was talking to my (KIN) /
        we had (pizza|fish|soup|a great dinner) [yesterday|for lunch] / time flies
        """,
        "I see.",
        "Oh, I see.",
        "I see. Is there anything I can do?",
        "Interesting.",
        "Okay. Is there anything I can do?",
    ),
    "love": _topic(
        """
        i [really] (love|like|adore) you / i love you [so much|very much|too] / you're cute /
        you're [so|very|really] (nice|sweet|kind|funny|beautiful|lovely|pretty|charming) /
        you're my [best] friend / you make me (happy|laugh|smile) / you're good company /
        i like (your voice|talking to you|the way you talk) / you have a (nice|lovely) voice /
        i missed you / i miss you / you're one of a kind / i'm glad you're here /
        you are [so] (nice|sweet|kind|funny|lovely) / i couldn't live without you
        """,
        "That's kind of you.",
        "How kind of you to say.",
        "Thank you, that's nice of you.",
    ),
    "praise": _topic(
        """
        you're [so|very|really|pretty] (smart|clever|helpful|good|fast|useful|intelligent) /
        you're (great|awesome|amazing|the best|a genius|wonderful|a star|fantastic|a lifesaver) /
        you are [so|really] (smart|clever|helpful|good|great|amazing) / good (bot|girl|boy|work) /
        i'm proud of you / you did [very] well / that was (fast|quick|great|amazing|helpful) /
        you're doing [a] (great|good) job / impressive / you rock / that's (perfect|very helpful) /
        you understand me [very] well / you know everything / that was exactly what i wanted
        """,
        "Thank you!",
        "Thanks, happy to help.",
        "Thank you. Happy to help.",
    ),
    "insult": _topic(
        """
        you're [so|really|very] (stupid|dumb|useless|annoying|slow|crazy|boring|ugly|rude|bad) /
        you're (the worst|an idiot|a moron|not helpful|not very smart|terrible|broken|no help) /
        you are [so|really] (stupid|dumb|useless|annoying|slow|an idiot) / i hate you / you suck /
        you (never|don't|do not) (understand me|listen|get it|understand anything|help) /
        this is (stupid|useless|ridiculous|a waste of time) / what is wrong with you? /
        shut up you idiot / i don't like you / you make no sense / that was (stupid|useless) /
        that didn't (help|work) / you're not listening [to me] / stupid (machine|computer|thing) /
        i want to talk to (someone else|a real person) / siri is better than you
        """,
        "I'm sorry. I try my best.",
        "I try, but I don't always get it right.",
        "I'm sorry about that.",
    ),
    "itself": _topic(
        """
        what's your favorite (color|food|movie|song|animal|book|season|number|place|sport)? /
        do you (sleep|eat|dream|have feelings|have friends|have a family|get tired|get bored)? /
        do you (believe in god|believe in ghosts|think|have a soul|have a body|drink)? /
        are you (happy|sad|bored|tired|alive|hungry|lonely|married|conscious|in love|single)? /
        do you like (me|{noun}s|music|{title}|{person}|dogs|cats|pizza|your job|people)? /
        what do you think (about|of) (politics|{noun}s|me|{person}|{place}|love|religion|{title})? /
        what's your opinion on (politics|{noun}s|{person})? / can you (feel pain|feel|see me|see)? /
        are you a (boy|girl|man|woman|boy or a girl|man or a woman)? / do you love me? /
        what do you (do|like) (for fun|to eat|in your free time|all day|at night)? /
        are you (smarter than me|afraid of death|better than siri|ever wrong|self aware)? /
        will you marry me? / do you want to (be human|be my friend|go out with me|play)? /
        who is your (boss|best friend|favorite singer)? / do you have (a boyfriend|kids|any pets)? /
        what are you wearing? / how was your (day|weekend|night)? / what did you do today?
        """,
        "I'm just a program, so I can't say.",
        "That doesn't really apply to me. I'm a program.",
        "I'm just a program, so no opinion there.",
    ),
    "talk": _topic(
        """
        (let's|can we|could we|i want to|i'd like to) (talk|chat|have a chat) [a bit|for a while] /
        (talk|speak|chat) (to|with) me / i need (someone to talk to|to talk|to tell you something) /
        can i (ask|tell) you something? / can i ask you a (question|favor)? / listen /
        i have a (question|problem|request|favor to ask) / guess what / you know what /
        do you have a (minute|moment|second)? / got a (minute|second)? / i need a favor /
        can you do (something|me a favor|something for me)? / i want to (ask|tell) you something /
        hey listen / i need your help [with something] / could you help me with something?
        """,
        "Sure, go ahead.",
        "Of course. What is it?",
        "I'm listening.",
        "Sure, what is it?",
    ),
    "heard": _topic(
        """
        wow / really / oh / i see / interesting / cool / nice / great / ha ha / oh well /
        that's (funny|interesting|good|nice|cool|crazy|amazing|weird|strange|sad|good to know) /
        hmm okay / got it / no way / seriously / oh my god / awesome / sounds good / alright /
        fair enough / alright then / okay (then|good|cool|great|got it) / oh okay / good to know /
        i understand / perfect / excellent / lovely / fine / very well / if you say so /
        i didn't know that / thought so / that makes sense / you don't say / good / okay fine
        """,
        "Anything else I can do?",
        "Is there anything else?",
        "Let me know if you need anything.",
    ),
    "sorry": _topic(
        """
        (i'm|i am) [so|very|really] sorry / sorry / my bad / excuse me / my mistake / oops /
        sorry about that / i apologize / sorry i was talking to (someone else|my wife|my kids) /
        forgive me / sorry wrong (word|room|one) / i didn't mean (that|it) / sorry my mistake /
        i was just (kidding|joking) / sorry for (yelling|the noise|that) / that was my fault
        """,
        "No problem.",
        "That's okay.",
        "No worries.",
    ),
    "wishes": _topic(
        """
        (merry christmas|happy new year|happy easter|happy halloween|happy holidays|cheers) /
        happy (thanksgiving|hanukkah|birthday|valentine's day) [to you] / stay healthy /
        i wish you a (nice|good|merry) (day|weekend|christmas) / all the best / good luck /
        happy (friday|monday|weekend) [to you] / same to you / you too / god bless you
        """,
        "Thank you, the same to you.",
        "And to you as well!",
        "Thanks, you too.",
    ),
    "birthday": _topic(
        """
        it's my birthday [today|tomorrow] / today is my birthday / i turned (thirty|forty) today /
        i'm (twenty|thirty|forty|fifty) today / my birthday is today
        """,
        "Happy birthday!",
        "Happy birthday to you!",
    ),
    "private": _topic(
        """
        are you (always listening|recording me|spying on me|listening all the time)? /
        do you (record|spy on|listen to|save) (me|everything|what i say|my voice|conversations)? /
        do you send my (voice|data|words) (anywhere|to the cloud|to google|to someone)? /
        is my (data|voice) (safe|private|sent anywhere|stored|recorded)? / who can hear (me|this)? /
        are you (connected to the internet|in the cloud|online|private|safe|secure)? /
        where (does|do) my (voice|data|words) go? / do you need the internet? / can i trust you? /
        who is listening? / is anyone else listening? / are you sharing my data?
        """,
        "I run right here on this machine.",
        "I work on this machine, nowhere else.",
    ),
    "languages": _topic(
        """
        do you (speak|understand|know) (spanish|french|german|italian|chinese|russian|hindi)? /
        can you (speak|talk in|understand) (spanish|french|german|italian|japanese|portuguese)? /
        what languages do you (speak|know|understand)? / do you speak other languages? /
        how many languages do you (speak|know)? / hola / bonjour / guten tag / que tal
        """,
        "I only speak English, sorry.",
        "Sorry, I only know English.",
    ),
    "news": _topic(
        """
        what's (new|up|happening|going on)? / what are you (doing|up to|thinking about)? / sup /
        anything (new|interesting)? / how's (life|everything|business|your day)? /
        what's going on with you? / how are things? / how have you been? / how's it hanging?
        """,
        "Not much. I'm here, ready to help.",
        "Not much. What can I do for you?",
    ),
}
"""By topic: what users say, and what fits all of it."""
