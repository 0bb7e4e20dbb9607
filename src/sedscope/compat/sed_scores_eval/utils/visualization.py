"""Plots. They need matplotlib."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ....errors import SedscopeError


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
    etpr, efpr = psd_roc

    def draw(axes: Any) -> None:
        axes.vlines(max_efpr, ymin=0, ymax=1, linestyles="dashed")
        axes.step(efpr, etpr, "b-", label="PSD-ROC", where="post")
        axes.fill_between(efpr, etpr, label="AUC", alpha=0.3, color="tab:blue", step="post")
        axes.set(xlim=(0, max_efpr), ylim=(0, 1), xlabel=f"eFPR per {unit_of_time}", ylabel="eTPR")
        axes.set_title(
            f"PSDS: {psds:.5f}\ndtc: {dtc_threshold:.2f}, gtc: {gtc_threshold:.2f}, cttc: {cttc}, "
            f"alpha_st: {alpha_st:.2f}, alpha_ct: {alpha_ct:.2f}, max_efpr: {max_efpr}"
        )
        axes.legend()
        axes.grid()

    from ...axes import draw_on_axes

    draw_on_axes(draw, axes, filename, kwargs.get("figsize", (7, 7)))
