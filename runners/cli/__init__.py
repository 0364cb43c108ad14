"""The edge of a command: its words, its help, and what it says at the end."""
