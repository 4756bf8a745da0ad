"""The tools that every agent may be given; each module defines one group of them."""
