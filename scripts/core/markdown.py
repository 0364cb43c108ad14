"""Tables as Markdown."""


def pipes(lines):
    """A Markdown table of texts, the first line being its head, in columns of one width."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    head, *body = ["| " + " | ".join(map(str.ljust, line, widths)) + " |" for line in lines]
    return "\n".join([head, "|" + "|".join("-" * (width + 2) for width in widths) + "|", *body])
