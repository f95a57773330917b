# SPDX-License-Identifier: Apache-2.0
"""run, compare and sweep: the options of the command as keywords.

No option has a name here: a keyword is handed on with - for _, and the program says what it does not know.
"""

import json
import os
import pathlib
import tempfile

from smk.program import call
from smk.results import Comparison, Record, Run
from smk.sweeps import Sweep

# What joins the two halves of one entry of a dictionary.
JOINED_BY = {"set": "=", "arrive": "@", "client": "@"}


def run(kernels=None, **options):
    """Runs kernels together under one policy and gives its statistics.

    kernels: "sgemm+lbm", a list of names and files, or nothing with config=FILE.
    set={"sms": 8} and arrive={"lbm": 5000} are dictionaries, flags are True.
    """
    return Run(document("run", joined(kernels), options))


def compare(kernels=None, policies=None, **options):
    """Runs kernels under several policies, by default all, and gives a record for each."""
    if policies is not None and not isinstance(policies, str):
        policies = ",".join(policies)
    return Comparison(document("compare", joined(kernels), {"policies": policies, **options}))


def sweep(spec, out, **options):
    """Makes the runs of a specification that the database `out` has not yet, and opens that.

    spec: a TOML file, or a dictionary with its keys. Files named in a dictionary are pathlib paths, or absolute.
    """
    if isinstance(spec, dict):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / (pathlib.Path(out).stem + ".toml")
            path.write_text(toml(spec), encoding="utf-8")
            return sweep(path, out, **options)
    call(["sweep", *words({"out": out, "quiet": True, **options}), "--", os.fspath(spec)])
    return Sweep(out)


def document(command, kernels, options):
    """The JSON document that a command prints."""
    behind = [] if kernels is None else ["--", kernels]
    return json.loads(call([command, *words(options), "--json", *behind]), object_hook=Record)


def joined(kernels):
    """The word for some kernels; a + in the name of one is written twice."""
    if kernels is None or isinstance(kernels, str):
        return kernels
    return "+".join(os.fspath(kernel).replace("+", "++") for kernel in kernels)


def words(options):
    """The words of the command line for some keywords."""
    result = []
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        if value is True:
            result.append(option)
        elif value is not None and value is not False:
            result += [f"{option}={text}" for text in values(name, value)]
    return result


def values(name, value):
    """The values of an option that is given once for each."""
    if isinstance(value, dict):
        return [f"{key}{JOINED_BY.get(name, '=')}{plain(each)}" for key, each in value.items()]
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return [plain(value)]


def plain(value):
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def toml(spec):
    """A specification as TOML."""
    own = {key: value for key, value in spec.items() if key != "experiment"}
    text = "".join(f"{key} = {toml_value(value)}\n" for key, value in own.items())
    for experiment in spec.get("experiment", []):
        text += "[[experiment]]\n" + toml(experiment)
    return text


def toml_value(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {toml_value(each)}" for key, each in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    if isinstance(value, os.PathLike):
        value = os.path.abspath(value)
    # A string of JSON is one of TOML, and so is a number.
    return json.dumps(value, ensure_ascii=False)
