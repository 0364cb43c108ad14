"""``python -m scripts.audit --help``."""

from ufs_bench.scripts.audit import make_audit
from ufs_bench.scripts.audit.audit_page import audit_page
from ufs_bench.scripts.core.entry import command
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.core.text import deliver


@command("audit")
def main(options):
    """Print the audit that the options describe, or write it to a file."""
    study = Study.find(options["results_dir"], options["study"], options["data_dir"])
    found = make_audit(study, options["metric"])
    deliver(audit_page(found, study.title, options["metric"], options["full"]), options["output"])


if __name__ == "__main__":
    main()
