"""docs/claims.md shows the verdicts that are stored, and sums them up."""

import pandas as pd
from pages import words_of

from ufs_bench.runners.papers import PAPERS
from ufs_bench.scripts.core.conf import ROOT

CLAIMS = pd.read_csv(ROOT / "results/claims_measured.csv", keep_default_na=False)


def test_the_table_of_claims_is_what_is_stored():
    lines = (ROOT / "docs/claims.md").read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| `")]
    stored = CLAIMS[["claim", "says", "where", "verdict", "rows_borne_out"]].assign(claim="`" + CLAIMS["claim"] + "`")
    assert rows == stored.to_numpy().tolist()


def test_the_verdicts_are_summed_up_above_the_table():
    counts, said = CLAIMS["verdict"].value_counts(), words_of("docs/claims.md")
    assert f"Of {len(CLAIMS)} claims {len(CLAIMS) - counts['cannot be tested here']} could be tested" in said
    assert f"{counts['borne out']} are borne out by every variant" in said
    assert f"{counts['in part']} in part, and {counts['not borne out']} by none" in said


def test_every_claim_that_could_be_tested_has_numbers_and_belongs_to_a_paper():
    numbers = set(pd.read_csv(ROOT / "results/published_claims.csv")["claim"])
    untested = set(CLAIMS.loc[CLAIMS["verdict"] == "cannot be tested here", "claim"])
    assert numbers <= set(CLAIMS["claim"]) and set(CLAIMS["claim"]) - numbers <= untested
    assert set(CLAIMS["paper"]) == set(PAPERS)
