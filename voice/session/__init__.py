"""One conversation run with real parts."""
