"""The content of a configuration: methods, trials, the cells of a sweep, what a cell lacks, and its run."""
