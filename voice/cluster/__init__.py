"""The server's parts as deployments of Ray Serve, for more calls than a process or a machine holds.

`deployments` has the parts, `remote_parts` what stands for them where the conversations are. Ray is
imported here alone; nothing else imports this room.
"""
