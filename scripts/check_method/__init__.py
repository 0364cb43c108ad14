"""Check that a method keeps the contract, and print what holds and what does not."""
