"""What names a deed without asking for it: "don't turn on the light", "how do I set a timer".

An order is put into a frame. Most frames take the request out of it, and nothing is to be called;
some only look as if they did ("why don't you turn on the light"), so that no single word decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from random import Random

from dlm.datagen.grammar import Piece, fill
from dlm.datagen.holdout import unseen

FRAME = "(frame)"
"""Slot of a frame's words, no tool's: as those of a slot, a bad recogniser spares most of them."""


@dataclass(frozen=True, slots=True)
class Group:
    """Frames that are answered alike.

    Attributes:
        weight: How often it is drawn, beside the others.
        frames: Templates divided by slashes; ``DO`` stands for the order, ``DOING`` and ``DID`` for
            its other forms.
        answers: What the agent says; none where the order stands and is to be called.
        of_user: Whether it may be the user who does it, so that it is not done for "me".
        question: Whether it is one.
    """

    weight: int
    frames: str
    answers: tuple[str, ...] = ()
    of_user: bool = False
    question: bool = False

    @cache  # noqa: B019 - there are six
    def of(self, split: str) -> tuple[str, ...]:
        """Its frames of a split, "train" or "heldout"."""
        frames = (" ".join(frame.split()) for frame in self.frames.split("/"))
        return tuple(frame for frame in frames if unseen(frame) == (split == "heldout"))


GROUPS: tuple[Group, ...] = (
    Group(
        40,
        """
