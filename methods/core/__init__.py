"""Code that several methods share: the estimator base, the loop, proximal operators, graphs, linear algebra."""
