"""Plots. They need matplotlib."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from ....errors import SedscopeError
from ...axes import draw_on_axes, draw_psd_roc


def plot_psd_roc(
    psd_roc: tuple[Any, Any],
    *,
    dtc_threshold: float,
    gtc_threshold: float,
    cttc_threshold: float | None,
    alpha_ct: float,
    alpha_st: float,
    unit_of_time: str,
    max_efpr: float,
    psds: float,
    axes: Any = None,
    filename: str | Path | None = None,
    **kwargs: Any,
) -> None:
    """Draw a PSD-ROC ``(etpr, efpr)`` and the area under it, into ``axes`` or into a new figure that is
    shown. ``filename``: also save the figure there. ``figsize``: the size of the new figure."""
    if not isinstance(psd_roc, tuple) or len(psd_roc) != 2:
        raise SedscopeError("A PSD-ROC must be a tuple of true and false positive rates.")
    cttc = "na" if cttc_threshold is None else f"{cttc_threshold:.2f}"
    title = (
        f"PSDS: {psds:.5f}\ndtc: {dtc_threshold:.2f}, gtc: {gtc_threshold:.2f}, cttc: {cttc}, "
        f"alpha_st: {alpha_st:.2f}, alpha_ct: {alpha_ct:.2f}, max_efpr: {max_efpr}"
    )
    draw = partial(draw_psd_roc, *psd_roc, max_efpr, unit_of_time, title, ())
    draw_on_axes(draw, axes, filename, kwargs.get("figsize", (7, 7)))
