"""Exchange rates from Frankfurter and share prices from Stooq: public services without a key.

Sources: https://frankfurter.dev and https://stooq.com
"""

from __future__ import annotations

import csv
import difflib
import re
from collections import Counter
from decimal import Decimal, InvalidOperation
from functools import cache
from typing import Annotated

from babel import Locale

from voice.config import ToolsConfig
from voice.tools import phrasing
from voice.tools.registry import Readable, ToolError, Unreadable, tool
from voice.tools.spoken_numbers import amount as read_amount
from voice.tools.web import Unreachable, Web, json_of

_EXCHANGE = "exchange rate service"
_STOCK = "stock service"
_COMMON = {
    "dollar": "USD", "buck": "USD", "pound": "GBP", "british pound": "GBP", "quid": "GBP",
    "sterling": "GBP", "yen": "JPY", "franc": "CHF", "rupee": "INR", "peso": "MXN", "krone": "NOK",
    "kroner": "NOK", "krona": "SEK", "kronor": "SEK", "crown": "CZK", "won": "KRW", "yuan": "CNY",
    "renminbi": "CNY", "zloty": "PLN", "real": "BRL", "reais": "BRL", "rand": "ZAR", "lira": "TRY",
    "ruble": "RUB", "shekel": "ILS", "baht": "THB", "forint": "HUF", "ringgit": "MYR",
    "american dollar": "USD", "u s dollar": "USD", "danish kroner": "DKK",
    "norwegian kroner": "NOK", "swedish kronor": "SEK", "nz dollar": "NZD", "hk dollar": "HKD",
    "dirham": "AED",
}  # fmt: skip
"""The usual meaning of a currency's short name, in the singular."""

_TICKER_TABLE = """
apple=aapl|google=googl|alphabet=googl|microsoft=msft|amazon=amzn|tesla=tsla|facebook=meta
meta=meta|netflix=nflx|nvidia=nvda|intel=intc|ibm=ibm|oracle=orcl|cisco=csco|adobe=adbe
salesforce=crm|amd=amd|qualcomm=qcom|dell=dell|hp=hpq|broadcom=avgo|texas instruments=txn
micron=mu|arm=arm|asml=asml|sony=sony|nintendo=ntdoy|toyota=tm|honda=hmc|ford=f
general motors=gm|volkswagen=vwagy|bmw=bmwyy|boeing=ba|airbus=eadsy|lockheed martin=lmt
raytheon=rtx|coca cola=ko|coke=ko|pepsi=pep|pepsico=pep|mcdonald's=mcd|mcdonalds=mcd
starbucks=sbux|nike=nke|adidas=addyy|disney=dis|walmart=wmt|target=tgt|costco=cost|home depot=hd
lowe's=low|best buy=bby|visa=v|mastercard=ma|paypal=pypl|square=xyz|goldman sachs=gs
jp morgan=jpm|morgan stanley=ms|bank of america=bac|wells fargo=wfc|citigroup=c
american express=axp|berkshire hathaway=brk-b|blackrock=blk|pfizer=pfe|moderna=mrna
johnson and johnson=jnj|merck=mrk|eli lilly=lly|novo nordisk=nvo|exxon=xom|exxon mobil=xom
shell=shel|chevron=cvx|bp=bp|verizon=vz|at and t=t|a t and t=t|t mobile=tmus|comcast=cmcsa
uber=uber|lyft=lyft|airbnb=abnb|spotify=spot|snap=snap|pinterest=pins|zoom=zm|shopify=shop
ebay=ebay|caterpillar=cat|john deere=de|deere=de|general electric=ge|honeywell=hon|ups=ups
fedex=fdx|delta=dal|delta airlines=dal|united airlines=ual|american airlines=aal|kellogg=k
colgate=cl|procter and gamble=pg|unilever=ul|nestle=nsrgy|siemens=siegy|sap=sap|nokia=nok
ericsson=eric|samsung=ssnlf|alibaba=baba|palantir=pltr|coinbase=coin|gamestop=gme|marriott=mar
hilton=hlt
"""
_TICKERS = dict(
    cell.split("=") for line in _TICKER_TABLE.strip().splitlines() for cell in line.split("|")
)
"""Company's spoken name → its symbol at Stooq, without ".us"."""
_Amount = Annotated[
    str, Readable(lambda said, _: read_amount(said, "amount"), "How much of it?", refuses=False)
]
_Money = Annotated[
    str, Readable(lambda said, _: _currency(said), "Which currency do you mean?", refuses=False)
]


