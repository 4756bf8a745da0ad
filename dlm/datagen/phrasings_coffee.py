"""How customers of the coffee shop ask for things; notation as in `phrasings`."""

from __future__ import annotations

SAY: dict[str, tuple[str, ...]] = {
    "order_drink": (
        "a cup of {drink}", "a cup of {drink} with {milk} please", "a {dose} {drink}",
        "can i get a {dose} {drink} with {milk}?", "one {drink} with {sweetener}",
        "i'd like a {dose} {size} {drink}", "{drink} with {milk} and {sweetener} please",
        "could i get {quantity} {drink} to go?", "make one {drink} with {milk} and {extras}",
        "bring me a {drink} with {milk} and {sweetener}", "{drink} with {sweetener}",
        "i'll get a {size} {drink} {roast}", "a {size} {drink} {roast} with {milk}",
        "hi can i have a {size} {drink} please", "good morning a {size} {drink} with {milk} please",
        "do you do {drink}? one please", "i think i'll have a {drink} with {milk}",
        "give me {quantity} {drink} and a {size2} {drink2} with {milk2}",
        "let me start with a {size} {drink}", "may i have a {drink} with {shots} and {sweetener}?",
        "would it be possible to get a {drink} with {milk}?", "i'm looking for a {size} {drink}",
        "{quantity} {size} {roast} {drink} with {milk} and {sweetener}",
        "{size} {drink} {milk} {sweetener}", "want a {drink} {size} with {shots}",
        "(can|could|may) i (have|get) a {size} {drink}?", "i'd like a {size} {drink} with {milk}",
        "i (want|would like) a {drink} with {milk} and {sweetener}", "a {size} {drink} please",
        "one {size} {drink}", "a {drink} please", "{drink}", "{size} {drink}",
        "i'll (have|take) a {size} {roast} {drink}", "i'll have the {drink}",
        "(can|could) i (have|get) a {size} {roast} {drink} with {milk} and {sweetener}?",
        "!(make|give) me a {drink} with {milk}", "!get me a {size} {drink} with {shots}",
        "!give me a {size} {roast} {drink} with {milk}",
        "{size} {drink} with {milk} and {sweetener}", "{size} {roast} {drink} with {sweetener}",
        "(let me get|let me have) a {size} {drink} with {shots} and {milk}",
        "i need a {size} {drink} with {sweetener}",
        "could you make a {drink} with {shots} {milk} and {sweetener}?",
        "a {size} {dose} {drink} with {milk}", "i'd like to order a {size} {drink}",
        "i'd like {quantity} {size} {drink}", "{quantity} {drink} please",
        "{quantity} {size} {drink} with {milk}", "can we get {quantity} {size} {roast} {drink}?",
        "we'd like {quantity} {drink} with {sweetener}", "a {drink} with {extras}",
        "a {size} {drink} with {milk} and {extras}",
        "i want a {size} {drink} with {extras} [please]",
        "can i do a {size} {drink} {milk} {sweetener}?", "{drink} {size} {milk} please",
        "{roast} {drink} with {milk}",
        "!brew me a {size} {drink} with {milk} {shots} and {sweetener}",
        "how about a {size} {drink} with {milk}?", "i would love a {drink} with {shots}",
        "please (prepare|make) a {size} {roast} {drink}",
        "do you have {drink}? i'll take a {size} one",
        "my order is a {size} {drink} with {sweetener}",
        "a {drink} [in] {size} with {milk} and {sweetener} {extras}",
        "!make it a {size} {drink} with {milk}",
        "could i please have {milk} and {sweetener} in a {size} {drink}?",
        "just a {drink} with {sweetener}", "a {size} {drink} and a {size2} {drink2}",
        "one {size} {drink} with {milk} and one {drink2} with {milk2}",
        "can i get a {drink} and {quantity2} {size2} {drink2}?",
        "i'd like a {size} {drink} and a {drink2} with {sweetener2}",
        "{quantity} {size} {drink} and a {drink2} please",
        "for me a {size} {roast} {drink} and for my friend a {drink2} with {milk2}",
    ),
    "remove_drink": (
        "!(remove|cancel|drop) the {drink}", "!take (off|away|out) the {drink}",
        "!take the {drink} off [the order]",
        "i don't want the {drink} (anymore|any more|after all)", "no {drink} please",
        "never mind the {drink}", "actually no {drink}", "!leave out the {drink}",
        "!forget the {drink}", "can you take the {drink} off?",
        "i changed my mind about the {drink}", "!scratch the {drink}", "skip the {drink}",
        "!delete the {drink} from my order", "without the {drink} please", "the {drink} can go",
        "i'd like to cancel the {drink}", "we won't need the {drink}",
    ),
    "read_order": (
        "what (do i have|is in my order) [so far]?", "!read (that|it|the order) back [to me]",
        "can you repeat (my|the) order?", "what's my order?", "what did i order?",
        "!tell me what i have so far", "what have you got [for me] [so far]?",
        "!go over (my|the) order [once more]", "is everything in there?",
        "did you get (that|everything)?", "let me hear the order", "!summarize my order",
        "what's on the order now?", "!double check my order", "so what do we have?",
    ),
    "confirm_order": (
        "yes that's (correct|right)", "correct", "go ahead [and place the order]",
        "submit the order", "send the order", "sounds good", "perfect that's all", "no",
        "no thanks", "nothing else", "no that's it", "i'm ready to order that", "yes confirm",
        "order for {name}", "put it under {name}", "put it under the name {name}",
        "this is {name} that's all", "i'm {name} and that's everything", "{name} please confirm",
        "that's (all|it|everything)", "(yes|okay) (that's right|place it|place the order)",
        "!confirm the order", "!place the order", "that's (all|it) the name is {name}",
        "that's everything for {name}", "it's for {name}", "the name is {name} that's all",
        "!place the order (for|under) {name}", "!confirm it (for|under) {name}",
        "no that's all my name is {name}", "that'll be all (for|under) {name}",
        "you can put it under {name}", "nothing else it's {name}",
        "(no thanks|no thank you) that's (all|it)", "done name is {name}", "i'm done ordering",
        "looks good [go ahead]", "sounds right (order it|send it)", "!finish the order name {name}",
        "that's my order call it {name}", "we're good {name} is the name",
    ),
    "transfer_call": (
        "(can|could|may) i (talk|speak) to {to}?", "i want to (talk|speak) (to|with) {to}",
        "!(connect|transfer) me to {to}", "!put me through to {to}", "let me (talk|speak) to {to}",
        "!get me {to}", "i need {to}", "i'd rather speak with {to}", "is there {to} i can talk to?",
        "!give me {to}", "!hand me over to {to}", "{to} please", "!transfer my call",
        "!pass me on to {to}", "this isn't working i want {to}",
        "i have a complaint can i speak with {to}?",
    ),
}  # fmt: skip

