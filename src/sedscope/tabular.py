"""Bases of everything that can be shown as tables; what writes them is loaded when it is first used."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Protocol, TypeVar

from .errors import SedscopeError, counted, look_up

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes
    from pandas import DataFrame as PandasFrame
    from polars import DataFrame as PolarsFrame

    from .metrics.metric import MetricResult
    from .results.frames import Column
    from .results.text import Form, Intervals, Part, Records


class Tabular(ABC):
    """Anything that can become a data frame."""

    @abstractmethod
    def to_polars(self) -> PolarsFrame:
        """Return a polars data frame. Values that are not defined are null.

        Returns
        -------
        polars.DataFrame
        """

    def to_pandas(self) -> PandasFrame:
        """Return what :meth:`to_polars` returns as a pandas data frame, with NaN in place of null.

        Returns
        -------
        pandas.DataFrame

        Examples
        --------
        >>> import sedscope as sed
        >>> sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}).to_pandas()["event_label"].tolist()
        ['Dog']
        """
        try:
            import pandas
        except ImportError:
            raise SedscopeError(
                "to_pandas needs pandas. Install it with: pip install pandas. to_polars works without it."
            ) from None
        frame = self.to_polars()  # its own to_pandas would need pyarrow as well
        return pandas.DataFrame({name: frame[name].to_numpy() for name in frame.columns})


class TabularResult(Tabular):
    """Base of the results: tables to read, and records with one value in a row."""

    _json_indent: ClassVar[int] = 2

    @abstractmethod
    def _parts(self, form: Form, digits: int = 4) -> list[Part]:
        """Return the tables and the lines between them, in the order in which ``form`` shows them."""

    @abstractmethod
    def _records(self) -> Records:
        """Return the columns, each with the type of its cells, and the rows. None where nothing applies."""

    def _values(self) -> dict[str, Any]:
        """Return everything as plain values, by name. They may be NaN."""
        columns, rows = self._records()
        return {"rows": [dict(zip(columns, row, strict=True)) for row in rows]}

    def _repr_html_(self) -> str:
        from .results.frames import html_parts

        return html_parts(self._parts("html"))

    def table(self) -> str:
        """Return a readable table, with a legend below.

        Returns
        -------
        str

        Examples
        --------
        >>> import sedscope as sed
        >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
        >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
        >>> result = sed.evaluate(scores, truth, sed.BestFScore(sed.Collar()))
        >>> print(result.table())  # doctest: +ELLIPSIS
        class    references  best_collar_f1
        ───────────────────────────────────
        Dog               1          1.0000
        ───────────────────────────────────
        overall           1          1.0000
        <BLANKLINE>
        best_collar_f1: BestFScore(Collar(onset=0.2, offset=0.2, offset_rate=0.2), beta=1, average='macro')
        sedscope ... best_collar_f1#8fcc clips=1#8742 classes=1#f517 truth#c8d8 scores#b80f
        """
        from .results.text import text_of

        return text_of(self._parts("text"))

    def to_markdown(self, path: str | Path | None = None) -> str:
        """Return the tables as Markdown, and write them to ``path`` if it is given.

        Parameters
        ----------
        path : str or Path, optional
            A file to write the text to as well.

        Returns
        -------
        str

        Examples
        --------
        >>> import sedscope as sed
        >>> truth = sed.simulate.ground_truth(30)
        >>> sed.evaluate(sed.simulate.scores(truth), truth, "psds1").to_markdown().splitlines()[0]
        '| class | references | psds1 |'
        """
        from .results.text import markdown_of, written

        return written(markdown_of(self._parts("markdown")), path)

    def to_latex(
        self,
        path: str | Path | None = None,
        *,
        classes: Literal["rows", "columns"] = "rows",
        digits: int = 3,
        caption: str | None = None,
        label: str | None = None,
        intervals: Intervals = "beside",
        columns: Sequence[str] | None = None,
    ) -> str:
        r"""Return the tables as LaTeX, and write them to ``path`` if it is given.

        They need the package ``booktabs``. The best of several systems is in bold. Without a caption, what
        the columns mean stands in comments. Formulas in the names of metrics are kept: evaluate
        ``{r"$\mathrm{PSDS}_1$": "psds1"}``.

        Parameters
        ----------
        path : str or Path, optional
            A file to write the text to as well.
        classes : {"rows", "columns"}, default "rows"
            Whether each class is a row or a column, in tables of classes.
        digits : int, default 3
            The number of decimals.
        caption : str, optional
            The caption, as LaTeX. Each table then is a ``table`` that floats, and what its columns mean
            stands below it as notes; this needs the package ``threeparttable``.
        label : str, optional
            The label of the first table, such as ``"tab:psds"``. The second one gets ``"tab:psds-2"``. So
            does a ``\label`` in the caption.
        intervals : {"beside", "below", "column"}, default "beside"
            Where an interval stands: beside its value, below it, or in a column of its own.
        columns : sequence of str, optional
            The columns after the names of the rows, in order, such as ``["psds1"]``. By default, all.

        Returns
        -------
        str

        Examples
        --------
        >>> import sedscope as sed
        >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
        >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
        >>> result = sed.evaluate(scores, truth, ["psds1", "map"])
        >>> print(result.to_latex(classes="columns"))  # doctest: +ELLIPSIS
        % psds1: PSDS(Intersection(dtc=0.7, gtc=0.7), alpha_ct=0, alpha_st=1, max_efpr=100, unit='hour')
        % map: AveragePrecision(Clip(aggregation='max'), average='macro')
        % sedscope ... psds1#c0ca map#0f23 clips=1#8742 classes=1#f517 truth#c8d8 scores#b80f
        \begin{tabular}{lrr}
        \toprule
        class & Dog & overall \\
        \midrule
        references & 1 & 1 \\
        psds1 & 1.000 & 1.000 \\
        map & 1.000 & 1.000 \\
        \bottomrule
        \end{tabular}
        <BLANKLINE>
        """
        from .results.text import LatexForm, latex_of, written

        form = LatexForm(classes, caption, label, intervals, columns)
        return written(latex_of(self._parts("latex", digits), form), path)

    def to_csv(self, path: str | Path | None = None) -> str:
        """Return the rows of :meth:`to_polars` as CSV, and write them to ``path`` if it is given.

        Numbers have all their digits. An apostrophe precedes names that a spreadsheet could execute as a
        formula, such as ``=1+1``.

        Parameters
        ----------
        path : str or Path, optional
            A file to write the text to as well.

        Returns
        -------
        str

        Examples
        --------
        >>> import sedscope as sed
        >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
        >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
        >>> print(sed.evaluate(scores, truth, {"f1": sed.FScore(sed.Clip())}).to_csv())
        metric,class,references,value,low,high,threshold,definition
        f1,,1,1.0,,,,"FScore(Clip(aggregation='max'), threshold=0.5, beta=1, average='macro')"
        f1,Dog,1,1.0,,,0.5,"FScore(Clip(aggregation='max'), threshold=0.5, beta=1, average='macro')"
        <BLANKLINE>
        """
        from .results.text import csv_of, written

        return written(csv_of(self._records()), path)

    def to_dict(self) -> dict[str, Any]:
        """Return what :meth:`to_json` writes. Values that are not defined are None.

        Returns
        -------
        dict

        Examples
        --------
        >>> import sedscope as sed
        >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
        >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
        >>> result = sed.evaluate(scores, truth, sed.BestFScore(sed.Collar()))
        >>> result.to_dict()["metrics"][0]["per_class"]
        {'Dog': 1.0}
        """
        from . import __version__
        from .results.text import plain

        return {"sedscope": __version__, **plain(self._values())}

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the result as JSON, and write it to ``path`` if it is given.

        Parameters
        ----------
        path : str or Path, optional
            A file to write the text to as well.

        Returns
        -------
        str

        Examples
        --------
        >>> import sedscope as sed
        >>> truth = sed.simulate.ground_truth(30)
        >>> '"clips": 30' in sed.evaluate(sed.simulate.scores(truth), truth, "psds1").to_json()
        True
        """
        from .escaping import json_text
        from .results.text import written

        return written(f"{json_text(self.to_dict(), indent=self._json_indent)}\n", path)

    def to_polars(self) -> PolarsFrame:
        """Return a polars data frame with one value in each row; see the class for its columns.

        Where nothing applies, or a value is not defined, a cell is null.

        Returns
        -------
        polars.DataFrame

        Examples
        --------
        >>> import sedscope as sed
        >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
        >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
        >>> result = sed.evaluate(scores, truth, sed.FScore(sed.Collar()))
        >>> result.to_polars().select("class", "value", "threshold").rows()
        [(None, 1.0, None), ('Dog', 1.0, 0.5)]
        """
        from .results.frames import frame_of

        return frame_of(self._records())


