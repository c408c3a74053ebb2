"""``torch.cuda.tunable``: what is set is told again; nothing is tuned where no kernel runs.

The defaults are PyTorch's (aten/src/ATen/cuda/tunable/Tunable.cpp, TuningContext).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

_L2_BYTES = 52428800
_DEFAULTS: dict[str, Any] = {
    "enabled": False,
    "tunes": True,
    "records": False,
    "duration": 30,
    "iterations": 100,
    "filename": "",
    "buffer": _L2_BYTES,
}
_settings = _DEFAULTS.copy()


def _told(name: str) -> Callable[[], Any]:
    return lambda: _settings[name]


def _kept(name: str, least: int | None = None) -> Callable[[Any], None]:
    def keep(value: Any) -> None:
        _settings[name] = value if least is None else max(value, least)

    return keep


def _set_filename(filename: str, insert_device_ordinal: bool = False) -> None:
    stem, dot, extension = filename.rpartition(".")
    if insert_device_ordinal:
        filename = f"{stem}0{dot}{extension}" if dot else f"{filename}0"
    _settings["filename"] = filename


def _set_buffer(megabytes: int) -> None:
    _settings["buffer"] = _L2_BYTES if megabytes < 0 else megabytes * 1024 * 1024


def show() -> Callable[[], Any]:
    """Start with PyTorch's defaults; the function returned goes back to them."""
    return lambda: _settings.update(_DEFAULTS)


ANSWERS: dict[str, Callable[..., Any]] = {
    "_cuda_tunableop_enable": _kept("enabled"),
    "_cuda_tunableop_is_enabled": _told("enabled"),
    "_cuda_tunableop_tuning_enable": _kept("tunes"),
    "_cuda_tunableop_tuning_is_enabled": _told("tunes"),
    "_cuda_record_untuned_enable": _kept("records"),
    "_cuda_record_untuned_is_enabled": _told("records"),
    "_cuda_tunableop_set_max_tuning_duration": _kept("duration", least=0),
    "_cuda_tunableop_get_max_tuning_duration": _told("duration"),
    "_cuda_tunableop_set_max_tuning_iterations": _kept("iterations", least=0),
    "_cuda_tunableop_get_max_tuning_iterations": _told("iterations"),
    "_cuda_tunableop_set_filename": _set_filename,
    "_cuda_tunableop_get_filename": _told("filename"),
    "_cuda_tunableop_set_rotating_buffer_size": _set_buffer,
    "_cuda_tunableop_get_rotating_buffer_size": _told("buffer"),
    "_cuda_tunableop_set_numerical_check_tolerances": lambda enable, atol=1e-5, rtol=1e-5: None,
    "_cuda_tunableop_get_results": lambda: (),
    "_cuda_tunableop_get_validators": lambda: (("PT_VERSION", torch.__version__.partition("+")[0]),),
    "_cuda_tunableop_read_file": lambda filename: False,
}
