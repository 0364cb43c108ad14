"""What the papers claim beside their tables, each with numbers that it could have failed against."""

from scripts.claims import complexity, dgufs, jgufs, kmeans_ufs, rufs, ufsol

CLAIMS = [*rufs.CLAIMS, *ufsol.CLAIMS, *dgufs.CLAIMS, *jgufs.CLAIMS, *kmeans_ufs.CLAIMS, *complexity.CLAIMS]
