from __future__ import annotations

import os
from pathlib import Path

import pytest

from voice.tools.builtin.documents import Documents, search_documents
from voice.tools.registry import ToolError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "boiler_manual.md").write_text(
        "# The boiler\n\nThe boiler was serviced in March. The next service is due in spring.\n\n"
        "## Pressure\n\n* Keep the pressure between 1 and 2 bar.\n"
    )
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "notes.txt").write_text(
        "The wifi password is tulip.\n\n"
        + "The garden is large. " * 12
        + "Tides turn the mill twice a day. "
        + "The mill is old. " * 12
    )
    (tmp_path / "photo.jpg").write_bytes(b"\xff\xd8 tides")
    (tmp_path / "broken.txt").write_bytes(b"\xff\xfe\xff tides")
    return tmp_path


def test_the_best_passage_is_found(folder: Path) -> None:
    documents = Documents(folder)
    answer = search_documents("when is the next boiler service", documents=documents)
    assert answer == (
        "From boiler manual: The boiler: The boiler was serviced in March."
        " The next service is due in spring."
    )
    assert search_documents("wifi", documents=documents) == (
        "From notes: The wifi password is tulip."
    )
    assert search_documents("pressure", documents=documents) == (
        "From boiler manual: Pressure: Keep the pressure between 1 and 2 bar."
    )
    documents.close()


def test_a_long_paragraph_is_told_from_where_the_words_are(folder: Path) -> None:
    documents = Documents(folder)
    found = documents.search("tides")
    assert found is not None
    name, passage = found
    assert name == "notes"
    assert passage.startswith("Tides turn the mill")
    assert len(passage) <= 200
    documents.close()


def test_a_sentence_that_is_too_long_is_cut_at_a_word(tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text("lighthouse " + "word " * 100)
    found = Documents(tmp_path).search("lighthouse")
    assert found is not None
    assert len(found[1]) <= 200
    assert found[1].endswith("word…")


@pytest.mark.parametrize("query", ["dragons", "what is the", "", '"', "AND OR NOT", "boil*"])
def test_what_is_not_there_is_not_found(folder: Path, query: str) -> None:
    with pytest.raises(ToolError) as failure:
        search_documents(query, documents=Documents(folder))
    assert str(failure.value) == f"Nothing about {query} was found."


def test_of_a_query_without_end_the_first_words_count(folder: Path) -> None:
    documents = Documents(folder)
    assert "serviced in March" in search_documents("boiler " * 20_000, documents=documents)
    others = " ".join(f"word{number}" for number in range(31))
    assert "serviced in March" in search_documents(f"{others} boiler", documents=documents)
    with pytest.raises(ToolError):
        search_documents(f"{others} another boiler", documents=documents)


def test_without_a_folder_nothing_is_found() -> None:
    assert Documents(None).search("tides") is None


def test_files_that_change_are_read_again(folder: Path) -> None:
    documents = Documents(folder)
    assert documents.search("dragons") is None
    notes = folder / "deep" / "notes.txt"
    notes.write_text("Here be dragons.")
    os.utime(notes, (1e9, 1e9))
    assert documents.search("dragons") == ("notes", "Here be dragons.")
    assert documents.search("wifi") is None
    notes.unlink()
    assert documents.search("dragons") is None


def test_no_file_outside_of_the_folder_is_read(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    secret = tmp_path_factory.mktemp("elsewhere") / "secret.txt"
    secret.write_text("Dragons sleep at noon.")
    (folder / "link.txt").symlink_to(secret)
    (folder / "near.txt").symlink_to(folder / "deep" / "notes.txt")
    documents = Documents(folder)
    assert documents.search("dragons") is None
    assert documents.search("wifi") is not None


def test_markdown_is_searched_without_its_marks(tmp_path: Path) -> None:
    (tmp_path / "jam.md").write_text(
        "Plum *jam*\n===\n\n- stone the [plums](http://plums.example)\n- boil `slowly`\n\n"
        "> Stir often.\n\n```\nplums 2kg\n```\n\n## Empty\n"
    )
    documents = Documents(tmp_path)
    assert documents.search("stone") == ("jam", "Plum jam: stone the plums boil slowly")
    assert documents.search("stir") == ("jam", "Stir often.")
    assert documents.search("2kg") == ("jam", "plums 2kg")
    assert documents.search("empty") == ("jam", "Empty")


@pytest.mark.parametrize("suffix", ["md", "txt"])
def test_hostile_text_does_not_stop_the_reading(tmp_path: Path, suffix: str) -> None:
    """A pattern that backtracks over the blanks of a heading would take hours."""
    (tmp_path / f"hostile.{suffix}").write_text(
        "\n\n".join(
            ("# " + " " * 30_000, "\n" * 30_000, "* " * 3000, "[" * 3000, "`" * 3001, "mill")
        )
    )
    assert Documents(tmp_path).search("mill") is not None