class CurveTable(Tabular):
    """Base of the curves. Each has a row per operating point."""

    _drawing: ClassVar[str]
    """The function of :mod:`sedscope.plots.curves` that draws the curve."""

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw the curve with matplotlib, on ``ax`` or on new axes, and return the axes.

        ``options`` go to matplotlib, e.g. ``label=`` or ``color=``.
        """
        from .plots import curves

        return getattr(curves, self._drawing)(self, ax, options)

    @abstractmethod
    def _columns(self) -> dict[str, Column]:
        """Return the columns of the data frame, by name."""

    def to_polars(self) -> PolarsFrame:
        """Return a polars data frame with a row per operating point."""
        from .results.frames import polars_frame

        return polars_frame(self._columns())

    def __repr__(self) -> str:
        number = len(next(iter(self._columns().values())))
        return f"<{type(self).__name__}: {counted(number, 'operating point')}>"

    def _repr_html_(self) -> str:
        from .results.frames import html_points

        return html_points(type(self).__name__, self._columns())


PerClass = TypeVar("PerClass", covariant=True)


class _HasClasses(Protocol[PerClass]):
    @property
    def per_class(self) -> Mapping[str, PerClass]: ...


class ResultTable(TabularResult, Generic[PerClass]):
    """Base of the results of metrics: ``result["Dog"]`` is that of a class, ``per_class`` has all."""

    def __getitem__(self: _HasClasses[PerClass], label: str) -> PerClass:
        return look_up(self.per_class, label, "class")

    def __repr__(self: MetricResult) -> str:
        return f"<{type(self).__name__}: {self.value:.4f}, {counted(len(self.per_class), 'class')}>"

    def _parts(self: MetricResult, form: Form, digits: int = 4) -> list[Part]:
        from .results.text import Table, number_or_blank

        thresholds = self.thresholds
        columns = 3 if thresholds else 2
        rows = [
            [label, f"{result.value:.{digits}f}", number_or_blank(thresholds.get(label), ".4g")][
                :columns
            ]
            for label, result in self.per_class.items()
        ]
        last = ["overall", f"{self.value:.{digits}f}", ""][:columns]
        title = repr(self) if form == "html" else ""
        header = ["class", "value", "threshold"][:columns]
        return [Table(header, rows, last, title=title, by_class=True)]

    def _records(self: MetricResult) -> Records:
        rows = [
            (label, result.value, self.thresholds.get(label)) for label, result in self.per_class.items()
        ]
        columns = {"class": str, "value": float, "threshold": float}
        return columns, [(None, self.value, None), *rows]
