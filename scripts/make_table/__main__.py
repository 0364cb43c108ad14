"""``python -m scripts.make_table --help``."""

from dataclasses import replace

from ufs_bench.metrics.study import METRICS
from ufs_bench.scripts.core.command_lines import check_stored, no_results, of_experiment, with_commands
from ufs_bench.scripts.core.conf import find
from ufs_bench.scripts.core.entry import command
from ufs_bench.scripts.core.papers import read_table
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.core.text import deliver
from ufs_bench.scripts.make_table import make_table, printed_methods, study_table
from ufs_bench.scripts.make_table.formats import to_csv, to_latex, to_markdown

USUAL = "dgufs_table2"  # without a table and a study


@command("make_table")
def main(options):
    """Print the table that the options describe, or write it to a file."""
    name, variants = options["study"], options["variants"]
    given = {key: options[key] for key in ("rows", "columns", "title") if options[key] is not None}
    spec = read_table(options["table"] or USUAL)
    study = Study.find(options["results_dir"], name or spec.study)
    if name is not None and options["table"] is None:
        if study.trials.empty:
            lines = [of_experiment(name, study)] if find("experiment", name) else []
            raise ValueError(with_commands(no_results(study), lines))
        table = study_table(study, options["selection"], options["metric"], variants in (None, True), **given)
    else:
        if name not in (None, spec.study):
            check_stored(study)
        spec = _changed(spec, options["metric"], given)
        variants = spec.paper is None if variants is None else variants
        spec = spec if variants or "rows" in given else printed_methods(spec)
        table = make_table(spec, study, options["selection"], variants)
    form, notes = options["format"], options["notes"]
    if form == "csv":
        text = to_csv(table)
    else:
        text = to_latex(table, notes) if form == "latex" else to_markdown(table, options["width"], notes)
    deliver(text, options["output"])


def _changed(spec, metric, given):
    """Return the specification of a table with what the command line says in its place."""
    if metric in (None, spec.metric):
        return replace(spec, **given)
    if spec.metric == "shape":
        raise ValueError(f"table={spec.name} is one of shapes, so that metric={metric} would have no effect.")
    return replace(spec, **{"title": f"{spec.title} (here: {METRICS.get(metric, metric)})", "metric": metric} | given)


if __name__ == "__main__":
    main()
