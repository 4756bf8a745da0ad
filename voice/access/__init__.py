"""Who may connect, and how much each client may use.

Decided from a request's headers, before anything is allocated for it.
"""
