"""Home Assistant without its web page, which would need some thirty packages more.

Run by the interpreter that has it, with the arguments of ``hass``.
"""

import sys

from homeassistant import bootstrap
from homeassistant.__main__ import main

bootstrap.CRITICAL_INTEGRATIONS = set()
bootstrap.DEFAULT_INTEGRATIONS = set()
sys.exit(main())
