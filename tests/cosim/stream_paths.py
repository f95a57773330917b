# SPDX-License-Identifier: Apache-2.0
"""Rules S3 and S4 of docs/protocols.md, in the structure of the RTL.

S4: no combinational path from a ready to a valid through a block. S3: no ready depends on its
payload; a block where one does would have to say so in its header and be left out here. Yosys
follows the wires back from the outputs to the registers. The faults of tb/*/block.toml with a `path` show
that it finds one.

stream_paths.py RTL: prints what was looked at; exit status 1 when a path is there.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tb"))
from drawers import cut_file, faults, seed

# Rule, module, from these inputs, to these outputs.
PATHS = [
    ("S4", "smk_dispatch_send", "command_ready_i", ["command_valid_o", "command_o", "pulses_o"]),
    ("S4", "smk_tb_dispatch", "command_ready_i", ["command_valid_o", "command_o", "pulses_o"]),
    ("S4", "smk_quota_calculator", "command_ready_i", ["command_valid_o", "command_o"]),
    ("S4", "smk_driver", "sm_command_credit_i", ["command_valid_o", "command_o", "buffer_valid_o",
                                                 "event_ack_o", "tick_o", "kernel_done_o"]),
    ("S4", "smk_preempt_engine", "context_ready_i", ["context_o", "event_valid_o",
                                                     "buffer_request_o"]),
    ("S4", "smk_sm_tables", "context_ready_i", ["context_o", "event_o", "buffer_request_o"]),
    ("S4", "smk_sm_control", "context_ready_i", ["context_o", "event_o", "buffer_request_o",
                                                 "grant_valid_o"]),
    ("S3", "smk_kernel_table", "launch_i", ["launch_ready_o"]),
    ("S3", "smk_driver", "launch_i", ["launch_ready_o"]),
]


def closure(name, files, seen):
    """The files that module `name` needs."""
    if name in seen or name not in files:
        return
    seen[name] = files[name]
    text = re.sub(r"//.*", "", files[name].read_text())
    for other in re.findall(r"\bsmk_[a-z0-9_]+\b", text):
        closure(other, files, seen)


def found(rtl, module, paths, text=None):
    """The paths of `module` that exist; `text` replaces its source."""
    files = {p.stem: p for p in rtl.rglob("smk_*.sv")}
    needed = {"smk_pkg": files["smk_pkg"]}
    closure(module, files, needed)
    sources = " ".join(str(p) for name, p in needed.items() if name != module)
    changed = tempfile.NamedTemporaryFile("w", suffix=".sv")
    changed.write(files[module].read_text() if text is None else text)
    changed.flush()
    script = f"read_verilog -sv -I{rtl}/common -I{rtl}/config/small {sources} {changed.name}\n"
    script += f"hierarchy -check -top {module}\nproc\nflatten\nopt_clean\nsplitnets -ports\n"
    for number, (_, _, source, sinks) in enumerate(paths):
        outputs = " ".join(f"o:{sink} o:{sink}[*]" for sink in sinks)
        script += f"select -set out{number} {outputs}\n"
        script += f"select -set cone{number} @out{number} %cie*\n"
        script += f"select -set in{number} i:{source} i:{source}[*]\n"
        script += f"tee -a /dev/stderr select -count @cone{number} @in{number} %i\n"
    run = subprocess.run(["yosys", "-q", "-s", "/dev/stdin"], input=script, text=True,
                         capture_output=True, check=False)
    counts = re.findall(r"(\d+) objects", run.stderr)
    if run.returncode != 0 or len(counts) != len(paths):
        sys.exit(f"stream_paths: yosys on {module}:\n{run.stdout}{run.stderr}")
    return [path for path, count in zip(paths, counts) if count != "0"]


def main():
    rtl = pathlib.Path(sys.argv[1])
    wrong = []
    for module in dict.fromkeys(path[1] for path in PATHS):
        paths = [path for path in PATHS if path[1] == module]
        wrong += [f"{rule}: {module}: {source} reaches one of {', '.join(sinks)}"
                  for rule, _, source, sinks in found(rtl, module, paths)]
    seeded = [fault for fault in faults().values() if "path" in fault]
    for fault in seeded:
        file = cut_file(fault, rtl)
        text = seed(file.read_text(), {fault["cut"]: lambda right: fault["wrong"]})
        paths = [path for path in PATHS if path[1] == file.stem and path[0] == fault["path"]]
        if not paths or not found(rtl, file.stem, paths, text):
            wrong.append(f"{fault['path']}: {file.stem}: the fault {fault['name']} is not found")
    print("\n".join(wrong) or f"{len(PATHS)} paths are not there, {len(seeded)} seeded ones are")
    sys.exit(1 if wrong else 0)


main()
