from io import StringIO

from rich.console import Console

from voice.local.terminal import Terminal, line, tool_line


def plain() -> tuple[Console, StringIO]:
    file = StringIO()
    return Console(file=file, width=100, force_terminal=False), file


def test_lines_that_stay_are_written_and_changing_ones_are_not():
    console, file = plain()
    with Terminal(console) as screen:
        screen.change(line("user", "set a"))
        screen.change(line("user", "set a timer"))
        screen.keep(line("user", "set a timer for ten minutes"))
        screen.keep(tool_line("set_timer", {"duration": "ten minutes"}, "Timer set."))
        screen.keep(line("agent", "Your timer", unheard=" is set"))
    assert [text.rstrip() for text in file.getvalue().splitlines()] == [
        "  user  set a timer for ten minutes",
        "  tool  set_timer(duration='ten minutes') → Timer set.",
        " agent  Your timer is set",
    ]


def test_words_that_look_like_markup_stay_words():
    console, file = plain()
    console.print(line("user", "[bold]brackets[/bold]"))
    assert "[bold]brackets[/bold]" in file.getvalue()


def test_unheard_words_are_struck_out():
    shown = line("agent", "Your timer", unheard=" is set")
    assert [span.style for span in shown.spans if shown.plain[span.start :] == " is set"] == [
        "dim strike"
    ]


def test_on_a_terminal_the_changing_line_is_drawn_and_removed():
    file = StringIO()
    console = Console(file=file, width=60, force_terminal=True, _environ={})
    with Terminal(console) as screen:
        screen.change(line("user", "set a"))
        assert "set a" in file.getvalue()
        before = len(file.getvalue())
        screen.keep(line("user", "done"))
        assert "\x1b[2K" in file.getvalue()[before:]
