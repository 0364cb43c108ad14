"""Checks that a file is the one that was asked for."""

import hashlib

HEADS = {
    b"version https://git-lfs": "a git-LFS pointer instead of the data",
    b"<!doctype html": "an HTML page",
    b"<html": "an HTML page",
    b"<?xml": "an XML page",
    b'[{"': "a JSON file",
    b'{"': "a JSON file",
}


def checksum(path, algorithm="sha256"):
    """Return the checksum of a file, as a hexadecimal text.

    The algorithm is "sha256", or "git-blob", the SHA-1 that git gives to the content: that of ``b"blob <size>\\0"`` and
    the bytes.
    """
    if algorithm == "sha256":
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    content = path.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def fault(path, source):
    """Say what is wrong with a file; return None where its checksum is right.

    Where its source has no checksum, the one beside the file as ``<file>.sha256`` counts; it must be there for a file
    made from OpenML.
    """
    expected = source.get("checksum") or _written_checksum(path)
    if expected is None and "openml" not in source:
        return None
    if expected is None:
        return f"its checksum {path.name}.sha256 is missing beside it"
    algorithm, digest = expected.split(":")
    found = checksum(path, algorithm)
    if found == digest:
        return None
    size, whole = path.stat().st_size, source.get("bytes")
    looks = looks_like(path) or (f"{size} bytes instead of {whole}" if whole not in (None, size) else "")
    return f"its {algorithm} is {found}, expected {digest}" + (f"; it is {looks}" if looks else "")


def looks_like(path):
    """Return the kind of a file in none of our formats ("an HTML page", ...), or None where it may be in one."""
    with open(path, "rb") as file:
        head = file.read(512).lstrip().lower()
    if not head:
        return "empty"
    for start, meaning in HEADS.items():
        if head.startswith(start):
            return meaning
    if head.startswith((b"@relation", b"%")):  # ARFF, our only format that is text
        return None
    return "a text file" if not set(head) - set(b"\t\n\r" + bytes(range(32, 127))) else None


def write_checksum(path, digest):
    """Write ``<path>.sha256`` in the format of sha256sum, in one step."""
    part = path.with_name(path.name + ".sha256.part")
    part.write_text(f"{digest}  {path.name}\n", encoding="ascii")
    part.replace(path.with_name(path.name + ".sha256"))


def _written_checksum(path):
    beside = path.with_name(path.name + ".sha256")
    if not beside.is_file():
        return None
    words = beside.read_text(encoding="ascii", errors="replace").split()
    return f"sha256:{words[0]}" if words and ":" not in words[0] else None
