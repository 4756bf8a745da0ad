"""English words and phrases that the conversation itself understands, whatever the model."""

from __future__ import annotations

import re

LONGEST_MESSAGE = 2000
"""Characters of a message that the rules read, counted from its end; more than anybody says. Many
patterns take time that is quadratic in the length. The model gets the whole message."""
_WORD = re.compile(r"\w+(?:['’]\w+)*")
_MUCH_SPACE = re.compile(r"(\s{8})\s+")


def as_read(message: str) -> str:
    """A message as the rules read it: only its end if it is too long, and long blanks shortened."""
    return _MUCH_SPACE.sub(r"\1", message[-LONGEST_MESSAGE:])


def normalised(text: str) -> str:
    """The words alone, in lower case: "Set a timer, please!" → "set a timer please"."""
    return " ".join(_WORD.findall(text.lower()))


def word_set(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


VERBS = word_set("""
    add announce append arrange book bring brighten bump calculate call cancel change check clear
    close convert count create cross cut delete dim disable drop edit empty end erase exchange
    extend fetch figure find forget get give have include increase keep kill lengthen let list lock
    look lower make mark mention move mute note open order pause place play please postpone pull
    push put raise read reduce remember remind remove rename reschedule reset restart ring run say
    schedule search send set shift shorten show shut skip snooze solve start stick stop strike swap
    switch take tell throw time transfer translate turn unlock update wake wipe work write
    are can could did do does don't how i'd i'll is what what's when where which who will would
""")
"""Words that a request may begin with."""

NUMBERS = word_set("""
    one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred
    thousand half quarter noon midnight
""")
UNITS = word_set("""
    minutes minute hours hour seconds second percent degrees and a an of past to o'clock am pm
""")
"""Words that go with a number or a time."""
ARTICLES = word_set("a an the my some this that")
FUNCTION_WORDS = word_set("""
    what which who whose when where why how in on at to for from with by of into is are was do does
    did can
""")
"""Prepositions, question words and auxiliaries, which begin a phrase."""

TAKING_BACK = r"no|nope|sorry|rather|i mean|i meant|make that|scratch that"
"""Editing terms of a self-repair, between what is taken back and what is said instead."""
HESITATING = r"oh|ah|uh|um|er|erm|hmm|well|wait|actually|hang on|hold on"

GRAMMAR = word_set("""
    a about actually after again ah ahead all also am an and another any anyway are as at back
    be because been before being both but by called can could did do does done down each else er
    every favor favour for forget from get give go going good got great had has have he hello
    help her here hey hi him his hm how i if in instead into is it its just kind know lasting
    let like list little make maybe me mean mine more much my named need new no not now of off
    oh ok okay on one ones or order other our out over passed please plus possible put quick really
    remember remind reminder right same say see set she should size so some sorry sure tell
    thank thanks that the their them then there these they thing things this those though to too
    uh um up us wake want was we well were what when where which while who will with would yeah
    yes you your haha lmao lol
""")
"""Words that name nothing, words of politeness included."""

_POLITE = (
    r"oh|ok|okay|no|yes|yeah|hey|wait|hold on|please|actually|sorry|thanks|thank you|cheers|now"
    r"|then|well|right|alright|great|and|just|very much|so much|a lot|it's ok"
)


_BEFORE_A_QUESTION = (
    r"(?:(?:so|and|but|hey|hi|hello|ok|okay|well|um|uh|oh|no|sorry|wait|hang on|hold on|please"
    r"|tell me|excuse me|do you know"
    r"|(?:can|could|will|would) you (?:(?:please|also|just|maybe) )*tell me"
    r"|(?:i|we)(?:(?: just| also)? want(?:ed)?|(?:'d| would)(?: just| really)? (?:like|love))"
    r" to know|right|alright|great|good|brilliant|perfect|lovely|nice|thanks|thank you|yes"
    r"|yeah|then|now) )*"
)
_ASKING = re.compile(
    rf"(?P<lead>{_BEFORE_A_QUESTION})(?:"
    r"how (?!about|come )\w|how's |what(?:'s| is) (?!up\b)|what (?!about|if|an? |the hell)\w"
    r"|who |which "
    r"|(?:when|where|why)(?:'s| is| are| was| were| does| do| did| will) (?!n't|not|you )"
    r"|(?:is|are|isn't|aren't|was|were) (?!it (?:ok|okay|all right|alright|possible|too late)\b"
    r"|there any (?:chance|way))\w"
    r"|(?!do (?:it|that|this|an?)\b|have an?\b)"
    r"(?:do|does|did|doesn't|don't|have|has|had) (?:i|you|we|they|it|he|she|the|my|your|our|this"
    r"|that|any|an?) (?!mind|think|know|time)\w"
    r"|(?:does|did) \w+ing |should (?:i|we|one|people) )"
)
_DONE = r"(?:been |already |now |really |just |not )*(?:\w{2,}ed|done|made|put|sent|set)\b"
_ASKING_OF_THE_PAST = re.compile(
    rf"{_BEFORE_A_QUESTION}(?:(?:what|when|why|how) )?(?:(?:did|didn't)"
    r" (?:i|you|we|he|she|they|it|that|this|the|my|our|any\w+|some\w+) \w"
    rf"|(?:have|haven't) (?:you|i|we|they) {_DONE}"
    rf"|(?:is|isn't|was|wasn't|has|hasn't) (?:it|that|this|(?:the|my|our) (?:\w+ ){{0,2}}?\w+)"
    rf" {_DONE})|.*\b(?:didn't|haven't) you$"
)
_ASKS_FOR_MORE = re.compile(
    r"\b(?:i'll|i will|i want|i'd (?:really )?(?:like|love|have)|i would (?:like|love|have)|let me"
    r"|(?:give|get) me"
    r"|(?:can|could|may|shall|will|would) (?:i|we|you) (?:please |also |just |still )?(?!recommend)"
    r"|make (?:it|that|them)|instead)\b"
)
_MAY_ASK = re.compile(
    r"(?:(?:and|but|or|so|well|then|oh) )*(?:can|could|should|shall|may|must"
    r"|do(?! (?:it|that|this|so)\b)|does|is|are|will|would|what|when|where|who|how|why|which)\b"
)
_OF_THE_AGENT = re.compile(
    r"\b(?:is any(?:one|body) (?:there|here|listening)\b"
    r"|are you\b(?! open| closed| busy)|you(?:'re| are)\b|your name|how do you do|did you"
    r" (?:say|hear|get|just)|do you (?:work|like|know|think|remember|record|hear|understand|mean"
    r"|love|feel))"
)


def asks(text: str) -> bool:
    """Whether the words ask for facts and for nothing to be done.

    >>> asks("Does the chai have nuts in it?"), asks("how about a chai"), asks("could I have one?")
    (True, False, False)
    >>> asks("Could you tell me, what teas do you have?"), asks("could you tell me a joke?")
    (True, False)
    """
    found = _ASKING.match(words := plain(text))
    # "Could you tell me" before a question asks for nothing else.
    return found is not None and not _ASKS_FOR_MORE.search(words, found.end("lead"))


def asks_what_was_done(text: str) -> bool:
    """Whether words ask only about what has or has not been done, which changes nothing.

    >>> asks_what_was_done("did you cancel it or not?"), asks_what_was_done("do you cancel it?")
    (True, False)
    """
    told = [plain(one) for one in re.split(r"[.!?]+\s+", text) if bare(one)]
    return bool(told) and all(map(_ASKING_OF_THE_PAST.match, told))


def may_ask(clause: str) -> bool:
    """Whether words begin like a question, or like a request in question form.

    >>> may_ask("do you have tea"), may_ask("do it then")
    (True, False)
    """
    return _MAY_ASK.match(clause.lower()) is not None


def asks_of_the_agent(text: str) -> bool:
    """Whether a question is about the agent itself.

    >>> asks_of_the_agent("are you there?"), asks_of_the_agent("do you have tea?")
    (True, False)
    """
    return _OF_THE_AGENT.search(plain(text)) is not None


_YES = (
    r"yes|yeah|yep|yup|yea|ya|ja|y|aye|sure|okay|ok|correct|right|exactly|please|do|do it|of course"
    r"|go ahead|mm hmm?|uh huh|mhm|i would|i do|i'm sure|it is|(?:that's|it's) (?:right|it|correct)"
    r"|both|all of (?:it|them|that)|perfect"
)
_NO = (
    r"no|nope|nah|n|never|never mind|rather not|not (?:yet|now|really|at all)|stop|wait"
    r"|(?:don't|do not)(?: \w+ (?:it|that|this|them|those|anything|everything))?"
    r"|(?:keep|leave) (?:it|that|this|them|those|everything)(?: alone)?|cancel(?: it| that)?"
    r"|i (?:don't|do not|wouldn't)(?: want (?:to|that|it))?|i(?:'ve)? changed my mind"
)
_ASIDE = r"oh|please|sorry|actually|thanks|thank you"


def plain(text: str) -> str:
    """The words alone, in lower case, with their apostrophes: "Thats it!" → "that's it"."""
    return _with_apostrophes(normalised(text).replace("’", "'"))


def without_article(text: str) -> str:
    """A lower-case text without its leading article."""
    return re.sub(r"^(?:an?|the|some) ", "", text)


_AS_TYPED = {
    "tmrw": "tomorrow", "tmw": "tomorrow", "tmr": "tomorrow", "2moro": "tomorrow",
    "tonite": "tonight", "2nite": "tonight", "ur": "your", "plz": "please", "pls": "please",
    "thx": "thanks", "w/": "with", "appt": "appointment", "appts": "appointments",
    "rn": "right now", "em": "them",
}  # fmt: skip
"""Typed abbreviations and the words they stand for."""
_WITHOUT_APOSTROPHE = re.compile(
    r"\b(?:(that|what|when|where|there|who|how|he|she)(s)"
    r"|(do|does|did|is|are|was|were|have|has|had|ca|wo|would|could|should)n(t)"
    r"|(i)(m)|(i|you|we|they)(ve)|(that|it|they|you)(ll))\b",
    re.IGNORECASE,
)
"""Contractions typed without apostrophe that cannot be other words."""


def _with_apostrophes(text: str) -> str:
    def whole(found: re.Match[str]) -> str:
        first, last = (part for part in found.groups() if part)
        return f"{first}{'n' if last.lower() == 't' else ''}'{last}"

    return _WITHOUT_APOSTROPHE.sub(whole, text)


def written_out(text: str) -> str:
    """Typed abbreviations and contractions as they are said.

    >>> written_out("alarm 6:15 tmrw plz, thats all")
    "alarm 6:15 tomorrow please, that's all"
    """
    said = re.sub(r"(?<!\S)[\w/]+(?![^\s,.;!?])", lambda m: _AS_TYPED.get(m[0].lower(), m[0]), text)
    return _with_apostrophes(said)


_COURTESY = re.compile(
    r"(?:(?:well|oh|ok|okay|and|so|right|alright|great|yes|yeah|yep|yup|sure|no|nope) )*(?:"
    r"(?:many )?thanks?\b.*|cheers.*|thank you.*|see (?:you|ya)\b.*|take care.*"
    r"|have an? (?:\w+ )?(?:one|day|morning|afternoon|evening|night|week|weekend|time)\b.*"
    r"|(?:bye|goodbye|good ?night)\b.*|you too|you(?:'ve| have) been\b.*"
    r"|(?:that|it|this|you)(?:'s|'re| is| are| was| has been| sounds| looks| seems| works| helps"
    r"| would be)?(?: (?:very|really|so|all|an?|most|quite|just))* (?:great|good|fine|perfect"
    r"|lovely|wonderful|brilliant|excellent|nice|kind|helpful|sorted|relief|super|fantastic|cool|awesome"
    r"|amazing|welcome|star|lifesaver)\b.*"
    r"|(?:that|it|this)(?:'s| is| was|'ll be| will be)(?: just)?"
    r" (?:all|it|everything|done|that|right|correct|easy|quick)"
    r"(?: (?:then|thanks?|for|i think|cheers|i need\w*|really)\b.*)?"
    r"|(?:i )?(?:really |very much )?(?:appreciate|love|like) (?:it|that)\b.*"
    r"|(?:i )?look forward\b.*"
    r"|i(?:'ll| will) (?:see|be there|let you|call|ring|be in|talk)\b.*|not? (?:today|now|really)"
    r"|(?:great|good|fine|perfect|lovely|wonderful|brilliant|excellent|super|cool|awesome|sorted|"
    r"done|ok|okay|alright|right|yes|no|nope|yeah|sure|hello|hi|hey|nothing|all good|phew)"
    r"(?: (?:great|then|stuff|news|job|else|thanks|more|one|there|good))*)?"
)


def is_courteous(text: str) -> bool:
    """Whether words are mere courtesy or praise, and ask for nothing.

    >>> is_courteous("that's great, thanks a lot"), is_courteous("my knee hurts")
    (True, False)
    """
    return _COURTESY.fullmatch(plain(text)) is not None


def saying_yes(*beside: str) -> re.Pattern[str]:
    """A pattern of words that say yes and nothing else; ``beside`` are further such patterns."""
    yes = "|".join((*beside, _YES))
    # Without a limit it would take exponential time: "it is good" matches as one part or as two.
    return re.compile(rf"(?:{yes})(?: (?:{yes}|thanks|thank you)){{0,7}}")


_AGREEING = saying_yes()
_DO_IT = (
    r"(?:(?:let's|i'll|we'll|i|we) )?(?:take|book|confirm|place|do) (?:it|that|this)(?: one)?"
    r"|(?:call|ring|phone) (?:me|us)|that one|that'll do|that will do|go (?:for )?it|absolutely"
    r"|definitely|all correct"
)
PLAIN_YES = saying_yes(_DO_IT)
"""Words that plainly want something done that was asked about or offered."""
ANY_YES = saying_yes(
    r"(?:that's |that |it's |it |all |that'll be |that will be )?(?:sounds |looks |is )?"
    r"(?:good|fine|great|perfect|lovely)(?: to me| for me)?|(?:that )?works(?: for me)?|wonderful",
    _DO_IT,
)
"""The same, and words of praise."""


def agrees(text: str, saying: re.Pattern[str] = _AGREEING) -> bool:
    """Whether the words say yes and nothing else, by a pattern of `saying_yes`.

    >>> agrees("Yes, please."), agrees("yes but first a timer")
    (True, False)
    """
    return saying.fullmatch(plain(text)) is not None


_BARE_YES = (
    r"yes|yeah|yep|yup|yea|ya|ja|y|aye|sure|please|of course|mm hmm?|mhm|uh huh|i would|i do"
)
_ONLY_YES = re.compile(
    rf"(?:(?:oh|um|uh) )?(?:{_BARE_YES})(?: (?:{_BARE_YES}|thanks|thank you)){{0,7}}"
)


def says_only_yes(text: str) -> bool:
    """Whether words are a bare yes, and not of the kind that also ends something: "that's it".

    >>> says_only_yes("Yes, please."), says_only_yes("yes, that's it")
    (True, False)
    """
    return _ONLY_YES.fullmatch(plain(text)) is not None


def disagrees(text: str) -> bool:
    """Whether the words say no and nothing else.

    >>> disagrees("No, don't delete them!"), disagrees("no just the timers")
    (True, False)
    """
    no = rf"(?:(?:{_ASIDE}) )*(?:{_NO})(?: (?:{_NO}|{_ASIDE}))*"
    return re.fullmatch(no, plain(text)) is not None


def bare(text: str, beside: str = "") -> str:
    """Plain words without words of politeness and without matches of the pattern ``beside``.

    >>> bare("No, wait, cancel that please.")
    'cancel that'
    """
    left = re.sub(rf"\b(?:{'|'.join(filter(None, (beside, _POLITE)))})\b", " ", plain(text))
    return " ".join(left.split())
