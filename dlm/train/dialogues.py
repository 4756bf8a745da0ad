"""The former place of ``python -m dlm.datagen.dialogues``, which is run with a warning."""

from __future__ import annotations

import warnings

from dlm.datagen.dialogues import main

if __name__ == "__main__":
    warnings.warn("use python -m dlm.datagen.dialogues", FutureWarning, stacklevel=1)
    main()
