"""The results of a study, as `ufs_bench` hands them to Python."""

import inspect
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd

from ufs_bench.metrics.study import METRICS
from ufs_bench.runners.messages import counted, did_you_mean
from ufs_bench.scripts.core.given import check_options
from ufs_bench.scripts.core.study import Study as Stored
from ufs_bench.scripts.features import features_of
from ufs_bench.scripts.make_figure import FIGURES
from ufs_bench.scripts.make_table import study_table
from ufs_bench.scripts.make_table.formats import to_frame, to_latex, to_markdown
from ufs_bench.scripts.make_table.table import Table as Cells
from ufs_bench.scripts.rank.field import field_of, rank_study

__all__ = ["Study", "Table"]
Names = str | Sequence[str] | None


class Table:
    """A table of a study; printed, it has mean ± std (number of features), as ``python -m scripts.make_table`` has.

    Attributes
    ----------
    frame : DataFrame
        The means in percent, methods by data sets, with their printed names.
    cells : DataFrame
        One row per cell, among others with dataset, method, mean, std, n_selected, status and params.
    """

    def __init__(self, table: Cells) -> None:
        self._table, self.cells = table, table.cells[list(table.written)]
        values = [[table.cell(row, column)["mean"] for column in table.columns] for row in table.rows]
        rows = pd.Index(table.rows.values(), name="method")
        self.frame = pd.DataFrame(values, index=rows, columns=table.columns.values())

    def __repr__(self) -> str:
        return str(to_markdown(self._table, notes="short"))

    def _repr_html_(self) -> str:
        return str(to_frame(self._table).to_html())


