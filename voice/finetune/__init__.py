"""Trains the recogniser and the language model; nothing here is imported while the agent runs.

Whisper was trained on 30 s, silence included, and learns here that an encoder context as long as
the utterance is enough. `data` prepares clips with the packaged weights' answers at 30 s, `train`
teaches a copy to answer the same from the utterance alone, in noise, in rooms and over the
telephone, `weights` reads and writes CTranslate2's files, and `evaluate` counts word errors.

`lessons` turns written conversations into training data for the language model. Each of these is a
command.
"""
