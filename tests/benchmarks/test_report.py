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
