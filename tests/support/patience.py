"""How long a test waits for what has to come.

Nothing that comes is waited for any longer because of it; the bound of a few seconds that ends the
wait for what never comes would tell of a busy machine and not of the program.
"""

PATIENCE_S = 180.0
