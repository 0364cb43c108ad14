"""What a configuration asks for: methods, trials, the cells of a sweep, what a cell lacks, and its run."""
