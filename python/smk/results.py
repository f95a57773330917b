# SPDX-License-Identifier: Apache-2.0
"""Results as small objects: the JSON documents of the program, read by name."""

from smk.program import Error


class Record(dict):
    """A JSON object whose members can be read as attributes: run.kernels[0].ipc."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"no '{name}'; there are {', '.join(self)}") from None

    def __dir__(self):
        return [*super().__dir__(), *self]


def pandas():
    """The module, if it is installed."""
    try:
        import pandas as module
    except ImportError:
        raise Error("a frame needs pandas; apt-get install python3-pandas") from None
    return module


class Run(Record):
    """The statistics of one run, as in stats.json (docs/results.md)."""

    def frame(self):
        """A pandas data frame with a row for each kernel; members of objects have dots in their names."""
        return pandas().json_normalize(self["kernels"])

    def __repr__(self):
        return f"<Run of {self.workload} under {self.policy}: STP {self.stp}>"


class Comparison(Record):
    """What smk compare finds out, as in compare.json."""

    def policy(self, name):
        """The results under this policy."""
        for result in self["policies"]:
            if result["policy"] == name:
                return result
        raise KeyError(f"no '{name}'; there are {', '.join(result['policy'] for result in self['policies'])}")

    def rows(self):
        """A flat dictionary for each policy; the kernels' normalized IPCs are there under normalized_ipc.NAME."""
        rows = []
        for result in self["policies"]:
            row = {key: value for key, value in result.items() if not isinstance(value, (dict, list))}
            for key, value in result["preemptions"].items():
                row[f"preemptions.{key}"] = value
            for name, kernel in zip(labels(result["kernels"]), result["kernels"]):
                row[f"normalized_ipc.{name}"] = kernel["normalized_ipc"]
            rows.append(row)
        return rows

    def frame(self):
        """A pandas data frame with a row for each policy, named by it."""
        return pandas().DataFrame(self.rows()).set_index("policy")

    def __repr__(self):
        return f"<Comparison of {self.workload}: {len(self.policies)} policies>"


def labels(kernels):
    """sgemm and lbm; sgemm#1 and sgemm#2 where a kernel is there twice, as the program prints them."""
    names = [kernel["name"] for kernel in kernels]
    return [
        name if names.count(name) == 1 else f"{name}#{names[: i + 1].count(name)}" for i, name in enumerate(names)
    ]