don't DO / please don't DO / do not DO / please do not DO / don't you DO / never DO /
no don't DO / no please don't DO / wait don't DO / hey don't DO / hold on don't DO /
you don't have to DO / you don't need to DO / you needn't DO / no need to DO /
there's no need to DO / don't DO yet / there is no need to DO / there is no reason to DO /
i don't want you to DO / i don't want to DO / i'd rather you didn't DO / i would rather not DO /
i'd prefer that you don't DO / don't DO please / i didn't ask you to DO /
i did not tell you to DO / i never told you to DO / don't DO now / nobody asked you to DO /
whatever you do don't DO / you shouldn't DO / you should not DO / you must not DO /
you mustn't DO / let's not DO / better not DO / you better not DO / don't DO today /
maybe don't DO / it's better not to DO / actually don't DO / actually do not DO /
try not to DO / make sure not to DO / make sure you don't DO / be careful not to DO /
under no circumstances DO / can you not DO / could you not DO / could you please not DO /
would you please not DO / i'm not asking you to DO / it's not necessary to DO /
it isn't necessary to DO / don't ever DO / i forbid you to DO / you're not allowed to DO /
do not DO until i say so / don't DO anymore / i changed my mind don't DO / it's fine don't DO /
that's enough don't DO / no thanks don't DO / i said don't DO / i told you not to DO /
i asked you not to DO / you don't have to DO for me / hold off on DOING / refrain from DOING /
avoid DOING / no need for DOING / i'm against DOING / i don't feel like DOING /
don't even think of DOING / don't start DOING / don't bother DOING / don't bother to DO /
not necessary to DO / it's too early to DO / it's too late to DO /
(please|hey|no|wait|oh) (don't|do not|never) DO [please|okay|now|today|again|right now] /
(don't|do not|never) DO (okay|tonight|again|right now) /
(don't|do not) (try to|ever|just) DO / don't you (ever|dare) DO / (in no case|by no means) DO /
(on no account|at no time|not for anything) DO / (see|ensure) [that] you (don't|never) DO /
(make sure|take care) [that] you (never|do not) DO / remember not to DO / you're not to DO /
(be sure|see to it|take care|try hard|be so kind) (not|never) to DO / no DOING [please|today] /
(there isn't any|i see no|i have no|we have no) (need|reason|point) to DO /
there's no (point|use|sense) in DOING / it makes no sense to DO /
(i|we) (don't|do not) (want|need|wish) (you|anyone|anybody) to DO /
let's (wait before we|never) DO /
i (don't|do not) think you (should|need to|have to) DO / you (cannot|may not|ought not to) DO /
you (aren't|are not) (allowed|supposed|asked|meant) to DO / i would like you not to DO /
(it's|it is|it would be) (unnecessary|pointless|a bad idea|a mistake|wrong|silly) to DO /
i never (asked|wanted|told) you to DO / i (didn't|did not) (ask|want|tell|say) you to DO /
(i'd|i would) (prefer it|like it|be happy) if you didn't DO / (can|will) you [please|just] not DO /
(forget it|cancel that|scratch that|not now|not yet|another time|later) (don't|do not) DO /
(hold off|wait|hold on) (before you DO|with DOING) / (stop|quit) trying to DO /
(no one|none of us) (asked|told|wants) you to DO / don't DO unless i (ask|say so|tell you) /
i (said|meant|warned you|already told you|just asked you) not to DO / i'm telling you not to DO /
(my wife|my mom|my boss|he|she) (said|told you|wants you|asked you) not to DO /
(don't|do not) DO (until|before) (tomorrow|i tell you|i'm back|later|next week) /
(i|we) (decided|agreed|chose|prefer) not to DO / i'm not (ready|in the mood|planning) to DO
""",
        (
            "Okay, I won't.",
            "All right, I won't.",
            "Sure, I won't.",
            "Okay, I won't do that.",
            "Understood, I won't.",
            "Okay, I'll leave it.",
            "All right, I'll leave it.",
        ),
    ),
    Group(
        16,
        """
how do i DO / how can i DO myself / how does one DO / how do people DO /
how often should one DO / how often should i DO / when should i DO / when is it best to DO /
why would i DO / is it hard to DO / why would anyone DO / is it a good idea to DO /
is it okay to DO / is it safe to DO / is it legal to DO / what happens if i DO /
what happens when people DO / what would happen if someone DID / how long does it take to DO /
what's the best time to DO / what's the best way to DO / who would DO / do people often DO /
should one DO / would it help to DO / does it make sense to DO / is it rude to DO /
what does it take to DO / did anyone ever DO / have you ever tried to DO / would it hurt to DO /
is DOING difficult / what's DOING like / is DOING any good / does DOING cost much /
how does DOING work / is there a trick to DO / where did people learn to DO /
how early can one DO / how (do|can|could|should|would) (i|we|someone|anybody) DO /
(is it|would it be|isn't it) (difficult|easy|expensive|dangerous|fun|common|normal|wise) to DO /
(when|where|why) (do|should|would) (people|we|you|others) [usually|normally] DO /
what (happens|would happen|changes) (if|when) (you|we|somebody|they) DO / is it worth it to DO /
do (you|we|others|many people|the neighbors) (usually|sometimes|ever|always|really|have to) DO /
what does it (mean|cost) to DO / how long does it (usually|normally) take to DO /
how (much does it cost|hard is it|expensive is it|many people know how) to DO /
i (wonder|was wondering|wish i knew|forgot) how (to|people) DO / who can DO / who else can DO /
(can|could|would) you (teach|show|explain to) me how to DO / (tell me|explain) how to DO /
(is|was) DOING (hard|fun|expensive|legal|safe|boring|useful|common) /
what do you think (about|of) DOING / what's (wrong with|the point of|the use of) DOING
""",
        (
            "I'm not sure, sorry.",
            "I don't know, sorry.",
            "Sorry, I don't know that.",
            "I can't say, sorry.",
            "That I don't know, sorry.",
        ),
        of_user=True,
        question=True,
    ),
    Group(
        6,
        """
why did you DO / who told you to DO / what made you DO / did i ask you to DO /
why do you always DO / since when do you DO / why are you DOING / how come you DID /
i can't believe you DID / why on earth did you DO / you weren't supposed to DO /
it was wrong of you to DO / why (would|must|do|did) you (always|just|have to|even|ever) DO /
how (could|dare|can) you DO / i didn't say you could DO / how come you (always DO|just DID) /
you (weren't|were not) (allowed|meant|asked|told) to DO / why were you DOING /
(please explain|tell me|i wonder) why you DID / what were you thinking when you DID /
it was (bad|rude|silly|a mistake) of you to DO / i (hate|don't like) (it|that) you DID
""",
        (
            "Sorry about that.",
            "I'm sorry about that.",
            "Sorry, my mistake.",
            "Sorry, I must have misunderstood.",
        ),
        question=True,
    ),
    Group(
        18,
        """
i'll DO myself / i will DO myself / i can DO on my own / let me DO myself /
i'd rather DO myself / my sister will DO / my wife is going to DO /
my neighbour always wants to DO / somebody has to DO / my boss asked me to DO /
my mother told me to DO / my kids like to DO / some people never DO / i used to DO every day /
i was about to DO myself / i forgot to DO last week / i tried to DO once /
i had to DO this morning / we often DO together / my father likes to DO / i love to DO /
i hate to DO / it took me an hour to DO / it was fun to DO / it's boring to DO /
she always forgets to DO / i already DID / i DID already / i just DID / i DID myself /
we DID yesterday / i have already DID / my brother DID an hour ago / my husband DID already /
somebody DID for me / yesterday i DID / last night we DID / when i was young we DID /
i hate DOING / i'm done DOING / i'm tired of DOING / i enjoy DOING / i like DOING /
i love DOING / he is DOING right now / she was DOING when i left / i spent the morning DOING /
we're DOING already / i remember DOING with my dad / DOING is so boring /
DOING was a lot of work / i'm good at DOING /
(my|our) (brother|friend|neighbor|son|mom|dad|roommate|uncle|boss) (will|can|must|might|is going
to|has to|wants to|likes to|forgot to|tried to|promised to|offered to|refused to) DO /
(my|our) (brother|friend|neighbor|son|mom|dad|roommate|boss) (told me to|wants me to|let me) DO /
i (could|might|should|have to|plan to|am going to|had better) DO (myself|on my own|by myself) /
we (tried|had|managed|failed|promised|wanted) to DO (once|yesterday|this morning|before) /
(he|she|they|someone|my wife|my mom|the neighbors|my sister) (just|already|finally|also) DID /
(i|we) (just|already|finally|once|also|actually) DID [yesterday|today|an hour ago|last night] /
(he|she|my sister|my dad|someone) is (already|always|just|probably) DOING /
(i'm|i am|we are|they're) (already|just|always|still) DOING [myself|right now] /
i (was|finished|stopped|started|considered|kept|avoided) DOING [yesterday|all day|once] /
DOING (is|was) (fun|easy|hard|a pain|my job|my hobby) / i was going to DO [but didn't|myself] /
(he|mom|dad) (never|often|rarely) (forgets to|has to|gets to) DO
""",
        (
            "Okay.",
            "All right.",
            "I see.",
            "Okay, good to know.",
            "Good to know.",
            "Understood.",
        ),
        of_user=True,
    ),
    Group(
        4,
        """
thanks for DOING / thank you for DOING / it was nice of you to DO / i'm glad you DID /
good that you DID / thanks you DID / great that you could DO / thank you so much for DOING /
(thanks|thank you) (again|very much|a lot) for DOING [so quickly|yesterday|earlier] /
(i'm|i am) (happy|grateful|thankful) [that] you DID / i (like|love) (it|that) you DID /
(it was|that was) (kind|good|smart|great) of you to DO / i appreciate you DOING
""",
        (
            "You're welcome.",
            "My pleasure.",
            "Glad to help.",
            "No problem.",
            "Sure, any time.",
        ),
    ),
    Group(
        45,
        """
why don't you DO / be sure to DO / make sure you DO / make sure to DO / i don't care just DO /
i told you to DO / i asked you to DO / no i said DO / don't wait just DO / don't ask just DO /
if you don't mind DO / no problem just DO / i changed my mind DO / you may DO now / yes DO /
okay you can DO now / not sure but DO / i don't know how so DO / i can't so please DO /
no wait DO / do me a favor don't ask and DO / it's dark in here please DO / well then DO /
i need you to DO / couldn't you DO / wouldn't you DO for me / can't you DO /
i haven't had time so DO / i want you to DO / you should DO / you have to DO / it's time to DO /
how about you DO / what if you DO now / i'd like you to DO / i forgot so DO / i'm busy so DO /
it's no trouble DO / never mind what i said DO / i was hoping you could DO /
would it be possible to DO / is it possible to DO / don't hesitate to DO / don't be shy DO /
hurry up and DO / (don't forget|do not forget|don't you forget|don't fail|remember) to DO /
(don't wait|don't argue|don't worry|don't talk|don't think about it|don't stop) [just] DO /
i (already|just|clearly) (told|asked|want|need|expect) you to DO [already|please] /
(like|as) i said (before|already|) DO / i (said|meant|repeat|did say) DO / why not DO /
you (must|could|need to|are allowed to|are supposed to|were told to|were asked to) DO [now] /
(won't|can't|couldn't|wouldn't) you (just|please) DO / why (don't we|won't you|can't you just) DO /
(i don't have time|i'm not at home|i can't find it|i won't be home|i don't want to) so [please] DO /
(if it's no trouble|if it isn't too much|if you're not busy|when you have time|for once) DO /
it's (important|necessary|not too late|not too early) to DO / would you mind DOING /
(nobody else can|it's not working|i never learned how|no one is home) so DO / how about DOING /
(go ahead and|alright|sure|now|good|fine|i agree) DO / could you be so kind as to DO /
(i would like|i would love|i was hoping for) you to DO /
no (not that|that's not it|not the other one|i'm sure) DO / (my wife|he|she) wants you to DO
""",
    ),
)
"""By how they are answered: told not to, asked about it, blamed for it, told of it, thanked for it,
and asked for all the same."""

_VERBS = """
add adjust alert append begin book brew bring buy buzz calculate call cancel change check clean
clear close compare compute confirm connect convert count create cross define delete dial dim
discard drop erase exchange express feed figure file find flip get give include jot list lock
log look mark message navigate note open order pause pay phone pick ping place plan play preheat
print put rate read record register remind remove rename repeat report request reserve ring roll
run save schedule score scratch search see send set share ship show shut skip solve spell start
stick strike sum summarize switch take tell text throw tick time toss track transfer translate
turn unlock update vacuum wake warm watch water wire work write
"""
VERBS = frozenset(_VERBS.split())
"""What an order in a frame begins with: some others mean something else behind "don't"."""

_PAST = {
    "begin": "began", "bring": "brought", "buy": "bought", "feed": "fed", "find": "found",
    "get": "got", "give": "gave", "pay": "paid", "put": "put", "read": "read", "ring": "rang",
    "run": "ran", "see": "saw", "send": "sent", "set": "set", "shut": "shut", "stick": "stuck",
    "strike": "struck", "take": "took", "tell": "told", "throw": "threw", "wake": "woke",
    "write": "wrote",
}  # fmt: skip
_DOUBLED = frozenset((
    "begin", "dim", "drop", "flip", "get", "jot", "log", "plan", "put", "run", "set", "ship",
    "shut", "skip", "transfer",
))  # fmt: skip
_SELF = {"me", "my", "i", "us", "our"}


def order(pieces: list[Piece]) -> bool:
    """Whether pieces are an order that a frame can take."""
    if not pieces or pieces[0].slot:
        return False
    words = _words(pieces)
    return len(words) > 1 and words[0] in VERBS and "?" not in pieces[-1].text


def framed(rng: Random, pieces: list[Piece], split: str) -> tuple[list[Piece], str | None, bool]:
    """An order in a frame.

    Args:
        rng: Source of chance.
        pieces: An `order`, its slots filled.
        split: Whose frames: "train" or "heldout".

    Returns:
        What the user says, its frame in the slot `FRAME`; what the agent answers, None where the
        order stands; whether it is a question.
    """
    toward_user = not _SELF.isdisjoint(_words(pieces))
    fitting = [g for g in GROUPS if not (g.of_user and toward_user)]
    group = rng.choices(fitting, [g.weight for g in fitting])[0]
    frames = group.of(split)
    # A frame with many readings comes up more often.
    frame = rng.choices(frames, [1 + frame.count("|") for frame in frames])[0]
    before, form, after = _parted(fill(frame, rng, {}))
    verb, _, rest = pieces[0].text.lstrip().partition(" ")
    inside = [Piece(f"{formed(verb, form)} {rest}"), *pieces[1:]]
    said = [Piece(before, FRAME), Piece(" "), *inside, Piece(" "), Piece(after, FRAME)]
    answer = rng.choice(group.answers) if group.answers else None
    return [p for p in said if p.text], answer, group.question


def _words(pieces: list[Piece]) -> list[str]:
    return "".join(piece.text for piece in pieces).lower().split()


def _parted(frame: str) -> tuple[str, str, str]:
    for form in ("DOING", "DID", "DO"):
        if form in frame.split():
            before, _, after = f" {frame} ".partition(f" {form} ")
            return before.strip(), form, after.strip()
    raise ValueError(f"frame must hold DO, DOING or DID, got {frame!r}")


def formed(verb: str, form: str) -> str:
    """A verb as it stands for "DO", "DOING" or "DID"."""
    low = verb.lower()
    if form == "DO":
        return verb
    if form == "DOING":
        if low.endswith("e") and not low.endswith("ee"):
            return f"{low[:-1]}ing"
        return f"{low}{low[-1]}ing" if low in _DOUBLED else f"{low}ing"
    if low in _PAST:
        return _PAST[low]
    if low.endswith("e"):
        return f"{low}d"
    if low.endswith("y") and low[-2] not in "aeiou":
        return f"{low[:-1]}ied"
    return f"{low}{low[-1]}ed" if low in _DOUBLED else f"{low}ed"
