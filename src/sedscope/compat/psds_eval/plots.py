"""Plots of the curves. They need matplotlib."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...errors import counted
from ..axes import draw_on_axes
from .results import PSDROC, PSDS, WORLD, PSDSEvalError, as_psds_eval_errors


def plot_psd_roc(
    psd: PSDS,
    en_std: bool = False,
    axes: Any = None,
    filename: str | Path | None = None,
    **kwargs: Any,
) -> None:
    """Draw a PSD-ROC and the area under it, into ``axes`` or into a new figure that is shown.

    ``en_std``: also draw the mean plus and minus the standard deviation. ``filename``: also save the
    figure there.
    """
    if not isinstance(psd, PSDS):
        raise PSDSEvalError(
            f"The psds data needs to be given as a PSDS object, not {type(psd).__name__}. Call psds()."
        )
    curve = psd.plt

    def draw(axes: Any) -> None:
        axes.vlines(psd.max_efpr, ymin=0, ymax=1, linestyles="dashed")
        axes.step(curve.xp, curve.yp, "b-", label="PSD-ROC", where="post")
        if en_std:
            for border in (np.maximum(curve.mean - curve.std, 0), curve.mean + curve.std):
                axes.step(curve.xp, border, "b--", where="post")
        axes.fill_between(curve.xp, curve.yp, label="AUC", alpha=0.3, color="tab:blue", step="post")
        axes.set(xlim=(0, psd.max_efpr), ylim=(0, 1), ylabel="eTPR")
        axes.set_xlabel(f"eFPR per {psd.duration_unit}")
        axes.set_title(
            f"PSDS: {psd.value:.5f}\nalpha_st: {psd.alpha_st:.2f}, alpha_ct: {psd.alpha_ct:.2f}, "
            f"max_efpr: {psd.max_efpr}"
        )
        axes.legend()
        axes.grid()

    with as_psds_eval_errors():
        draw_on_axes(draw, axes, filename, kwargs.get("figsize", (7, 7)))


def plot_per_class_psd_roc(
    psd: PSDROC,
    class_names: list[str],
    max_efpr: float | None = None,
    axes: Any = None,
    filename: str | Path | None = None,
    **kwargs: Any,
) -> None:
    """Draw the curve of each class and their mean.

    ``psd``: one of the results of ``psd_roc_curves``. The options are those of :func:`plot_psd_roc`, and
    ``xlim``, ``xlabel`` and ``title``.
    """
    if not isinstance(psd, PSDROC):
        raise PSDSEvalError(
            f"The psdroc data needs to be a PSDROC object, not {type(psd).__name__}. "
            "Call psd_roc_curves()."
        )
    classes = [name for name in class_names if name != WORLD]
    if len(classes) != len(psd.yp):
        raise PSDSEvalError(
            f"Num of class names doesn't match the expected: {len(classes)} for "
            f"{counted(len(psd.yp), 'curve')}."
        )

    def draw(axes: Any) -> None:
        for label, curve in zip(classes, psd.yp, strict=True):
            axes.step(psd.xp, curve, label=label, where="post")
        axes.step(psd.xp, psd.mean, "--", linewidth=2, label="mean_TPR", where="post")
        end = float(psd.xp.max()) if max_efpr is None else max_efpr
        axes.set(xlim=(0, kwargs.get("xlim", end)), ylim=(0, 1), ylabel="TPR")
        axes.set(xlabel=kwargs.get("xlabel", "(e)FPR"), title=kwargs.get("title", "Per-class PSDROC"))
        axes.legend()
        axes.grid()

    with as_psds_eval_errors():
        draw_on_axes(draw, axes, filename, kwargs.get("figsize", (7, 7)))
