"""Who may connect, and how much each client may use.

This is decided from a request's headers, before anything is allocated for it.
"""
