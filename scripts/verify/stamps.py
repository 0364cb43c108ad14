"""The note in a shipped study of which files were verified, for those who take rows from it."""

import hashlib
import json

from runners.store import reference
from runners.store.files import replace_file
from runners.store.row import from_json


def write(frame, found):
    """Note the files of which all rows were verified, and nothing found, with their digests; return their number."""
    count = 0
    for name in sorted(set(frame["study"]) if len(frame) else ()):
        bad = {one.method for one in found if one.study == name}
        if "" in bad:
            continue
        path = reference.SHIPPED / name / reference.VERIFIED
        noted = from_json(path.read_text()) if path.exists() else {}
        for method in sorted(set(frame.loc[frame["study"] == name, "method"]) - bad):
            file = reference.files_of(name)[method]
            own = frame[(frame["study"] == name) & (frame["method"] == method)]
            if len(own) == len(reference.read(name, [method])):
                noted[method] = hashlib.sha256(file.read_bytes()).hexdigest()
                count += 1
        replace_file(path, (json.dumps(noted, sort_keys=True, indent=1) + "\n").encode())
    return count
