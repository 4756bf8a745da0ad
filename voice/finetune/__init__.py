"""Teaching the ears and the mind; nothing here is imported while the agent runs.

Whisper was trained on 30 s, silence included, and learns here that an encoder context as long as
the utterance is enough: `data` prepares clips with what the packaged weights answer at 30 s,
`train` teaches a copy to answer the same from the utterance alone, in noise, in rooms and over the
telephone, `weights` reads and writes CTranslate2's files, `evaluate` counts word errors.

`lessons` makes lessons for the language model of conversations that people wrote. Each is a
command.
"""
