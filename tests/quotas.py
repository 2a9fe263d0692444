"""Tests `.ci/quotas.py` with models that state the quotas and defaults of `src/graph/limits.rs`, and with changed ones."""

import contextlib
import io
import json
import pathlib
import sys
import tempfile

sys.path.insert(0, ".ci")
import quotas


def models(directory):
    """Writes models whose texts are the expected sentences with our numbers."""
    limits, services = quotas.ours(), {}
    for names, place, sentence in quotas.DOCUMENTED:
        service, path = place.split(" ")
        shape, member = path.split(".")
        shapes = services.setdefault(service, {"shapes": {}})["shapes"]
        members = shapes.setdefault(shape, {"members": {}})["members"]
        own = members.setdefault(member, {"shape": f"{shape}{member}", "documentation": ""})
        names = names.split(" ")
        if sentence is None:
            bounds = zip(["min", "max"][-len(names) :], names)
            bounds = {bound: int(limits[name][0]) for bound, name in bounds if name != "-"}
            shapes.setdefault(own["shape"], {}).update(bounds)
        else:
            numbers = [f"{int(limits[name][0]):,}" for name in names]
            own["documentation"] += f"<p>{sentence.format(*numbers)}</p> "
    for service, model in services.items():
        place = pathlib.Path(directory, service, "2020-01-01")
        place.mkdir(parents=True)
        (place / "service-2.json").write_text(json.dumps(model))


def run(change):
    """Returns the exit status and the output for models of which `change` is applied to the text of each."""
    with tempfile.TemporaryDirectory() as directory:
        models(directory)
        for path in pathlib.Path(directory).rglob("*.json"):
            path.write_text(change(path.read_text()))
        sys.argv, out = ["quotas.py", directory], io.StringIO()
        with contextlib.redirect_stdout(out):
            return quotas.main(), out.getvalue()


def replaced(old, new):
    """Returns a function that replaces a text of one model."""
    return lambda text: text.replace(old, new)


assert run(lambda text: text)[0] == 0, run(lambda text: text)[1]
for change, expected in [
    (replaced("maximum allowed value is 1,800", "maximum allowed value is 900"), ["most: 1_800", "value is 900 seconds"]),
    (replaced("between 2 and 10,000", "between 2 and 20,000"), ["most: 10_000", "between 2 and 20,000"]),
    (replaced('"max": 200', '"max": 300'), ["MINIMUM_POLLERS.most", '"max": 300']),
    (replaced("Values range: 0 to", "The values are 0 to"), ["not the expected text any more", "The values are 0"]),
    (replaced("SendMessageRequest", "SendRequest"), ["the model cannot be read"]),
]:
    status, output = run(change)
    assert status == 1 and all(text in output for text in expected), (expected, output)
