from dlm.datagen.inventions_daily import TABLE


def test_every_line_has_a_known_mark() -> None:
    lines = [line for line in TABLE.splitlines() if line]
    assert all(line[0] in "@ncp>+-?<!=" and line[1] == " " for line in lines)
    assert sum(line.startswith("@") for line in lines) >= 15
