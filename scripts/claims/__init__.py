"""The papers' claims beside their tables, each with numbers that could have refuted it."""

from scripts.claims import complexity, dgufs, dgufs_pixels, jgufs, kmeans_ufs, metrics, rufs, ufsol

CLAIMS = [
    *rufs.CLAIMS,
    *ufsol.CLAIMS,
    *dgufs.CLAIMS,
    *dgufs_pixels.CLAIMS,
    *jgufs.CLAIMS,
    *kmeans_ufs.CLAIMS,
    *complexity.CLAIMS,
    *metrics.CLAIMS,
]
