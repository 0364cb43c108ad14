"""The first attempt of the K-means UFS paper, a quadratic ADMM: (12) with the updates (22), (24), (26), (17)-(19)."""

import numpy as np

from methods.core.linalg import principal_axes
from methods.kmeans_ufs.admm import leading_basis

MU0_ABOVE, RHO = 0.1, 1.05  # the paper's mu0 = lambda_1(A) + 0.1 and rho = 1.05


def quadratic_admm(Z, n_clusters, size, sweeps):
    """Return ||V||_F at the start and after every sweep, and the features that W keeps at the end."""
    _, loadings = principal_axes(Z, n_clusters)  # A = loadings @ loadings.T
    eigenvalues = np.einsum("jk,jk->k", loadings, loadings)
    axes = loadings / np.sqrt(eigenvalues)
    order = np.argsort(-np.einsum("jk,jk->j", loadings, loadings), kind="stable")[:size]
    V = U = W = leading_basis(Z, order)
    kept = order
    omega, gamma = np.zeros_like(V), np.zeros_like(V)
    mu, norms = eigenvalues.max() + MU0_ABOVE, [np.linalg.norm(V)]
    for _ in range(sweeps):
        both = (U - omega / mu) + (W - gamma / mu)
        V = update_v(both, axes, eigenvalues, mu)
        left, _, right = np.linalg.svd(V + omega / mu, full_matrices=False)
        U = left @ right
        F = V + gamma / mu
        kept = np.argsort(-np.einsum("ij,ij->i", F, F), kind="stable")[:size]
        W = np.zeros_like(F)
        W[kept] = F[kept]
        omega, gamma, mu = omega + mu * (V - U), gamma + mu * (V - W), mu * RHO
        norms.append(np.linalg.norm(V))
    return np.array(norms), kept


def update_v(both, axes, eigenvalues, mu):
    """Return ``mu (mu I - A)^-1 both / 2`` (22) for A = axes diag(eigenvalues) axes', without a matrix inverse."""
    return (both + axes @ ((eigenvalues / (mu - eigenvalues))[:, None] * (axes.T @ both))) / 2
