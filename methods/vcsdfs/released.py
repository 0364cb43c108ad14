"""VCSDFS as its released program computes it: a hundred multiplicative steps from a random start."""

import numpy as np

from ufs_bench.methods.vcsdfs import paper

patience = 1
change = None  # the default of `iterate`: the relative change of the objective


class Problem(paper.Problem):
    """The program's sweep: W times the fourth root of the negative over the positive part of the gradient."""

    def sweep(self, state):
        W, RW, sums = state.W, self.R @ state.W, state.W.sum(axis=0)
        B = self.R.T @ RW
        with np.errstate(all="ignore"):  # a value that is no number ends the loop
            ratio = (self.R.T @ (self.squares[:, None] * RW) + self.rho * W) / (B @ (RW.T @ RW) + self.rho * sums)
            return self.state(W * np.sign(ratio) * np.abs(ratio) ** 0.25)  # the real "root" of a negative number