@tool(read_only=True)
async def convert_currency(
    amount: _Amount, from_currency: _Money, to_currency: _Money, *, web: Web, config: ToolsConfig
) -> str:
    """Convert between currencies."""
    count = read_amount(amount, "amount")
    source, target = _currency(from_currency), _currency(to_currency)
    rate = Decimal(1) if source == target else await _rate(source, target, web, config)
    had = _counted(count, from_currency)
    return f"{had} is {_counted(count * rate, to_currency)}."


@tool(read_only=True)
async def get_stock_price(company: str, *, web: Web, config: ToolsConfig) -> str:
    """Tell a share price."""
    ticker = ticker_of(company)
    if ticker is None:
        raise ToolError(f"I do not know the company {company}.")
    query: dict[str, str | float | int] = {"s": ticker, "f": "sd2t2ohlcv", "h": "", "e": "csv"}
    response = await web.get(_STOCK, config.stock_url, query)
    rows = list(csv.DictReader(response.text.splitlines()))
    if not rows or "Close" not in rows[0]:
        raise Unreachable(_STOCK)
    try:
        price = Decimal(rows[0]["Close"])
    except InvalidOperation as error:
        # The service says N/D for what it does not know.
        raise ToolError(f"There is no price for {company}.") from error
    return f"{phrasing.name(company)} is at {price:.2f} dollars."


async def _rate(source: str, target: str, web: Web, config: ToolsConfig) -> Decimal:
    response = await web.get(_EXCHANGE, config.currency_url, {"from": source, "to": target})
    if response.status_code == 404:
        raise ToolError("There is no exchange rate for that.")
    answer = json_of(_EXCHANGE, response)
    try:
        return Decimal(str(answer["rates"][target]))
    except (KeyError, TypeError, InvalidOperation) as error:
        raise Unreachable(_EXCHANGE) from error


def _currency(said: str) -> str:
    """The ISO code of a spoken currency.

    Raises:
        Unreadable: It is not a currency.
    """
    name = " ".join(said.lower().replace(".", " ").replace("u s ", "us ").split())
    name = name.removeprefix("the ")
    if len(said.strip()) == 3 and said.strip().upper() in Locale("en").currencies:
        return said.strip().upper()
    known = _currencies()
    for key in (name, name.removesuffix("s"), name.removesuffix("es")):
        if key in known:
            return known[key]
    close = difflib.get_close_matches(name.removesuffix("s"), known, n=1, cutoff=0.85)
    if not close:
        raise Unreadable("currency", said)
    return known[close[0]]


@cache
def _currencies() -> dict[str, str]:
    """Currency names in lower case, singular → ISO code; the most common meaning wins."""
    names = {name.lower(): code for code, name in Locale("en").currencies.items()}
    last = Counter(name.split()[-1] for name in names)
    # The last word suffices where it is unique: there is only one taka.
    own = {word: code for name, code in names.items() if last[word := name.split()[-1]] == 1}
    return own | names | {name.removesuffix("s"): code for name, code in names.items()} | _COMMON


def _counted(count: Decimal, currency: str) -> str:
    shown = phrasing.money(count)
    name = currency.strip().removeprefix("the ")
    if shown == "1":
        return f"1 {name.removesuffix('s')}"
    return f"{shown} {name if name.endswith('s') or not _takes_s(name) else name + 's'}"


def _takes_s(name: str) -> bool:
    return name.lower().split()[-1] in ("dollar", "euro", "pound", "franc", "rupee", "peso", "buck")


def ticker_of(company: str) -> str | None:
    """The symbol of a company, spoken or spelled: "apple", "i b m", "AAPL"; None if unknown."""
    said = company.lower().replace("-", " ").replace("&", " and ").strip()
    said = re.sub(r"\b(?:stocks?|shares?|inc|corporation|company|the)\b", "", said)
    said = " ".join(said.replace(".", "").split())
    # Letters said one by one: "i b m".
    spelled = said.replace(" ", "") if re.fullmatch(r"[a-z](?: [a-z])+", said) else said
    for name in (said, spelled):
        if name in _TICKERS:
            return f"{_TICKERS[name]}.us"
    if spelled != said or re.fullmatch(r"[A-Z]{1,5}", company.strip()):
        return f"{spelled}.us"
    close = difflib.get_close_matches(said, _TICKERS, n=1, cutoff=0.8)
    return f"{_TICKERS[close[0]]}.us" if close else None
