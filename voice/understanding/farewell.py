"""Whether the user means to end the conversation: words of goodbye, and the question before it.

An unsure model ends calls over a complaint or a request for somebody else, so its wish to end the
call counts only after words like these, or a "yes" to the question. English only.
"""

from __future__ import annotations

import re

from voice.understanding.english import agrees, bare, plain, saying_yes

SHALL_I_END = "Would you like to end the conversation?"

_GOODBYE = re.compile(
    r"\b(?:good ?bye|bye+|good ?night|nighty? night|farewell|cheerio|ta ?ra|ta ta|hooroo|adios"
    r"|au revoir|ciao|arrivederci|hasta luego|cya|laters|so long$|toodle\w*|ttyl|gtg|over and out"
    r"|(?<!a )good day(?: to you)?$|take care(?! of)"
    r"|(?:see|catch) (?:you|ya)(?: (?:later|soon|tomorrow|around|then|in a (?:bit|sec|while)))?$"
    r"|see (?:you|ya) (?:later|soon|tomorrow)"
    r"|(?:talk|speak) to (?:you|ya) (?:later|soon|tomorrow)"
    r"|have a (?:nice|good|great|lovely) (?:day|one|evening|afternoon|weekend|night))\b"
)
_END_IT = re.compile(
    r"\b(?:hang up|(?:end|stop|close|finish|quit|disconnect|terminate|leave)"
    r" (?:the|this|our) (?:phone )?(?:call|conversation|chat|session))\b"
)
_NOT_THAT = re.compile(r"\b(?:don't|do not|not|never|didn't|did|won't|why)\b.*\b(?:hang|end|stop)")
_DONE = re.compile(
    r"(?:that's|that is|that'll be|that will be) (?:all|it|everything)|nothing (?:else|more)"
    r"|(?:(?:i'm|i am|we're|we are|all) )*(?:done|finished|set|good)|see (?:you|ya)|later"
    r"|i (?:have to|gotta|must|need to) go"
)
_ENDING = saying_yes("end it")
_BESIDE = (
    r"for (?:now|today|your help)|i (?:needed|wanted|think)|awesome|brilliant|cool|excellent"
    r"|fantastic|fine|lovely|nice|perfect|super|wonderful"
)


def says_goodbye(text: str) -> bool:
    """Whether the words say goodbye, ask for the end, or say that nothing more is wanted.

    >>> says_goodbye("that's all, thank you"), says_goodbye("that's all you ever say")
    (True, False)
    """
    return takes_leave(text) or _DONE.fullmatch(bare(text, _BESIDE)) is not None


def takes_leave(text: str) -> bool:
    """Whether the words say goodbye or ask for the end; "that's all" alone does not.

    >>> takes_leave("that's all, bye"), takes_leave("that's all")
    (True, False)
    """
    words = plain(text)
    if _GOODBYE.search(words):
        return True
    return _END_IT.search(words) is not None and _NOT_THAT.search(words) is None


def agrees_to_end(text: str) -> bool:
    """Whether the words are a "yes" to `SHALL_I_END`, or say goodbye."""
    return says_goodbye(text) or agrees(text, _ENDING)
