"""The selected pixels that a paper prints, beside those of smallest norm."""

import numpy as np

from scripts.core.conf import printed
from scripts.core.published import PAPERS, published_pixels
from scripts.make_figure.pixels import draw_pixels, middle_of_classes
from scripts.make_figure.style import WIDTH


def printed_pixels(study, paper, table, samples=None, width=WIDTH):
    """Draw the pixels of a paper's table over an image, and as many of smallest norm of the data as they are."""
    from datasets import load_dataset  # here, as most figures read no data

    name, sets = published_pixels(paper, table)
    data = load_dataset(name, data_dir=study.data_dir)
    order = np.argsort(np.linalg.norm(data.X, axis=0), kind="stable")
    smallest = {size: order[:size] for size in sets}
    both = sum(len(np.intersect1d(smallest[size], sets[size])) for size in sets)
    samples = middle_of_classes(data, 1) if samples is None else [int(sample) for sample in samples]
    images = f"Sample{'s' * (len(samples) > 1)} {', '.join(map(str, samples))} of the data."
    return draw_pixels(
        data,
        {"Printed": sets, "Smallest norm": smallest},
        samples,
        title=f"{PAPERS[paper]} on {printed('dataset', name)}: the m pixels of {table.replace('table', 'table ')}",
        note="Printed: as the paper shows them. Smallest norm: of the data as they are. "
        f"{both} of {sum(map(len, sets.values()))} are the same. {images}",
        width=width,
    )
