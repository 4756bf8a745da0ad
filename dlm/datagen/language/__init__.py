"""How people say things: phrasings, numbers, durations and times, slips, noise."""