class Study:
    """The results that are stored under the name of a study.

    Attributes
    ----------
    name : str
        The name.
    trials : DataFrame
        One row per fit, with the columns of docs/shipped.md that belong to it, and sizes.
    """

    def __init__(self, stored: Stored) -> None:
        self._stored = stored
        self.name: str = stored.name
        self.trials: pd.DataFrame = stored.trials

    def table(
        self, metric: str | None = None, selection: str = "best_over_grid", rows: Names = None, columns: Names = None
    ) -> Table:
        """Return the scores in percent, methods by data sets.

        Parameters
        ----------
        metric : str, optional
            "acc" by default; without labels the first measure that needs none.
        selection : str, default="best_over_grid"
            How parameters and size are chosen, as in ``python -m scripts.make_table``.
        rows, columns : list of str, optional
            Methods and data sets; all by default.
        """
        return Table(self._table(metric, selection, rows, columns))

    def to_latex(
        self,
        metric: str | None = None,
        selection: str = "best_over_grid",
        rows: Names = None,
        columns: Names = None,
        title: str | None = None,
    ) -> str:
        """Return the table that `python -m scripts.make_table study=... format=latex` prints."""
        return str(to_latex(self._table(metric, selection, rows, columns, title)))

    def plot(
        self,
        figure: str = "acc_vs_size",
        dataset: Names = None,
        *,
        methods: Names = None,
        metric: Names = None,
        clusterer: str | None = None,
        selection: str | None = None,
        size: int | None = None,
        variants: str | None = None,
        partial: bool | None = None,
        test: str | None = None,
        alpha: float | None = None,
        method: str | None = None,
        parameters: Names = None,
        others: str | Mapping[str, Any] | None = None,
        grid: Mapping[str, Sequence[Any]] | None = None,
        samples: Sequence[int] | None = None,
        width: float | None = None,
    ) -> Any:
        """Return a matplotlib figure.

        Parameters
        ----------
        figure : str, default="acc_vs_size"
            A name of `scripts.make_figure.FIGURES`.
        dataset : str or list of str, optional
            By default the only one of the study, or all where a figure has several: gains and critical_difference.
        methods, metric, clusterer, selection, size, ... : optional
            Those that the function of this figure has; by default as there.

        Raises
        ------
        ValueError
            For an option that the figure does not have, with the names of those that it has.
        """
        options = {name: value for name, value in locals().items() if value is not None}
        del options["self"], options["figure"]
        if figure not in FIGURES:
            raise ValueError(f"figure={figure!r} must be one of {', '.join(FIGURES)}.{did_you_mean(figure, FIGURES)}")
        there, parameter = self.trials["dataset"].unique(), inspect.signature(FIGURES[figure]).parameters["dataset"]
        if dataset is None and parameter.default is parameter.empty:
            if len(there) > 1:
                raise ValueError(f"dataset=None must be one of {', '.join(there)} for {figure}.")
            options["dataset"] = there[0]
        check_options(f"figure={figure!r}", FIGURES[figure], options)
        return FIGURES[figure](self._stored, **options)

    def ranks(
        self,
        metric: str = "acc",
        selection: str = "best_over_grid",
        clusterer: str = "kmeans",
        methods: Names = None,
        datasets: Names = None,
        variants: str = "base",
        partial: bool = False,
        drop: bool = False,
    ) -> pd.DataFrame:
        """Return the average rank of each method over the data sets, with its interval, as `python -m scripts.rank`.

        Parameters
        ----------
        metric, selection, clusterer : str
            The scores that are ranked.
        methods, datasets : list of str, optional
            By default one data set of each source, and the methods that `variants` leaves.
        variants : {"base", "all"}, default="base"
            One variant of each method, or all.
        partial : bool, default=False
            Accept cells in which some grid points or sizes are missing.
        drop : bool, default=False
            Leave out methods that lack a cell, instead of a ValueError that names the cells.
        """
        field = field_of(
            self._stored, metric, selection, clusterer, _listed(methods), _listed(datasets), variants, partial, drop
        )
        return rank_study(field).table

    def features(
        self,
        dataset: str | None = None,
        methods: Names = None,
        metric: str = "acc",
        selection: str = "default_params",
        size: int | None = None,
    ) -> pd.DataFrame:
        """Return the features that methods select, best first: method, n_selected, rank, number and name.

        Parameters
        ----------
        dataset : str, optional
            By default the only one of the study.
        methods : list of str, optional
            By default all that have a selection of this size.
        metric, selection : str
            How the parameters are chosen, for every size.
        size : int, optional
            The number of features; by default one that most methods have.
        """
        found: pd.DataFrame = features_of(self._stored, dataset, methods, metric, selection, size)
        return found

    @property
    def frame(self) -> pd.DataFrame:
        """The tidy frame, one row per feature set, with the columns of docs/shipped.md."""
        whole: pd.DataFrame = self._stored.whole
        return whole

    @property
    def scores(self) -> pd.DataFrame:
        """One row per K-means restart of a feature set: trial, dataset, method, n_selected, clusterer, acc and nmi."""
        rows = self.frame[self.frame["acc"].notna()]
        names = ["trial", "dataset", "method", "n_selected", "clusterer"]
        scores = rows.loc[rows.index.repeat(rows["n_restarts"]), names]
        shares = (acc / n for acc, n in zip(rows["acc"], rows["n_samples"], strict=True))
        scores = scores.assign(acc=np.concatenate([[], *shares]), nmi=np.concatenate([[], *rows["nmi"]]))
        scores.insert(5, "restart", [restart for n in rows["n_restarts"] for restart in range(n)])
        return scores.reset_index(drop=True)

    def to_parquet(self, path: str | PathLike[str]) -> None:
        """Write the frame as a file of Parquet."""
        self.frame.to_parquet(path, index=False)

    def __repr__(self) -> str:
        return f"{self._stored.origin()} {counted(len(self.trials), 'trial')}."

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()

    def _table(
        self, metric: str | None, selection: str, rows: Names, columns: Names, title: str | None = None
    ) -> Cells:
        if metric not in (None, *(metrics := [*METRICS, "seconds"])):
            raise ValueError(f"metric={metric!r} must be one of {', '.join(metrics)}.{did_you_mean(metric, metrics)}")
        parts = {"rows": _listed(rows), "columns": _listed(columns), "title": title}
        table: Cells = study_table(self._stored, selection, metric, **parts)
        return table


def _listed(names: Names) -> list[str] | None:
    found = names if names is None else [names] if isinstance(names, str) else list(names)
    if found == []:
        raise ValueError("[] names nothing: leave it out, or name one or more.")
    return found
