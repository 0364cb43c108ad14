"""What is stored, and what it belongs to: the files of a cell, the tidy frame, shipped studies, and identities."""
