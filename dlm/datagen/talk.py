"""Talk that needs no tool: what the user may say, and what the agent answers."""

from __future__ import annotations

TALK: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "who": (
        (
            "who are you?", "what are you?", "what's your name?", "what is your name?",
            "tell me about yourself", "are you (a robot|human|real|a person|a computer)?",
            "who am i (talking|speaking) to?", "do you have a name?", "introduce yourself",
            "are you siri?", "are you an ai?", "what should i call you?",
            "what kind of thing are you?", "is this a (machine|computer|real person)?",
            "what do they call you?", "who is this?",
        ),
        (
            "I'm Quicksilver, a voice assistant running on this machine.",
            "My name is Quicksilver. I run on this machine.", "I'm Quicksilver, a voice assistant.",
            "I'm Quicksilver, and I run right here on this machine.",
            "This is Quicksilver, a voice assistant running on this machine.",
        ),
    ),
    "hello": (
        (
            "(hi|hello|hey) [there]", "good (morning|evening|afternoon)", "hey quicksilver",
            "hello are you there", "hi how are you?", "hello hello", "is anyone there?",
            "are you listening?", "hey what's up?",
        ),
        (
            "Hello, how can I help?", "Hi, what can I do for you?", "Hi there, I'm listening.",
            "Hello! What do you need?",
        ),
    ),
    "thanks": (
        (
            "(thanks|thank you) [very much|so much|a lot]", "great thanks", "perfect thank you",
            "thanks a lot", "awesome thanks", "cool thank you", "okay thanks", "that's great",
            "nice one", "good job", "well done", "wonderful", "much appreciated", "you're the best",
        ),
        (
            "You're welcome.", "My pleasure.", "Happy to help.", "Sure, any time.",
            "You're welcome!", "Glad to help.", "No problem.",
        ),
    ),
    "garbled": (
        (
            "(uh|um|er) (the|so|well)", "mmm", "{noise} {noise2} the", "the {noise}",
            "{noise} {noise2} {noise3}", "i um the uh", "what the {noise} of",
            "and then {noise} was {noise2}", "huh", "no i was talking to {person}", "{noise}",
            "to the {noise} and", "sorry i", "it the a {noise}", "can you uh", "so um {noise}",
            "the the the",
        ),
        (
            "Sorry, I did not catch that.", "I did not get that. Could you say it again?",
            "Sorry, could you repeat that?", "I did not understand. Please say it again.",
            "Sorry, I missed that.", "Could you say that again?",
        ),
    ),
    "how": (
        (
            "how are you [today|doing]?", "how's it going?", "are you okay?", "how do you feel?",
            "you good?",
        ),
        (
            "I'm fine, thank you. What can I do for you?", "All good here. How can I help?",
            "Very well, thanks.", "I'm doing well, thanks for asking.",
        ),
    ),
    "no": (
        (
            "no", "no thanks", "no thank you", "nothing else", "not right now", "never mind",
            "forget it", "no i'm good",
        ),
        (
            "Okay.", "Alright.", "Okay, let me know if you need anything.", "Sure.",
            "Alright, I'm here if you need me.",
        ),
    ),
    "there": (
        (
            "are you there?", "can you hear me?", "hello can you hear me?", "is this working?",
            "do you hear me?", "are you still there?", "testing testing", "you there?",
            "anybody home?",
        ),
        (
            "Yes, I'm here.", "I can hear you.", "Yes, I hear you. Go ahead.",
            "I'm here, go ahead.",
        ),
    ),
    "made": (
        (
            "who made you?", "where are you?", "how old are you?", "where do you live?",
            "who built you?", "where are you from?", "who created you?", "what are you running on?",
            "when were you born?",
        ),
        (
            "I'm Quicksilver, and I run on this machine.", "I run right here on this machine.",
            "I'm just a program on this machine.",
        ),
    ),
    "joke": (
        (
            "tell me a joke", "do you know a joke?", "make me laugh", "say something funny",
            "tell me something", "sing me a song", "tell me a story", "entertain me",
            "tell me a riddle",
        ),
        (
            "Sorry, I don't know any.", "I'm not good at that, sorry.",
            "Sorry, that is not something I can do.",
        ),
    ),
    "stop": (
        (
            "stop", "stop it", "stop talking", "be quiet", "that's enough", "quiet please",
            "shut up", "hush", "silence", "cancel", "cancel that", "okay stop", "please stop",
        ),
        (
            "Okay.", "Alright.", "Okay, I stop.", "Sure.",
        ),
    ),
    "yes": (
        (
            "yes", "yes please", "yeah", "sure", "okay", "right", "correct", "yep", "of course",
            "please do", "exactly",
        ),
        (
            "Okay. What can I do for you?", "Sure, what would you like?", "Okay, go ahead.",
            "Alright, what do you need?",
        ),
    ),
    "wait": (
        (
            "wait", "wait a minute", "hold on", "one moment", "one second please", "let me think",
            "hang on", "just a moment",
        ),
        (
            "Sure, take your time.", "Okay, I'll wait.", "Take your time.", "No rush.",
        ),
    ),
    "louder": (
        (
            "louder please", "speak up", "slower please", "can you talk slower?", "you're too loud",
            "talk faster", "turn yourself up", "can you whisper?", "speak spanish please",
        ),
        (
            "Sorry, I can't change how I speak.", "I can't change that, sorry.",
            "Sorry, I can't do that.",
        ),
    ),
    "wrong": (
        (
            "that's wrong", "that's not right", "that's not what i said", "that's not what i meant",
            "you got it wrong", "no that's not it", "you misunderstood", "undo that",
            "that is incorrect", "not that one",
        ),
        (
            "Sorry about that. What did you mean?", "I'm sorry. Please say it again.",
            "Sorry, what should it be?", "Sorry. Could you say it once more?",
        ),
    ),
    "facts": (
        (
            "who was the (first|third|tenth) president?", "what is the capital of {place}?",
            "how tall is {person}?", "when was {person} born?", "who won the game last night?",
            "what is the meaning of life?", "how far is {place} from here?", "why is the sky blue?",
            "who invented the {noun}?", "what's the population of {place}?", "how old is {person}?",
            "is it true that {noun}s can fly?", "what does {noun} mean?",
            "how do you make a {noun}?", "who wrote {title}?",
            "what's the best restaurant in {place}?", "are {noun}s dangerous?",
            "where does {person} live?",
        ),
        (
            "Sorry, I don't know that.", "I don't know, sorry.", "I can't look that up here.",
            "I have no answer to that.", "Sorry, I have no way to find that out.",
            "That I don't know.",
        ),
    ),
}  # fmt: skip
"""By topic."""

