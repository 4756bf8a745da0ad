"""Options of telephone lines, a part of `voice.config`."""

from __future__ import annotations

from pydantic import Field

from voice.config.options import Networks, Section, Url


class TelephonyConfig(Section):
    """Telephone lines; docs/telephony.md says how each is connected."""

    doors: tuple[str, ...] = ()
    """Protocols to serve, by their names in docs/telephony.md."""
    public_url: Url = ""
    """Origin at which telephone services reach this server, such as https://voice.example.com;
    Twilio signs it."""
    token_env: str = "QUICKSILVER_TELEPHONE_TOKEN"
    """Environment variable that holds the token that lines other than Twilio's must present.
    Without it, a server on loopback is open to them."""
    twilio_token_env: str = "TWILIO_AUTH_TOKEN"
    """Environment variable that holds Twilio's auth token."""
    twilio_shared_key_env: str = "TWILIO_SHARED_KEY_SECRET"
    """Environment variable that holds the secret of a Twilio shared key, which signs with
    SHA-256."""
    require_ticket: bool = True
    """Twilio: whether a stream must show the ticket that POST /twilio/voice put into its TwiML."""
    agents: tuple[str, ...] = ()
    """Agents, besides the server's own, that a call may choose with the parameter "agent"."""
    numbers: dict[str, str] = Field(default_factory=dict)
    """Twilio: called number → agent."""
    transfer_numbers: dict[str, str] = Field(default_factory=dict)
    """Twilio: name that a caller may be transferred to → number; "anyone" is for all other
    names."""
    digits_timeout_s: float = Field(default=2.5, gt=0)
    """A pause of this length ends a sequence of keys; the hash key ends it at once."""
    start_timeout_s: float = Field(default=5.0, gt=0)
    """Longest time that a connection may take to start its call."""
    idle_timeout_s: float = Field(default=30.0, gt=0)
    """A line that sends nothing for this long is closed."""
    max_message_bytes: int = Field(default=64 * 1024, ge=1024)
    """Largest message accepted from a line."""
    audiosocket_port: int = Field(default=0, ge=0, le=65535)
    """TCP port for Asterisk's AudioSocket; 0 switches it off. The protocol has no
    authentication."""
    audiosocket_host: str = "127.0.0.1"
    """Address to listen on for AudioSocket."""
    audiosocket_peers: Networks = ()
    """Addresses or networks, besides loopback, that may connect to AudioSocket."""
