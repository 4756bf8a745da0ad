"""The tools that any agent may be given; each module defines a group of them."""
