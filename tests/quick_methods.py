"""The methods of conf/method, those with fewer sweeps that would take minutes on the small data of the contract."""

from scripts.check_method.contract import Method, load_methods

# On such small data the slots stay undecided, and 31 times as many epochs are done: with 300 a minute in all.
QUICK = {"cae_released": {"max_iter": 20}}


def load_quick_methods():
    """Return every method, by name, with parameters of `QUICK`."""
    contents = {name: method.config for name, method in load_methods().items()}
    return {
        name: Method(name, {**content, "params": content["params"] | QUICK.get(name, {})})
        for name, content in contents.items()
    }
