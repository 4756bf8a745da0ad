"""``python -m dlm.teach``: from a list of tools to a model that calls them, in one folder."""
