from __future__ import annotations

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from tests.voice.tools.services import config_at, connections, served
from voice.tools.builtin.money import convert_currency, get_stock_price, ticker_of
from voice.tools.registry import ToolError

RATES = {("USD", "EUR"): 0.856, ("GBP", "USD"): 1.25, ("USD", "JPY"): 150.5, ("CHF", "USD"): 1.1,
         ("JPY", "USD"): 0.00644}  # fmt: skip


async def latest(request: Request) -> Response:
    source, target = request.query_params["from"], request.query_params["to"]
    if (source, target) not in RATES:
        return JSONResponse({"message": "not found"}, 404)
    rates = {target: RATES[source, target]}
    return JSONResponse({"amount": 1.0, "base": source, "date": "2026-11-20", "rates": rates})


async def quote(request: Request) -> Response:
    symbol = request.query_params["s"]
    head = "Symbol,Date,Time,Open,High,Low,Close,Volume"
    close = {"aapl.us": "187.2", "ibm.us": "240"}.get(symbol)
    row = (
        f"{symbol.upper()},2026-11-20,22:00:08,1,1,1,{close},9"
        if close
        else f"{symbol},N/D,N/D,N/D,N/D,N/D,N/D,N/D"
    )
    return PlainTextResponse(f"{head}\r\n{row}\r\n")


ROUTES = [Route("/latest", latest), Route("/quote", quote)]


@pytest.mark.parametrize(
    ("amount", "source", "target", "answer"),
    [
        ("twenty", "dollars", "euros", "20 dollars is 17.12 euros."),
        ("a", "pound", "us dollars", "1 pound is 1.25 us dollars."),
        ("ten", "dollars", "yen", "10 dollars is 1505 yen."),
        ("ten", "swiss francs", "american dollars", "10 swiss francs is 11 american dollars."),
        ("five", "euros", "euros", "5 euros is 5 euros."),
        ("one", "yen", "dollars", "1 yen is 0.00644 dollars."),
    ],
)
async def test_exchange(amount: str, source: str, target: str, answer: str) -> None:
    async with served(ROUTES) as base, connections() as web:
        assert (
            await convert_currency(amount, source, target, web=web, config=config_at(base))
            == answer
        )


@pytest.mark.parametrize(
    ("amount", "source", "target", "complaint"),
    [
        ("blue", "dollars", "euros", "I could not read the amount blue."),
        ("ten", "blorps", "euros", "I could not read the currency blorps."),
        ("ten", "euros", "zloty", "There is no exchange rate for that."),
    ],
)
async def test_what_cannot_be_exchanged(
    amount: str, source: str, target: str, complaint: str
) -> None:
    async with served(ROUTES) as base, connections() as web:
        with pytest.raises(ToolError) as failure:
            await convert_currency(amount, source, target, web=web, config=config_at(base))
    assert str(failure.value) == complaint


async def test_share_prices() -> None:
    async with served(ROUTES) as base, connections() as web:
        config = config_at(base)
        assert (
            await get_stock_price("apple", web=web, config=config) == "Apple is at 187.20 dollars."
        )
        assert (
            await get_stock_price("i b m", web=web, config=config) == "I B M is at 240.00 dollars."
        )
        with pytest.raises(ToolError, match=r"^There is no price for tesla\.$"):
            await get_stock_price("tesla", web=web, config=config)
        with pytest.raises(ToolError, match=r"^I do not know the company blorp\.$"):
            await get_stock_price("blorp", web=web, config=config)


@pytest.mark.parametrize("body", ['{"rates": {}}', "no JSON"])
async def test_answers_that_make_no_sense_are_not_told(body: str) -> None:
    async def nonsense(request: Request) -> Response:
        return PlainTextResponse(body)

    routes = [Route("/latest", nonsense), Route("/quote", nonsense)]
    async with served(routes) as base, connections() as web:
        config = config_at(base)
        with pytest.raises(ToolError, match=r"^The exchange rate service cannot be reached\.$"):
            await convert_currency("ten", "dollars", "euros", web=web, config=config)
        with pytest.raises(ToolError, match=r"^The stock service cannot be reached\.$"):
            await get_stock_price("apple", web=web, config=config)


@pytest.mark.parametrize(
    ("company", "ticker"),
    [
        ("apple", "aapl.us"),
        ("Apple", "aapl.us"),
        ("tesla stock", "tsla.us"),
        ("the coca-cola company", "ko.us"),
        ("Johnson & Johnson", "jnj.us"),
        ("nvidea", "nvda.us"),
        ("i b m", "ibm.us"),
        ("I.B.M.", "ibm.us"),
        ("a t and t", "t.us"),
        ("AAPL", "aapl.us"),
        ("x y z", "xyz.us"),
        ("blorp", None),
        ("", None),
    ],
)
def test_tickers(company: str, ticker: str | None) -> None:
    assert ticker_of(company) == ticker
