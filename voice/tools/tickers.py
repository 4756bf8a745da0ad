"""Companies as people call them → their symbol at Stooq."""

from __future__ import annotations

import difflib
import re

_TABLE = """
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
_TICKERS = dict(cell.split("=") for line in _TABLE.strip().splitlines() for cell in line.split("|"))


def ticker_of(company: str) -> str | None:
    """The symbol of a company, or None when it is not known; a symbol itself is taken as it is.

    Args:
        company: As said: "apple", "i b m", "coca-cola", or "AAPL".
    """
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
