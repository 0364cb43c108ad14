"""Make the pages of methods, data sets and the leaderboard, and set formulas, for docs/conf.py."""
