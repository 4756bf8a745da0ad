"""Fine-tunes Whisper so that an encoder context as long as the utterance is enough.

Whisper was trained on 30 s, silence included. `data` prepares clips with what the packaged weights
answer at 30 s, `train` teaches a copy to answer the same from the utterance alone, in noise, in
rooms and over the telephone, `weights` reads and writes CTranslate2's files, `evaluate` counts
word errors. Each is a command; nothing here is imported while the agent runs.
"""