MORE: dict[str, tuple[str, ...]] = {
    "order_drink": (
        "and a {size} {drink}", "and a {drink}", "also a {drink} with {milk}",
        "and {quantity} {drink}", "and a {size} {drink} with {sweetener}",
        "plus a {size} {roast} {drink}", "another {drink}", "and one more {drink} {size}",
        "and a {drink} with {shots}", "oh and a {drink} with {extras}",
        "(can|could) i also (get|have) a {size} {drink} with {milk}?", "yes a {drink} with {milk}",
        "yes a {size} {drink} please", "and for my friend a {size} {drink}",
        "i'll also take a {drink}", "yeah add a {drink}",
        "and then a {size} {drink} with {milk} and {sweetener}",
    ),
    "remove_drink": (
        "and the {drink}", "the {drink} too", "also the {drink}",
    ),
}  # fmt: skip

FIX: dict[str, tuple[str, ...]] = {
    "order_drink": (
        "{no} make (it|that) a {size}", "{no} with {milk}", "{no} make it {size}", "{no} {size}",
        "actually make that {size}", "can i change that to {milk}?", "{no} i meant a {drink}",
        "{no} i said {milk}", "{no} a {drink}", "make that {quantity}", "can you make it {roast}?",
        "change it to a {size} please", "with {sweetener} actually", "actually add {sweetener}",
        "{no} {size} and {milk}", "add {shots} to that", "can i have {extras} on that?",
        "{no} use {milk} instead", "wait make it with {milk} and {sweetener}",
    ),
}  # fmt: skip

BARE: dict[str, dict[str, tuple[str, ...]]] = {
    "order_drink": {
        "drink": (
            "i'd like to order something", "i want to place an order",
            "can i order [a coffee|a drink]?", "hi i'd like to order", "something {size} please",
            "i want something with {milk}", "can i get something to drink?",
            "are you open for orders?", "i need something {size}",
        ),
    },
    "remove_drink": {
        "drink": (
            "!remove something", "!take one off", "!cancel one of the drinks", "i want one less",
        ),
    },
}  # fmt: skip

SWAP = (
    "can i have a {drink} instead?", "actually a {drink} instead", "make it a {drink} instead",
    "change (it|that) to a {drink}", "i'd rather have a {drink}", "no a {size} {drink} instead",
    "sorry can you make that a {size} {drink}?", "swap it for a {drink}",
    "i changed my mind a {drink} please", "let me have a {drink} with {milk} instead",
    "could you change that to a {drink}?", "no make that a {drink}",
)  # fmt: skip
"""Another drink in place of the last one."""

WITHOUT = (
    "no {what} please", "without {what} please", "hold the {what}", "leave out the {what}",
    "actually no {what}", "can you make that without {what}?", "i don't want the {what}",
    "skip the {what}", "without the {what}", "please no {what} on that", "take the {what} off",
    "minus the {what}",
)  # fmt: skip
"""Something left out of the last drink; ``what`` is filled before."""

AGAIN = (
    "one more of those", "the same again", "another one of those please", "the same for me",
    "same again please", "can i get another one?", "i'll take another one", "one more please",
    "{quantity} of those please", "and another one", "the same for my friend",
    "make it {quantity} of those", "{quantity} more of those",
)  # fmt: skip
"""The last drink once more."""

CLEAR = (
    "cancel the [whole] order", "cancel everything", "i want to start over", "let's start over",
    "delete everything", "remove everything", "cancel my order", "scrap the order",
    "take everything off", "start over please",
)  # fmt: skip
"""The whole order taken back."""
