"""Texts as several commands write them."""

from pathlib import Path

import pandas as pd


def deliver(text, output=None):
    """Write a text to a file and print where it is, or print the text itself.

    Parameters
    ----------
    text : str
    output : path, optional
        Its folder is made; the terminal by default.
    """
    if output is None:
        print(text, end="")
        return
    path = Path(output)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    print(path)


def pipes(lines):
    """A Markdown table of texts, the first line being its head, in columns of one width."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    head, *body = ["| " + " | ".join(map(str.ljust, line, widths)) + " |" for line in lines]
    return "\n".join([head, "|" + "|".join("-" * (width + 2) for width in widths) + "|", *body])


def mean_std(mean, std, sign="±"):
    """A mean and its spread as text, with one decimal; "" where there is no mean."""
    return "" if pd.isna(mean) else f"{mean:.1f}{spread(std, sign)}"


def spread(std, sign="±", decimals=1):
    """A std behind a mean; "" where there is none."""
    return "" if pd.isna(std) else f"{sign}{std:.{decimals}f}"


def percent(values, sign="±"):
    """Mean and std (ddof=1) of fractions, in percent."""
    return mean_std(100 * values.mean(), 100 * values.std(), sign)
