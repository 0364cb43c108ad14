"""Methods over the data sets of a study, by their gains and their ranks: ``python -m scripts.rank --help``."""
