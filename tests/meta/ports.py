# SPDX-License-Identifier: Apache-2.0
"""meta.ports: the ports in docs/integration.md are those of the RTL: direction, width, meaning; so are the
fields of the policy words in docs/blocks/policy_registers.md, their values after a reset and the codes of enumerations.

usage: ports.py [--write] | ports.py --include FILE
With --include, FILE has a line SMK_INPUT(name, width) or SMK_OUTPUT(...) for each port of smk_top in
configuration small, but the clock.
Widths are asked of Yosys, which elaborates the port list alone; a port's meaning is the comment above
its group. Every port stands in one group.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/integration.md"
MODULES = {"smk_top": "rtl/top/smk_top.sv", "smk_sm_control": "rtl/sm/sm_control/smk_sm_control.sv"}
FIELDS_PAGE = ROOT / "docs/blocks/policy_registers.md"
PACKAGE = ROOT / "rtl/common/smk_pkg.sv"
DEFAULTS = ROOT / "rtl/common/smk_policy.svh"
CONFIGS = ["small", "gtx980"]
PORT = re.compile(r"\s*(input|output)\s+(\S+(?: \[[^\]]+\])?)\s+(\w+),?\s*$")


def port_text(text, module):
    """What stands between the parentheses of the ports, and the parameters before."""
    head = re.search(rf"^module {module} (#\(\n.*?\n\) )?\(\n", text, re.M | re.S)
    end = text.index("\n);", head.end())
    return head[1] or "", text[head.end():end]


def groups(ports):
    """(comment, [(direction, type, name), ...]) in the order of the file."""
    found, comment = [], []
    for line in ports.splitlines():
        note = re.match(r"\s*// (.*)", line)
        port = PORT.match(line)
        if note:
            comment.append(note[1])
        elif port:
            if comment:
                found.append((" ".join(comment), []))
                comment = []
            elif not found:
                found.append(("Clock; reset, asynchronous, low active.", []))
            found[-1][1].append((port[1], port[2], port[3]))
        elif line.strip():
            sys.exit(f"ports.py: not understood: {line}")
    return found


def widths(module, parameters, ports, config):
    """Bits of each port in a configuration."""
    with tempfile.TemporaryDirectory() as folder:
        stub = pathlib.Path(folder) / "stub.sv"
        stub.write_text(f"module {module} {parameters}(\n{ports}\n);\nendmodule\n", encoding="utf-8")
        out = pathlib.Path(folder) / "out.json"
        subprocess.run(
            ["yosys", "-q", "-p", f"read_verilog -sv -I{ROOT}/rtl/config/{config} {ROOT}/rtl/common/smk_pkg.sv "
             f"{stub}; hierarchy -top {module}; proc; write_json {out}"], check=True)
        found = json.loads(out.read_text(encoding="utf-8"))["modules"][module]["ports"]
    return {name: len(port["bits"]) for name, port in found.items()}


def module_ports(module):
    """(comment, direction, type, name, {config: bits}) of each port."""
    parameters, ports = port_text((ROOT / MODULES[module]).read_text(encoding="utf-8"), module)
    bits = {config: widths(module, parameters, ports, config) for config in CONFIGS}
    for comment, members in groups(ports):
        for direction, of_type, name in members:
            yield comment, direction, of_type, name, {config: bits[config][name] for config in CONFIGS}


def table(module):
    """Rows of one group have its meaning in the first."""
    text = f"| port | | type | {' | '.join(CONFIGS)} | meaning |\n|---|---|---|{'--:|' * len(CONFIGS)}---|\n"
    before = None
    for comment, direction, of_type, name, bits in module_ports(module):
        shown = "as above" if comment == before else comment
        text += (f"| `{name}` | {direction.removesuffix('put')} | `{of_type.replace('smk_pkg::', '')}` | "
                 f"{' | '.join(str(bits[config]) for config in CONFIGS)} | {shown} |\n")
        before = comment
    return text


def package():
    """The package without its comments."""
    return re.sub(r"//[^\n]*", "", PACKAGE.read_text(encoding="utf-8"))


def policy_members():
    """(type, name) of each field of policy_t, the highest first."""
    (body,) = re.findall(r"typedef struct packed \{([^}]*)\} policy_t;", package())
    return re.findall(r"^\s*(\S.*?)\s+(\w+);", body, re.M)


def policy_codes():
    """{field: names of its codes, from 0 on} of each field of policy_t that is an enumeration."""
    enums = {of_type: [name.strip() for name in names.split(",")]
             for names, of_type in re.findall(r"typedef enum logic[^{;]*\{([^}]*)\}\s*(\w+);", package())}
    assert not any("=" in name for names in enums.values() for name in names), "a code with a number of its own"
    return {name: enums[of_type] for of_type, name in reversed(policy_members()) if of_type in enums}


def policy_defaults():
    """{field: its value in SMK_POLICY_DEFAULT}, a name of the package where it is one; of kernels, that of each."""
    text = DEFAULTS.read_text(encoding="utf-8").replace("\\\n", " ").replace("smk_pkg::", "")
    (body,) = re.findall(r"`define SMK_POLICY_DEFAULT\s*\{(.*)\}\s*$", text, re.M)
    values = [cast or number for cast, number in re.findall(r"\w+'\((\w+)\)|\d+'[bd](\d+)", body)]
    names = [name for _, name in policy_members()]
    assert len(values) == len(names), "SMK_POLICY_DEFAULT: not a value for each field"
    codes = policy_codes()
    return {name: str(codes[name].index(value)) if name in codes else value for name, value in zip(names, values)}


def policy_fields():
    """(name, {config: (lowest bit, bits)}) of each field of policy_t, the lowest first."""
    members = policy_members()
    stub = ",\n".join("  input " + re.sub(r"\b([A-Z]\w+|\w+_[te])\b", r"smk_pkg::\1", of_type) + f" {name}"
                      for of_type, name in members)
    bits = {config: widths("policy_fields", "", stub, config) for config in CONFIGS}
    at = dict.fromkeys(CONFIGS, 0)
    for _, name in reversed(members):
        yield name, {config: (at[config], bits[config][name]) for config in CONFIGS}
        for config in CONFIGS:
            at[config] += bits[config][name]


def place(low, bits):
    """Words and bits of a field, the lowest word first."""
    parts = []
    for word in range(low // 32, (low + bits - 1) // 32 + 1):
        first, last = max(low - 32 * word, 0), min(low + bits - 1 - 32 * word, 31)
        parts.append(f"{word} [{last}{'' if first == last else f':{first}'}]")
    return ", ".join(parts)


def fields_table():
    text = f"| field | {' | '.join(CONFIGS)} | after a reset |\n|---|{'---|' * len(CONFIGS)}---|\n"
    ends = dict.fromkeys(CONFIGS, 0)
    defaults = policy_defaults()
    for name, places in policy_fields():
        text += f"| `{name}` | {' | '.join(place(*places[config]) for config in CONFIGS)} | {defaults[name]} |\n"
        ends = {config: sum(places[config]) for config in CONFIGS}
    return text + f"| commands, status | {' | '.join(str((ends[config] + 31) // 32) for config in CONFIGS)} | |\n"


def codes_table():
    text = "| field | codes |\n|---|---|\n"
    for name, codes in policy_codes().items():
        text += f"| `{name}` | {', '.join(f'{code} `{of}`' for code, of in enumerate(codes))} |\n"
    return text


def explained(page):
    """The fields that the table of meanings has, in its order."""
    (rows,) = re.findall(r"^\| field \| meaning \|\n\|---\|---\|\n((?:\|.*\n)*)", page, re.M)
    return [name for row in rows.splitlines() for name in re.findall(r"`(\w+)`", row.split("|")[1])]


def filled(page, begin, end, text):
    """The page with the text between two marks."""
    start = page.index(begin) + len(begin)
    stop = page.index(end, start)
    return page[:start] + "\n" + text + "\n" + page[stop:]


def include(path):
    lines = [f"SMK_{direction.upper()}({name}, {bits['small']})\n"
             for _, direction, _, name, bits in module_ports("smk_top") if name != "clk_i"]
    pathlib.Path(path).write_text("".join(lines), encoding="utf-8")


def main():
    if sys.argv[1:2] == ["--include"]:
        include(sys.argv[2])
        return
    pages = {PAGE: PAGE.read_text(encoding="utf-8"), FIELDS_PAGE: FIELDS_PAGE.read_text(encoding="utf-8")}
    wanted = dict(pages)
    for module in MODULES:
        wanted[PAGE] = filled(wanted[PAGE], f"<!-- ports of {module}: tests/meta/ports.py --write -->\n",
                              "<!-- end of ports -->\n", table(module))
    wanted[FIELDS_PAGE] = filled(wanted[FIELDS_PAGE], "<!-- fields of policy_t: tests/meta/ports.py --write -->\n",
                                 "<!-- end of fields -->\n", fields_table())
    wanted[FIELDS_PAGE] = filled(wanted[FIELDS_PAGE], "<!-- codes of policy_t: tests/meta/ports.py --write -->\n",
                                 "<!-- end of codes -->\n", codes_table())
    fields = [name for _, name in reversed(policy_members())]
    if explained(wanted[FIELDS_PAGE]) != fields:
        sys.exit(f"{FIELDS_PAGE.relative_to(ROOT)}: the table of meanings does not have the fields of policy_t in this "
                 f"order: {' '.join(fields)}")
    for path, text in wanted.items():
        if "--write" in sys.argv[1:]:
            path.write_text(text, encoding="utf-8")
        elif text != pages[path]:
            sys.exit(f"{path.relative_to(ROOT)}: not what the RTL says: tests/meta/ports.py --write")
    print(", ".join(f"{module}: {len(list(module_ports(module)))} ports" for module in MODULES))


if __name__ == "__main__":
    main()
