import json

from benchmarks import report


def test_percentiles_of_nothing_are_none():
    assert report.percentiles([]) == {"n": 0, "p50": None, "p95": None, "max": None}
    assert report.percentiles(list(range(101))) == {"n": 101, "p50": 50, "p95": 95, "max": 100}
    assert report.share(1, 0)["rate"] is None
    assert report.share(1, 4) == {"count": 1, "of": 4, "rate": 0.25}


def test_a_result_says_how_it_came_about(monkeypatch, tmp_path):
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    monkeypatch.setattr("sys.argv", ["x", "--parts", "demo"])
    file = report.write("turns", "benchmarks.voice.turns", {"x": 1}, report.machine())
    told = json.loads(file.read_text())
    assert told["command"] == "python -m benchmarks.voice.turns --parts demo"
    assert told["figures"] == {"x": 1}
    assert told["commit"]
    assert told["date"].endswith("+00:00")
    assert told["machine"]["cores"] >= 1
    assert "commit" not in told["machine"]


def test_a_commit_made_meanwhile_is_told(monkeypatch, tmp_path):
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    began = {**report.machine(), "commit": "abc"}
    monkeypatch.setattr(report, "commit", lambda: "def")
    told = json.loads(report.write("x", "benchmarks.x", {}, began).read_text())
    assert told["commit"] == "abc, def when it ended"


def test_the_shipped_weights_are_named_by_their_digest(monkeypatch, tmp_path):
    monkeypatch.setattr(report, "ROOT", tmp_path)
    (tmp_path / "dlm" / "checkpoints" / "small").mkdir(parents=True)
    (tmp_path / "dlm" / "checkpoints" / "small" / "model.safetensors").write_bytes(b"")
    assert report.shipped_checkpoint() == {"small": "e3b0c44298fc"}
    for number, text in ((2, b"c"), (1, b"ab")):
        name = f"model-0000{number}-of-00002.safetensors"
        (tmp_path / "dlm" / "checkpoints" / "small" / name).write_bytes(text)
    assert report.shipped_checkpoint() == {"small": "ba7816bf8f01"}