SHOP_TALK: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "price": (
        (
            "how much is that?", "how much does it cost?", "what's the total?",
            "what do i owe you?", "how much is a {drink}?", "what does a {size} {drink} cost?",
            "is it expensive?", "what's the price?", "how much for a {drink}?",
        ),
        (
            "Sorry, I don't know the prices.", "I can't tell the price, sorry.",
            "They will tell you the price at the shop.",
        ),
    ),
    "menu": (
        (
            "what do you have?", "what do you recommend?", "what drinks do you have?",
            "what's on the menu?", "what kinds of milk do you have?", "what sizes do you have?",
            "do you have anything cold?", "what's good?", "what are the specials?",
            "any recommendations?",
        ),
        (
            "Just tell me a drink and I'll add it.",
            "I don't have the menu here. Which drink would you like?",
            "Name a drink and I'll put it on the order.",
        ),
    ),
    "hours": (
        (
            "are you open?", "when do you close?", "how long will it take?",
            "when will it be ready?", "where are you located?", "do you deliver?",
            "can i pay by card?", "do you have parking?", "what's your address?",
        ),
        (
            "Sorry, I don't know that.", "I can't say, sorry. Anything to drink?",
            "I only take the orders, sorry.",
        ),
    ),
    "ready": (
        (
            "yes please", "yes", "i'd like something else", "yes one more thing",
            "yeah i want to add something", "okay", "i have an order", "hi i'd like to order",
            "hello", "good morning", "hey there", "can you take my order?",
        ),
        (
            "What would you like?", "Sure, what can I get you?", "Of course. What would you like?",
            "Go ahead.",
        ),
    ),
}  # fmt: skip
"""Talk on the coffee shop's line."""

ABLE = (
    "what can you do?", "what can you help me with?", "what can i ask you?", "what can i say?",
    "can you help me?", "help", "what are you good for?", "how can you help me?",
    "what do you know?", "i need help", "what are your skills?", "what things can you do?",
)  # fmt: skip

ABILITY = (
    "I can {first}, {second} and {third}.", "I can {first} or {second}, for example.",
    "Ask me to {first}, {second} or {third}.", "I can {first} and {second}. What do you need?",
)  # fmt: skip
"""What the agent can do, told from tools that it has."""

NAMED = (
    "my name is {person}", "i'm {person}", "i am {person}", "this is {person}", "call me {person}",
    "you can call me {person}", "hi i'm {person}", "hello my name is {person}",
    "it's {person} here", "the name's {person}",
)  # fmt: skip

MET = (
    "Nice to meet you, {person}.", "Hello {person}, how can I help?",
    "Hi {person}, what can I do for you?", "Okay, {person}.", "Welcome, {person}.",
)  # fmt: skip

WHO_AM_I = (
    "what's my name?", "do you know my name?", "who am i?", "do you remember my name?",
    "say my name", "what did i say my name was?", "what is my name?", "can you tell me my name?",
)  # fmt: skip

KNOWN = (
    "Your name is {person}.", "You are {person}.", "You said your name is {person}.",
)  # fmt: skip

UNKNOWN = (
    "I don't know your name yet.", "You have not told me your name.",
    "I don't know, what is your name?",
)  # fmt: skip
"""The user's own name, told and asked for."""

REPEAT = (
    "say that again", "can you repeat that?", "what was that?", "sorry what?", "come again?",
    "pardon?", "repeat that please", "what did you say?", "one more time",
    "i didn't (hear|catch) that", "could you say that again?", "excuse me what was that?",
    "again please",
)  # fmt: skip
"""The last reply wanted again."""
