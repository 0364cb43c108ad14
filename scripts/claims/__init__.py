"""The papers' claims beside their tables, each with numbers that could have refuted it."""

from scripts.claims import complexity, dgufs, jgufs, kmeans_ufs, rufs, ufsol

CLAIMS = [*rufs.CLAIMS, *ufsol.CLAIMS, *dgufs.CLAIMS, *jgufs.CLAIMS, *kmeans_ufs.CLAIMS, *complexity.CLAIMS]
