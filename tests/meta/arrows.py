# SPDX-License-Identifier: Apache-2.0
"""meta.arrows: a room includes only from the rooms that CMake gives its library, directly or through them.

Rooms are the folders of model/ and sim/; what each sees is read from the lines smk_add_model_library,
smk_add_room and smk_add_library of their CMakeLists.txt.
"""

import re

import repo

INCLUDE = re.compile(r'^#include "([a-z_]+)/[a-z_0-9]+\.h"', re.M)
# A library of a folder, with the libraries that it names.
LIBRARY = {
    "model/CMakeLists.txt": (re.compile(r"^smk_add_model_library\((\w+)([^)]*)\)", re.M), "smk_{}", "model/{}"),
    "sim/CMakeLists.txt": (re.compile(r"^smk_add_room\((\w+)([^)]*)\)", re.M), "smk_sim_{}", "sim/{}"),
    "sim/cosim/CMakeLists.txt": (re.compile(r"^smk_add_library\(smk_sim_(cosim)([^)]*)\)", re.M), "smk_sim_{}", "sim/{}"),
}


def read_libraries():
    """Library to its folder, and library to the libraries that it names."""
    folder, named = {}, {}
    for path, (pattern, library, place) in LIBRARY.items():
        for name, words in pattern.findall(repo.text(path)):
            target = library.format(name)
            folder[target] = place.format(name)
            rooms = re.search(r"\bROOMS\b([^A-Z]*)", words)
            named[target] = set(re.findall(r"\bsmk_\w+", words))
            named[target] |= {f"smk_sim_{room}" for room in (rooms.group(1).split() if rooms else [])}
    return folder, {target: names & folder.keys() for target, names in named.items()}


def reach(target, named):
    seen, queue = set(), [target]
    while queue:
        target = queue.pop()
        if target not in seen:
            seen.add(target)
            queue += named[target]
    return seen


folder_of, named_by = read_libraries()
findings = []
arrows = set()
for library, place in sorted(folder_of.items()):
    seen = reach(library, named_by)
    if any(library in reach(other, named_by) for other in named_by[library]):
        findings.append(f"{place}: its library and another name each other")
    rooms = {folder_of[other].split("/")[1] for other in seen}
    for path in repo.tracked(f"{place}/*.h", f"{place}/*.cc"):
        for room in INCLUDE.findall(repo.text(path)):
            if room not in rooms and room not in ("smk", "verilated"):
                findings.append(f"{path}: includes {room}/, which {library} does not see")
            arrows.add((place, room))
libraries = {f"model/{p.parts[1]}" for p in repo.tracked("model/*.cc")} | {
    f"sim/{p.parts[1]}" for p in repo.tracked("sim/*.cc")
}
findings += [f"{place}: no library" for place in sorted(libraries - set(folder_of.values()))]
repo.report(findings, f"{len(folder_of)} rooms, {len(arrows)} arrows")
