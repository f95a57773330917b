# SPDX-License-Identifier: Apache-2.0
"""meta.container: the Containerfile and the workflow repeat nothing that scripts/setup and .ci/run know.

Packages are installed by scripts/setup only, by the names of its groups, on the Debian that it accepts; the workflow
calls .ci/run, before which there is only what gets the checkout.
"""

import re

import repo
import yaml

BOOTSTRAP = {"ca-certificates", "git"}
setup = repo.text("scripts/setup")
groups = dict(re.findall(r'^  \[(\w+)\]="([^"]*)"', setup, re.M))
packages = {name for names in groups.values() for name in names.split()}
debian = re.search(r'!= "debian (\d+)"', setup)[1]
container = re.sub(r"^\s*#.*\n", "", repo.text("Containerfile"), flags=re.M).replace("\\\n", " ")
findings = []


def check(holds, finding):
    if not holds:
        findings.append(finding)


check(len(packages) > 30, "scripts/setup: its list of packages is not understood here")
images = re.findall(r"^FROM (\S+)", container, re.M)
check(images == [f"debian:{debian}"], f"Containerfile: it is made from {images}, scripts/setup is for Debian {debian}")
named = re.findall(r"scripts/setup ([\w ]+)", container)
check(len(named) == 1, "Containerfile: expected one call of scripts/setup")
for group in " ".join(named).split():
    check(group in groups, f"Containerfile: scripts/setup has no group {group}")
check("build" in " ".join(named).split(), "Containerfile: the build is not set up")
check(not re.search(r"\b(apt|apt-get|dpkg|pip3?|npm)\b(?!/)", container), "Containerfile: a package is installed besides")
words = set(re.findall(r"[\w.+-]+", container))
repeated = (words & packages) - {"git"}
check(not repeated, f"Containerfile: repeats packages of scripts/setup: {sorted(repeated)}")
for script in re.findall(r"scripts/\w+", container):
    check((repo.ROOT / script).is_file(), f"Containerfile: no {script}")
check("build/release/bin/smk /usr/local/bin/smk" in container, "Containerfile: smk is not on PATH")
check(container.rstrip().endswith('CMD ["bash"]'), "Containerfile: does not end at a prompt")

jobs = yaml.safe_load(repo.text(".github/workflows/ci.yml"))["jobs"]
for name, job in jobs.items():
    where = f".github/workflows/ci.yml: {name}"
    check(job["container"] == f"debian:{debian}", f"{where}: not on Debian {debian}")
    runs = [step["run"] for step in job["steps"] if "run" in step]
    check(runs[-1] == ".ci/run" and len(runs) == 2, f"{where}: expected what gets the checkout, then .ci/run")
    installed = re.search(r" install (.*)", runs[0])[1].split()
    extra = {word for word in installed if word[0] != "-"} - BOOTSTRAP
    check(not extra, f"{where}: installs {sorted(extra)}, which is for scripts/setup")
for group in re.search(r"scripts/setup --quiet ([\w ]+)", repo.text(".ci/run"))[1].split():
    check(group in groups, f".ci/run: scripts/setup has no group {group}")
repo.report(findings, "Containerfile, workflow")
