import dataclasses

from syncscope.cli.main import main
from syncscope.observe import planted


def test_a_sound_installation_is_told_so(capsys):
    assert main(["doctor", "--device", "sim"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert f"The probe saw all {len(planted.PLANTS)} plants as they are, and nothing else." in out
    assert "device sim, torch" in out
    assert "WRONG" not in out


def test_a_probe_that_misses_a_read_is_a_finding_and_names_the_spelling(capsys, monkeypatch):
    blind = dataclasses.replace(planted.PLANTS[0], code=lambda values: None)
    monkeypatch.setattr(planted, "PLANTS", (blind, *planted.PLANTS[1:]))
    assert main(["doctor", "--device", "sim"]) == 1
    out = " ".join(capsys.readouterr().out.split())
    assert f"The probe was wrong about 1 of {len(planted.PLANTS)} plants: t.item()." in out
    assert "Don't trust counts made on this installation" in out


def test_a_probe_that_sees_a_read_in_a_clean_function_is_a_finding(capsys, monkeypatch):
    noisy = dataclasses.replace(planted.PLANTS[-1], code=lambda values: values.number.item())
    monkeypatch.setattr(planted, "PLANTS", (*planted.PLANTS[:-1], noisy))
    assert main(["doctor", "--device", "sim"]) == 1
    assert "a clean function" in capsys.readouterr().out


def test_a_plant_that_raises_is_a_finding_with_its_error(capsys, monkeypatch):
    broken = dataclasses.replace(planted.PLANTS[0], code=lambda values: 1 / 0)
    monkeypatch.setattr(planted, "PLANTS", (broken, *planted.PLANTS[1:]))
    assert main(["doctor", "--device", "sim"]) == 1
    assert "ZeroDivisionError" in capsys.readouterr().out
