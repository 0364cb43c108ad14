"""``python -m scripts.audit --help``."""

import sys

import hydra
from joblib import cpu_count

from scripts.audit import make_audit
from scripts.audit.page import audit_page
from scripts.core.conf import CONF
from scripts.core.study import Study
from scripts.core.text import deliver


@hydra.main(version_base="1.3", config_path=str(CONF), config_name="audit")
def main(config):
    """Print the audit that `config` describes, or write it to a file."""
    if config.metric not in ("acc", "nmi"):
        sys.exit(f"metric={config.metric} must be acc or nmi.")
    if not isinstance(config.stability, int) or isinstance(config.stability, bool) or config.stability < 0:
        sys.exit(f"stability={config.stability} must be a whole number, 0 or more.")
    n_jobs = cpu_count() if config.n_jobs == -1 else config.n_jobs
    try:
        study = Study.open(config.results_dir, config.study, config.data_dir)
        found = make_audit(study, config.metric, config.stability, n_jobs)
    except ValueError as error:
        sys.exit(f"error: {error}")
    text = audit_page(found, config.study, config.metric)
    deliver(text, config.output)


if __name__ == "__main__":
    main()
