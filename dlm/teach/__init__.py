"""``python -m dlm.teach``: turns a list of tools into a model that calls them, in one folder."""
