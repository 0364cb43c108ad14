"""``python -m scripts.audit --help``."""

import sys
from pathlib import Path

import hydra
from joblib import cpu_count

from scripts.audit import to_markdown
from scripts.audit.findings import make_audit
from scripts.core.conf import CONF


@hydra.main(version_base="1.3", config_path=str(CONF), config_name="audit")
def main(config):
    """Print the audit that `config` describes, or write it to a file."""
    if config.metric not in ("acc", "nmi"):
        sys.exit(f"metric={config.metric} must be acc or nmi.")
    if not isinstance(config.stability, int) or isinstance(config.stability, bool) or config.stability < 0:
        sys.exit(f"stability={config.stability} must be a whole number, 0 or more.")
    n_jobs = cpu_count() if config.n_jobs == -1 else config.n_jobs
    try:
        found = make_audit(config.results_dir, config.study, config.metric, config.data_dir, config.stability, n_jobs)
    except ValueError as error:
        sys.exit(f"error: {error}")
    text = to_markdown(found, config.study, config.metric)
    if config.output is None:
        print(text, end="")
        return
    path = Path(config.output)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    print(path)


if __name__ == "__main__":
    main()
