"""Looks at a page in both schemes at three widths: axe's rules, and nothing cut off."""

from __future__ import annotations

from itertools import product
from pathlib import Path

from tests.clients.environments import npm_home
from tests.e2e.chromium import Page

WIDTHS = (360, 768, 1280)
CHECKED = (("light", 360), ("light", 768), ("dark", 1280), ("light", 1280))
"""By axe, which is slow; schemes, whose colours do not hang on the width, and widths in pixels."""


def axe_source() -> str:
    """axe-core's code; skips where npm is not installed."""
    return (npm_home("axe", "axe-core@4.10.3") / "node_modules/axe-core/axe.min.js").read_text()


async def check_access(page: Page, axe: str, what: str, pictures: Path | None = None) -> None:
    """No violation that axe knows of, and nothing wider than the page.

    Args:
        page: In the state to be checked.
        axe: Its code.
        what: Names the state.
        pictures: A folder for a screenshot of each scheme and width; None makes none.
    """
    await page.evaluate(axe)
    for scheme, width in product(("light", "dark"), WIDTHS):
        if pictures is None and (scheme, width) not in CHECKED:
            continue
        features = [
            {"name": "prefers-color-scheme", "value": scheme},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]
        await page.call("Emulation.setEmulatedMedia", features=features)
        size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
        await page.call("Emulation.setDeviceMetricsOverride", **size)
        wide = "Math.max(...['main', 'html'].map((n) => document.querySelector(n).scrollWidth))"
        assert await page.evaluate(wide) <= width, (what, width)
        if (scheme, width) in CHECKED:
            found = await page.evaluate(
                "axe.run().then((r) => r.violations.map((v) =>"
                " `${v.id}: ${v.nodes.map((n) => n.target.join(' ')).join(', ')}`))"
            )
            assert found == [], (what, scheme, width)
        if pictures is not None:
            file = pictures / f"{what.replace(' ', '-')}-{scheme}-{width}.png"
            file.write_bytes(await page.screenshot())
