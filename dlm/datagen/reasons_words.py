"""The words that reasoning is made of (`dlm.datagen.reasons`)."""

from __future__ import annotations

GIST_WORDS = 8
"""Of what the user said, or of a tool's description, at most."""

TOLD_WORDS = 12
"""Of a result, at most."""

LEADS = frozenset((
    "um", "uh", "er", "right", "well", "okay", "ok", "so", "hey", "hi", "hello", "please", "now",
    "oh", "quicksilver", "hey quicksilver", "can you", "could you", "would you", "will you",
    "can we", "would you please", "can you please", "could you please", "you should", "i want to",
    "i need to", "i'd like to", "i would like", "i want you", "let's", "just", "then", "and",
    "go ahead and", "i want you to", "i um", "excuse me", "actually",
))  # fmt: skip
"""What a request may begin with that says nothing of what is wanted."""

HEARD = (
    "the user says {said}.", "the user says {said}.", "the user wants: {said}.",
    "they say {said}.", "what is said: {said}.",
)  # fmt: skip

FITS = (
    "a tool fits: {does}, {name}", "a tool fits: {does}, {name}",
    "one tool does that: {does}, {name}", "there is a tool: {does}, {name}",
    "{does}: that is {name}",
)  # fmt: skip
"""The description before the name: it is what the choice is made by."""

SEVERAL = (
    "{count} calls, one after the other.", "that takes {count} calls.", "{count} things to do.",
)  # fmt: skip

COUNTS = {2: "two", 3: "three", 4: "four", 5: "five"}

ORDER = ("first, ", "then, ", "last, ")

UNSAID = ("{keys} is not said.", "nothing is said of {keys}.", "no {keys}.")

NOTHING_MORE = ("it needs nothing more.", "there is nothing to fill in.", "it takes no values.")

LACKS = ("{key} is missing.", "the {key} is missing.", "{key} is not said.")

MISSING = ("{key} is missing.", "{key} is not said.")

ASK = ("ask for the {key}.", "ask for {key}.", "ask the user for the {key}.")

ASK_IT = "ask for it."

NO_TOOL = (
    "no tool here does that.", "none of the tools does that.", "there is no tool for that.",
)  # fmt: skip

DECLINE = ("say that it can not be done.", "say so and call nothing.", "decline that.")

NEEDLESS = ("that needs no tool.", "no tool for that now.", "that is just talk.")

RESULT = (
    "the result says {told}.", "the result says {told}.", "the tool says {told}.",
    "from the result: {told}.",
)  # fmt: skip

RESULTS = ("one result says {told}.", "a result says {told}.")

FAILED = ("the result is an error: {told}.", "it failed: {told}.")

SILENT = ("the result is in.", "the tool is done.")

TELL = ("tell that.", "tell the user that.", "say just that.", "that is all to tell.")

AGAIN = "say the last reply again."

ANSWER = "answer in a few words."

TALK = (
    (r"say (it|that)? ?(again|once more)|repeat|catch that|get that|missed that|not understand",
     "it was not clear, ask to hear it again."),
    (r"^I can |^Ask me ", "name what the tools can do."),
    (r"^Sorry|^I don't|^I can't|^That I don't|^I have no", "there is no answer to that, say so."),
    (r"Quicksilver", "say who i am."),
    (r"welcome|pleasure|[Hh]appy to help|Glad to help|No problem", "answer the thanks."),
    (r"\?$", "ask what is wanted."),
)  # fmt: skip
"""What is thought before a reply that begins or holds a form; the first that does."""
