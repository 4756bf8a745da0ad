"""Options of telephone lines, a part of `voice.config`."""

from __future__ import annotations

from pydantic import Field

from voice.config.options import Networks, Section, Url


class TelephonyConfig(Section):
    """Telephone lines; docs/telephony.md says how each is connected."""

    doors: tuple[str, ...] = ()
    """Protocols served, by their names in docs/telephony.md."""
    public_url: Url = ""
    """Origin at which telephone services reach this server, such as https://voice.example.com;
    Twilio signs it."""
    token_env: str = "QUICKSILVER_TELEPHONE_TOKEN"
    """Environment variable with the token that lines other than Twilio's must present; unset leaves
    a loopback server open to them."""
    twilio_token_env: str = "TWILIO_AUTH_TOKEN"
    """Environment variable with Twilio's auth token."""
    twilio_shared_key_env: str = "TWILIO_SHARED_KEY_SECRET"
    """Environment variable with the secret of a Twilio shared key, which signs with SHA-256."""
    require_ticket: bool = True
    """Twilio: whether a stream must show the ticket that POST /twilio/voice put into its TwiML."""
    agents: tuple[str, ...] = ()
    """Agents that a call may choose besides the server's own, with the parameter "agent"."""
    numbers: dict[str, str] = Field(default_factory=dict)
    """Twilio: called number → agent."""
    transfer_numbers: dict[str, str] = Field(default_factory=dict)
    """Twilio: name that a caller may be transferred to → number; "anyone" is for all others."""
    digits_timeout_s: float = Field(default=2.5, gt=0)
    """A pause of this length ends an entry of keys; the hash key ends it at once."""
    start_timeout_s: float = Field(default=5.0, gt=0)
    """Longest a connection may take to start its call."""
    idle_timeout_s: float = Field(default=30.0, gt=0)
    """A line that sends nothing for so long is closed."""
    max_message_bytes: int = Field(default=64 * 1024, ge=1024)
    """Largest message accepted from a line."""
    audiosocket_port: int = Field(default=0, ge=0, le=65535)
    """TCP port for Asterisk's AudioSocket; 0 does not listen. The protocol knows no
    authentication."""
    audiosocket_host: str = "127.0.0.1"
    """Address to listen on for AudioSocket."""
    audiosocket_peers: Networks = ()
    """Addresses or networks that may connect to it besides loopback."""
