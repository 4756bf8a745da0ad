"""Where a place is, and its time zone.

`zone_of` needs no network: it knows the zone database, countries with one zone, and a short list of
further places. `find_place` asks Open-Meteo's geocoding service.

Source: https://open-meteo.com/en/docs/geocoding-api
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from babel import Locale
from babel.core import get_global

from voice.config import ToolsConfig
from voice.tools.registry import Unreadable
from voice.tools.web import Query, Unreachable, Web, json_of

_MORE_CITIES = {
    "America/New_York": "new york city,brooklyn,boston,washington,washington d c,washington dc,"
    "miami,atlanta,philadelphia,baltimore,orlando,tampa,charlotte,pittsburgh,cleveland,columbus,cincinnati,"
    "florida,georgia,massachusetts,the east coast,quebec,ottawa,montreal",
    "America/Chicago": "texas,dallas,houston,austin,san antonio,minneapolis,saint louis,"
    "new orleans,memphis,nashville,milwaukee,kansas city,omaha,tulsa,oklahoma city,illinois",
    "America/Denver": "salt lake city,colorado,utah,albuquerque,calgary",
    "America/Phoenix": "tucson,arizona",
    "America/Los_Angeles": "san francisco,san diego,san jose,seattle,portland,las vegas,sacramento,"
    "california,oregon,nevada,hollywood,oakland,fresno,the west coast",
    "America/Anchorage": "alaska",
    "Pacific/Honolulu": "hawaii",
    "America/Sao_Paulo": "rio,rio de janeiro,sao paulo,brasilia,brazil",
    "America/Argentina/Buenos_Aires": "argentina",
    "America/Mexico_City": "mexico",
    "Europe/London": "england,scotland,wales,britain,the united kingdom,the u k,edinburgh,glasgow,"
    "manchester,liverpool,birmingham,leeds,bristol,cardiff,oxford,cambridge",
    "Europe/Paris": "lyon,marseille,nice,toulouse,bordeaux",
    "Europe/Berlin": "munich,hamburg,frankfurt,cologne,stuttgart,dresden,leipzig,germany",
    "Europe/Rome": "milan,venice,florence,naples,turin",
    "Europe/Madrid": "barcelona,valencia,seville,spain",
    "Europe/Lisbon": "portugal,porto",
    "Europe/Zurich": "geneva,basel,bern",
    "Europe/Warsaw": "krakow,gdansk",
    "Europe/Kyiv": "kiev,ukraine",
    "Europe/Moscow": "saint petersburg",
    "Asia/Shanghai": "china,beijing,guangzhou,shenzhen,wuhan",
    "Asia/Kolkata": "india,mumbai,bombay,delhi,new delhi,bangalore,chennai,hyderabad",
    "Asia/Tokyo": "osaka,kyoto,yokohama",
    "Asia/Jerusalem": "tel aviv,haifa",
    "Asia/Dubai": "abu dhabi",
    "Asia/Ho_Chi_Minh": "hanoi,saigon",
    "Africa/Johannesburg": "cape town,durban,pretoria",
    "Australia/Sydney": "canberra,newcastle",
    "Pacific/Auckland": "wellington,christchurch,new zealand",
}


def zone_of(place: str) -> ZoneInfo | None:
    """The time zone of a city, or of a country with one zone; None if it is not known here."""
    name = place.lower().replace(".", "").strip()
    found = _zones().get(name) or _zones().get(name.removeprefix("the "))
    return ZoneInfo(found) if found else None


@dataclass(frozen=True, slots=True)
class Place:
    """A place, in degrees north and east; ``timezone`` is an IANA name."""

    name: str
    latitude: float
    longitude: float
    timezone: str


async def find_place(
    place: str, web: Web, config: ToolsConfig, service: str = "place service"
) -> Place:
    """Find a place by its spoken name; ``service`` is what the error calls the service.

    Raises:
        Unreadable: There is no such place.
        ToolError: The service cannot be reached.
    """
    query: Query = {"name": place, "count": 1, "language": "en", "format": "json"}
    answer = json_of(service, await web.get(service, config.geocoding_url, query))
    try:
        results = answer.get("results") or []
        if not results:
            raise Unreadable("place", place)
        first = results[0]
        return Place(
            str(first["name"]),
            float(first["latitude"]),
            float(first["longitude"]),
            str(first.get("timezone", "")),
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise Unreachable(service) from error


@cache
def _zones() -> dict[str, str]:
    """Place in lower case → zone; the short list has precedence, then cities, then countries."""
    known: dict[str, str] = {}
    territories = Locale("en").territories
    for territory, zones in get_global("territory_zones").items():
        if len(zones) == 1 and territory in territories:
            known[territories[territory].lower()] = zones[0]
    for zone in sorted(available_timezones()):
        area, _, city = zone.rpartition("/")
        if area and area != "Etc":
            known[city.replace("_", " ").lower()] = zone
    for zone, cities in _MORE_CITIES.items():
        known.update(dict.fromkeys(cities.split(","), zone))
    return known
