from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.patience import PATIENCE_S
from voice.config import data_path
from voice.tools import pdf_text
from voice.tools.builtin import documents as documents_module
from voice.tools.builtin.documents import Documents, search_documents
from voice.tools.registry import ToolError


@pytest.fixture(autouse=True)
def data(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """The user's data folder of one test."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
    # A search reads all that is new, however busy the machine is.
    monkeypatch.setattr(documents_module, "_BUDGET_S", PATIENCE_S)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "boiler_manual.md").write_text(
        "# The boiler\n\nThe boiler was serviced in March. The next service is due in spring.\n\n"
        "## Pressure\n\n* Keep the pressure between 1 and 2 bar. E-mail us if it falls.\n"
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
        " E-mail us if it falls."
    )
    documents.close()


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("what is the wi-fi password", True),
        ("do you have an email", True),
        ("when is the boiler serviced next", True),
        ("what is the wifi password", True),
        ("what is the password of the alarm system", False),
        ("how are you", False),
        # What is asked about is not there, but half of the words are.
        ("what does the boiler cost", False),
        ("how much pressure", True),
        ("is wifi included", True),
    ],
)
def test_a_question_is_told_where_a_passage_has_half_of_its_words(
    folder: Path, question: str, told: bool
) -> None:
    documents = Documents(folder)
    documents.read()
    assert documents.tells(question) is told
    documents.close()


def test_nobody_waits_for_an_index_that_is_being_written(folder: Path) -> None:
    documents = Documents(folder)
    documents.read()
    question = "what is the wifi password"
    with documents._lock:
        assert not documents.tells(question)
    assert documents.tells(question)
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


def test_of_equally_rare_words_the_first_must_be_there(tmp_path: Path) -> None:
    (tmp_path / "radiator.md").write_text("# Radiators\nOpen the valve to bleed a radiator.")
    (tmp_path / "pump.md").write_text("# Pumps\nA loud pump is worn.")
    documents = Documents(tmp_path)
    documents.read()
    assert documents.tells("the radiator, how do I bleed it? loud")
    assert not documents.tells("loud: how do I bleed the radiator?")
    assert documents.tells("please, how do I bleed it again?")


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


def test_a_page_that_cannot_be_read_keeps_no_other_from_being_searched(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "a.html").write_text("<p>hi <![x y>")
    (tmp_path / "b.html").write_text("<p>The mill is old.")
    assert Documents(tmp_path).search("mill") == ("b", "The mill is old.")
    assert "a.html: not searched: AssertionError" in caplog.text


def test_html_is_searched_without_its_marks_scripts_and_menus(tmp_path: Path) -> None:
    (tmp_path / "jam.html").write_text(
        "<html><head><title>Plum jam</title><style>p { color: plum }</style></head><body>"
        "<nav>All recipes</nav><h2>Stoning</h2><p>Stone the <b>plu</b>ms &amp; boil<br>slowly."
        "<script>dragons()</script></p><ul><li>Stir often.</ul><p>Fish &lt; 2kg"
    )
    documents = Documents(tmp_path)
    assert documents.search("stone") == ("jam", "Stoning: Stone the plums & boil slowly.")
    assert documents.search("stir") == ("jam", "Stir often.")
    assert documents.search("2kg") == ("jam", "Fish < 2kg")
    assert documents.search("dragons recipes color") is None


def pdf(*pages: str) -> bytes:
    """A PDF with a line of text on each page; an empty one is a page without text."""
    kids = " ".join(f"{3 + 2 * at} 0 R" for at in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
    ]
    font = "<< /Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >>"
    for at, text in enumerate(pages):
        drawn = f"BT /F 12 Tf 72 720 Td ({text}) Tj ET" if text else ""
        contents = f"/Contents {4 + 2 * at} 0 R /MediaBox [0 0 612 792]"
        objects.append(f"<< /Type /Page /Parent 2 0 R /Resources {font} {contents} >>")
        objects.append(f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream")
    out, places = b"%PDF-1.4\n", []
    for number, each in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{each}\nendobj\n".encode()
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(objects) + 1
    end = f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root 1 0 R >>"
    return out + f"{end}\nstartxref\n{len(out)}\n%%EOF".encode()


def test_pdf_is_searched_and_one_that_cannot_be_read_is_told_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    from pypdf import PdfReader, PdfWriter

    (tmp_path / "tides.pdf").write_bytes(pdf("The mill is old.", "Tides turn the mill."))
    (tmp_path / "scan.pdf").write_bytes(pdf(""))
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.4 tides")
    writer = PdfWriter(clone_from=PdfReader(tmp_path / "tides.pdf"))
    writer.encrypt("secret", algorithm="RC4-128")
    writer.write(tmp_path / "locked.pdf")
    with (tmp_path / "huge.pdf").open("wb") as huge:
        huge.truncate(60_000_000)
    documents = Documents(tmp_path)
    documents.read()
    assert documents.search("tides") == ("tides", "Tides turn the mill.")
    told = dict(record.message.split(": not searched: ") for record in caplog.records
                if "not searched: " in record.message)  # fmt: skip
    assert told["scan.pdf"] == "has no text, as a scan has none"
    assert told["locked.pdf"] == "encrypted"
    assert told["broken.pdf"].startswith("cannot be read")
    assert "huge.pdf: larger than 50 MB, not searched" in caplog.messages


def test_a_pdf_that_takes_too_long_or_too_much_memory_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    hungry = tmp_path / "hungry.py"
    limit = "import resource\nresource.setrlimit(resource.RLIMIT_CPU, (1, 1))\n"
    hungry.write_text(f"{limit}while 1: 0")
    monkeypatch.setattr("voice.tools.pdf_text.__file__", str(hungry))
    (tmp_path / "bomb.pdf").write_bytes(pdf("Tides"))
    assert Documents(tmp_path).search("tides") is None
    assert "bomb.pdf: not searched: takes too long or too much memory" in caplog.messages


def test_pdf_is_read_where_a_system_has_no_limits(tmp_path: Path) -> None:
    (tmp_path / "tides.pdf").write_bytes(pdf("Tides turn the mill."))
    program = """
import runpy, sys
import pypdf

sys.modules["resource"], sys.platform = None, "win32"
sys.exit(runpy.run_path(sys.argv[1])["_main"](sys.argv[2]))
"""
    command = [sys.executable, "-c", program, pdf_text.__file__, str(tmp_path / "tides.pdf")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert (done.returncode, done.stdout) == (0, "Tides turn the mill."), done.stderr


def test_a_restart_reads_nothing_anew(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = Documents(folder)
    assert first.search("wifi") is not None
    first.close()
    (index,) = data_path("documents").glob("*.sqlite3")
    assert index.stat().st_mode & 0o777 == 0o600
    read: list[Path] = []
    passages = documents_module.passages
    monkeypatch.setattr(
        documents_module, "passages", lambda path: read.append(path) or passages(path)
    )
    second = Documents(folder)
    assert second.search("wifi") == ("notes", "The wifi password is tulip.")
    assert read == []
    (folder / "new.txt").write_text("Here be dragons.")
    assert second.search("dragons") == ("new", "Here be dragons.")
    assert read == [folder / "new.txt"]
    second.close()


def test_a_damaged_index_is_made_anew(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    Documents(folder).close()
    (index,) = data_path("documents").glob("*.sqlite3")
    index.write_bytes(b"no database" * 1000)
    documents = Documents(folder)
    assert documents.search("wifi") is not None
    assert "file is not a database" in caplog.text


def test_an_index_that_breaks_while_it_is_used_is_said(folder: Path) -> None:
    documents = Documents(folder)
    documents.read()
    documents._index.execute("DROP TABLE passages")
    assert not documents.tells("wifi")
    with pytest.raises(ToolError, match="cannot be searched"):
        documents.search("wifi")


def test_what_a_title_names_counts_more_than_what_a_text_mentions(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("# House\n\n" + "The boiler hums. The boiler leaks.\n")
    for other in ("garden", "mill", "car", "cat"):
        (tmp_path / f"{other}.md").write_text(f"# The {other}\n\nHere is the {other}.\n")
    (tmp_path / "boiler.md").write_text("# The boiler\n\nIt is serviced by Ada.\n")
    found = Documents(tmp_path).search("who looks after the boiler")
    assert found == ("boiler", "The boiler: It is serviced by Ada.")
