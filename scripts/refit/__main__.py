"""``python -m scripts.refit --help``."""

from ufs_bench.runners.store.reference import PREFIX, shipped_studies
from ufs_bench.scripts.core.entry import command, refuse_unused
from ufs_bench.scripts.core.study import Study

UNUSED = {
    "again": "seeds restarts",
    "seeds": "fits longest seed sensitive restarts",
    "restarts": "fits longest seed sensitive seeds",
}


@command("refit")
def main(options):
    """Fit or score again what the options describe."""
    # Each part is imported here, as it needs what the others do not.
    what, given = options["what"], options["study"]
    refuse_unused("refit", options, UNUSED[what], f"what={what}")
    names = [PREFIX + name for name in shipped_studies()] if given == PREFIX.rstrip("/") else [given]
    methods, datasets, n_jobs = options["methods"], options["datasets"], options["n_jobs"]
    problems, parts = [], []
    for name in names:
        where = options["results_dir"], name, options["data_dir"]
        study = Study.find(*where)
        if study.taken:  # your own fits stand alone
            study = Study.open(*where)
        trials = study.filled().trials
        if what == "again":
            parts.append(study.part(methods or trials["method"], datasets or trials["dataset"]))
            continue
        if what == "seeds":
            from ufs_bench.scripts.refit.seeds import fit_seeds

            said = fit_seeds(study, methods, datasets, options["seeds"], n_jobs)
        else:
            from ufs_bench.scripts.refit.restarts import score_again

            said = score_again(study, methods, datasets, options["restarts"], n_jobs)
        problems += [f"{name}: {text}" for text in said]
    if parts:
        from ufs_bench.scripts.refit.again import answer

        return answer(parts, options)
    if problems:
        raise ValueError("\n  ".join(["not all could be done:", *problems]))


if __name__ == "__main__":
    main()
