"""Options of the HTTP and WebSocket server, a part of `voice.config`."""

from __future__ import annotations

from pydantic import Field

from voice.config.options import IceServers, Networks, Origins, Section


class ServerConfig(Section):
    """The HTTP and WebSocket server."""

    host: str = "127.0.0.1"
    """Address to listen on."""
    port: int = Field(default=7860, ge=0, le=65535)
    """TCP port; 0 picks a free one."""
    api_key_env: str = "QUICKSILVER_API_KEY"
    """Environment variable that holds the key that clients must send. Without a key, a server on
    loopback is open, and a server on another address does not start."""
    allowed_origins: Origins = ()
    """Browser origins allowed besides the server's own. Their pages may open conversations and use
    all of /v1 by CORS, with a key in a header if one is needed."""
    allowed_hosts: tuple[str, ...] = ()
    """Names allowed in the Host header, besides loopback names and addresses."""
    agents: tuple[str, ...] = ()
    """Agents, besides the server's own, that clients and users of the page may choose: names of
    files in configs/agents, or paths."""
    max_sessions: int = Field(default=0, ge=0)
    """Conversations at once. One more is told so and refused with close code 1013. 0 means as many
    as the machine holds, which the server measures and prints at its start."""
    max_sessions_per_key: int = Field(default=2, ge=1)
    """Conversations at once with one ephemeral key, so that its holder cannot take all. The default
    is two because the server may notice a broken connection only after its client is back."""
    max_message_bytes: int = Field(default=2 * 1024 * 1024, ge=1024)
    """Largest WebSocket message accepted."""
    send_timeout_s: float = Field(default=10.0, gt=0)
    """A client that does not read for this long is disconnected."""
    max_connections: int = Field(default=512, ge=1)
    """TCP connections open at once. One more is closed, with status 503 if that still arrives."""
    max_connections_per_address: int = Field(default=128, ge=1)
    """TCP connections open at once from one address, or from one /64 network of IPv6. One more gets
    429."""
    trusted_proxies: Networks = ()
    """Addresses or networks of reverse proxies. Their requests are counted by the client address in
    X-Forwarded-For, which is ignored from any other peer."""
    handshake_timeout_s: float = Field(default=5.0, gt=0)
    """Longest time that a request may take to arrive, headers and body. For a larger request, each
    16 KiB may take this long."""
    max_messages_per_s: float = Field(default=200.0, gt=0)
    """WebSocket messages accepted from one client, on average; ten seconds' worth may come at once.
    Of other frames, such as pings and fragments of messages, eight times as many are accepted."""
    max_audio_speed: float = Field(default=4.0, ge=1)
    """Seconds of audio accepted per second, on average. A minute of audio may come at once; on the
    telephone, what ten seconds allow."""
    max_responses_per_min: float = Field(default=240.0, gt=0)
    """Replies per minute in all Realtime conversations with one key. A reply that a client requests
    beyond that is refused."""
    longest_session_s: float = Field(default=3600.0, gt=0)
    """A conversation ends after this time."""
    idle_session_s: float = Field(default=900.0, gt=0)
    """A Realtime client that sends nothing for this long is disconnected."""
    ping_s: float = Field(default=20.0, gt=0)
    """How often a WebSocket is pinged, and how long the answer may take."""


class WebRtcConfig(Section):
    """Calls by WebRTC, with the extra `webrtc`; docs/webrtc.md."""

    ice_servers: IceServers = ()
    """STUN and TURN servers, as `stun:host:port` or `turn:host:port`, for a server that clients
    reach through NAT. By default there are none, and no other server is contacted."""
    ice_user: str = ""
    """User name at the TURN server."""
    ice_credential_env: str = "QUICKSILVER_ICE_CREDENTIAL"
    """Environment variable that holds the password at the TURN server."""
    connect_timeout_s: float = Field(default=15.0, gt=0)
    """How long a client may take to connect after it has received its answer."""
    gone_after_s: float = Field(default=10.0, gt=0)
    """If nothing comes from a client for this long, it counts as gone and its conversation ends."""
