"""Files that a fit reads count, and those that say what is installed do not."""

from concurrent.futures import ThreadPoolExecutor

from runners.code.opened import fitting, key_of, read_by


class Reader:
    """Reads a file when it is fitted."""

    def fit(self, path):
        return path.read_text()


class Threads(Reader):
    """Another."""


def test_entry_points_of_a_checkout_are_no_file_of_a_fit(tmp_path):
    names = {"mine.egg-info": "entry_points.txt", "weights": "w.txt"}
    paths = [tmp_path / folder / name for folder, name in names.items()]
    for path in paths:
        path.parent.mkdir()
        path.write_text("1")
    with fitting(Reader):
        for path in paths:
            Reader().fit(path)
    assert list(read_by(key_of(Reader))) == [str(paths[1])]


def test_files_that_threads_read_at_the_same_time_are_all_noted(tmp_path):
    paths = [tmp_path / f"{number}.txt" for number in range(2000)]
    for path in paths:
        path.write_text("1")
    with fitting(Threads), ThreadPoolExecutor(8) as pool:
        list(pool.map(Threads().fit, paths))
    assert set(map(str, paths)) == set(read_by(key_of(Threads)))
