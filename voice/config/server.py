"""Options of the HTTP and WebSocket server, a part of `voice.config`."""

from __future__ import annotations

from pydantic import Field

from voice.config.options import IceServers, Networks, Origins, Section


class ServerConfig(Section):
    """The HTTP and WebSocket server."""

    host: str = "127.0.0.1"
    """Address to listen on."""
    port: int = Field(default=7860, ge=0, le=65535)
    """TCP port; 0 takes a free one."""
    api_key_env: str = "QUICKSILVER_API_KEY"
    """Environment variable that holds the key clients must send; unset leaves a loopback server
    open."""
    allowed_origins: Origins = ()
    """Browser origins allowed besides the server's own: their pages may open conversations and use
    all of /v1, by CORS, with a key in a header where one is needed."""
    allowed_hosts: tuple[str, ...] = ()
    """Names in the Host header allowed besides loopback names and addresses."""
    agents: tuple[str, ...] = ()
    """Agents, besides the server's own, that a client may choose, and people on the page: names of
    files in configs/agents, or paths."""
    max_sessions: int = Field(default=0, ge=0)
    """Conversations served at once; one more is told so and refused with close code 1013. 0 is as
    many as the machine holds, which the start measures and says."""
    max_sessions_per_key: int = Field(default=2, ge=1)
    """Of these, with one ephemeral key: whoever has one does not take all. Two, since a connection
    that has broken may be noticed after its client is back."""
    max_message_bytes: int = Field(default=2 * 1024 * 1024, ge=1024)
    """Largest WebSocket message accepted."""
    send_timeout_s: float = Field(default=10.0, gt=0)
    """How long a client may not read before it is disconnected."""
    max_connections: int = Field(default=512, ge=1)
    """TCP connections open at once; one more is closed, with 503 where that still arrives."""
    max_connections_per_address: int = Field(default=128, ge=1)
    """Of these, from one address, or from one IPv6 network of 64 bits; one more gets 429."""
    trusted_proxies: Networks = ()
    """Addresses or networks of reverse proxies: their requests are counted by the client address in
    X-Forwarded-For, which is ignored from any other peer."""
    handshake_timeout_s: float = Field(default=5.0, gt=0)
    """Longest a request may take to arrive, headers and body, or every 16 KiB of a larger one."""
    max_messages_per_s: float = Field(default=200.0, gt=0)
    """WebSocket messages accepted from one client, on average; ten seconds' worth may come at once.
    Eight times as many other frames, such as pings and fragments of messages, are accepted."""
    max_audio_speed: float = Field(default=4.0, ge=1)
    """Seconds of audio taken per second, on average; a minute of it may come at once, on the
    telephone what ten seconds allow."""
    max_responses_per_min: float = Field(default=240.0, gt=0)
    """Replies of all Realtime conversations with one key; one more that a client requests is
    refused."""
    longest_session_s: float = Field(default=3600.0, gt=0)
    """A conversation is ended after this long."""
    idle_session_s: float = Field(default=900.0, gt=0)
    """A Realtime client that sends nothing for so long is disconnected."""
    ping_s: float = Field(default=20.0, gt=0)
    """How often a WebSocket is pinged, and how long the answer may take."""


class WebRtcConfig(Section):
    """Calls by WebRTC, with the extra `webrtc`; docs/webrtc.md."""

    ice_servers: IceServers = ()
    """STUN and TURN servers, as `stun:host:port` or `turn:host:port`, for a server that clients
    reach through NAT; none by default, and nobody is asked."""
    ice_user: str = ""
    """Name at the TURN server."""
    ice_credential_env: str = "QUICKSILVER_ICE_CREDENTIAL"
    """Environment variable that holds the password at the TURN server."""
    connect_timeout_s: float = Field(default=15.0, gt=0)
    """How long a client that has got its answer may take to connect."""
    gone_after_s: float = Field(default=10.0, gt=0)
    """A client from which nothing has come for so long is gone, and its conversation ends."""
