"""``python pdf_text.py FILE``: print the text of a PDF, a line for each page.

A PDF is a program of sorts: one may take hours or all memory. So it is read in a process of its
own, which limits its time and memory and imports none of our modules; if that process dies, the one
that waits for it goes on.
"""

import logging
import sys

MOST_PAGES = 1000
MOST_CHARS = 2_000_000
LIMIT_S = 20
_LIMIT_BYTES = 1 << 30
_DONE, _UNREADABLE = 0, 3


def _main(path: str) -> int:
    _limit()
    logging.disable()
    try:
        from pypdf import PdfReader
    except ImportError:
        return _refuse(
            "pypdf is not installed: .venv/bin/pip install -c constraints.txt -e '.[pdf]'"
        )
    try:
        reader = PdfReader(path)
        if reader.is_encrypted and not reader.decrypt(""):
            return _refuse("encrypted")
        pages, left = [], MOST_CHARS
        for page in reader.pages[:MOST_PAGES]:
            pages.append(" ".join(page.extract_text().split())[:left])
            left -= len(pages[-1])
    # A malformed file may raise anything.
    except Exception as error:
        return _refuse(f"cannot be read: {type(error).__name__}")
    if not any(pages):
        return _refuse("has no text, as a scan has none")
    sys.stdout.buffer.write("\n".join(pages).encode("utf-8", "replace"))
    return _DONE


def _limit() -> None:
    if sys.platform == "win32":  # has no such limits; the parent kills the process in time
        return
    import resource

    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT_S, LIMIT_S))
    resource.setrlimit(resource.RLIMIT_AS, (_LIMIT_BYTES, _LIMIT_BYTES))


def _refuse(why: str) -> int:
    print(why, file=sys.stderr)
    return _UNREADABLE


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1]))
