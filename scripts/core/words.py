"""The words that several commands have for the state of a cell or a fit."""

COMPLETE, PARTIAL, FAILED, NOT_RUN = "complete", "partial", "failed", "not run"
POOR = ("collapsed", "diverged")  # fits that learned nothing
