"""The server's parts as deployments of Ray Serve, for more calls than one process or machine holds.

`deployments` defines the parts, and `remote_parts` stands in for them in the processes that hold
the conversations. Only this room imports Ray, and nothing else imports this room.
"""
