# SPDX-License-Identifier: Apache-2.0
"""One block from its mapped netlist to a checked layout: the steps, each one tool of Debian 12's qflow.

A step runs in a folder of its own kind (source, synthesis, layout, log), as qflow's scripts expect it, and leaves
its log there. What goes wrong is a Failure with one line.
"""
import os
import pathlib
import re
import signal
import subprocess

import extracted

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SCRIPTS = pathlib.Path("/usr/lib/qflow/scripts")
BIN = pathlib.Path("/usr/lib/qflow/bin")
TECH = pathlib.Path("/usr/share/qflow/tech/osu018")
LIBERTY = TECH / "osu018_stdcells.lib"
LEF = TECH / "osu018_stdcells.lef"
FF_PER_UM = 0.18  # of NanGate's 45 nm wires, and of most processes' within a third
TREES = ("clk_i", "rst_ni")  # nets that get trees of buffers elsewhere
TOOLS = ("yosys", "graywolf", "qrouter", "magic", "netgen-lvs", "klayout", "sta")


class Failure(Exception):
    """What is wrong, in one line."""


def system(path="/etc/os-release"):
    """Such as "debian 12"."""
    fields = {}
    if os.path.exists(path):
        lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines()
        fields = {key: value.strip('"') for key, _, value in (line.partition("=") for line in lines)}
    return f"{fields.get('ID', 'unknown')} {fields.get('VERSION_ID', '')}".strip()


def missing_tools(which):
    """Of what a layout needs; `which` finds a program."""
    missing = [tool for tool in TOOLS if which(tool) is None]
    return missing + [str(path) for path in (SCRIPTS / "placement.sh", LIBERTY) if not path.exists()]


def run(step, command, log, seconds, cwd=None, env=None):
    """What the command prints, which also goes into `log`. A command that takes too long is ended with all it began."""
    with subprocess.Popen(command, cwd=cwd, env={**os.environ, **(env or {})}, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          start_new_session=True) as process:
        try:
            output, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise Failure(f"{step} took more than {seconds} s") from None
    log.write_text(output, encoding="utf-8")
    if process.returncode != 0:
        raise Failure(f"{step} failed with status {process.returncode}; see {log}")
    return output


class Layout:
    """The layout of one block in `folder`; `netlist` is mapped to osu018 and has nothing else inside."""

    def __init__(self, top, netlist, folder, mhz, seconds, layers):
        self.top, self.folder, self.mhz, self.seconds = top, folder.resolve(), mhz, seconds
        self.netlist = netlist
        for name in ("source", "synthesis", "layout", "log"):
            (self.folder / name).mkdir(parents=True)
        variables = {"projectpath": self.folder, "techdir": TECH, "techname": "osu018", "scriptdir": SCRIPTS,
                     "bindir": BIN, "logdir": self.folder / "log", "sourcedir": self.folder / "source",
                     "synthdir": self.folder / "synthesis", "layoutdir": self.folder / "layout"}
        text = "".join(f"set {name}={value}\n" for name, value in variables.items())
        (self.folder / "qflow_vars.sh").write_text(text, encoding="utf-8")
        # With no more than one via on another, osu018's own setting, qrouter forgets a via here and there.
        text = f'set route_layers = {layers}\nset via_stacks = "all"\n'
        (self.folder / "project_vars.sh").write_text(text, encoding="utf-8")
        (self.file("layout", ".par")).write_bytes((TECH / "osu018.par").read_bytes())
        (self.folder / "layout/.magicrc").write_bytes((TECH / "osu018.magicrc").read_bytes())

    def file(self, kind, ending):
        return self.folder / kind / (ending if kind == "log" else f"{self.top}{ending}")

    def log(self, name):
        return self.folder / "log" / f"{name}.txt"

    def text(self, kind, ending):
        return self.file(kind, ending).read_text(encoding="utf-8")

    def place(self):
        """From the netlist to places of cells and pins."""
        blif = self.file("synthesis", ".blif")
        run("Yosys", ["yosys", "-q", "-c", str(HERE / "netlist.tcl")], self.log("yosys"), self.seconds,
            env={"SMK_TOP": self.top, "SMK_NETLIST": str(self.netlist), "SMK_LIBERTY": str(LIBERTY),
                 "SMK_OUT": str(blif)})
        lines = blif.read_text(encoding="utf-8").splitlines()
        blif.write_text("".join(f"{line}\n" for line in lines if not re.match(r"\.names|[01]$", line)),
                        encoding="utf-8")
        self.file("synthesis", "_powerground").write_text('set vddnet="vdd"\nset gndnet="gnd"\n', encoding="utf-8")
        for kind, options in (("rtl", "-c"), ("rtlnopwr", "-c -p"), ("rtlbb", "-c -b -p -n")):
            command = [str(BIN / "blif2Verilog"), *options.split(), "-v", "vdd", "-g", "gnd", blif.name]
            run("blif2Verilog", command, self.file("synthesis", f".{kind}.v"), self.seconds, self.folder / "synthesis")
        command = [str(BIN / "blif2BSpice"), "-i", "-p", "vdd", "-g", "gnd", "-l", str(TECH / "osu018_stdcells.sp"),
                   blif.name]
        run("blif2BSpice", command, self.file("synthesis", ".spc"), self.seconds, self.folder / "synthesis")
        (self.folder / "log/synth.log").touch()
        self.script("placement", "placement.sh", "-d")

    def script(self, step, name, *options):
        return run(step, [str(SCRIPTS / name), *options, str(self.folder), self.top], self.log(step), self.seconds)

    def route(self):
        """From places to wires. The script ends well with nets left over; qrouter's last word counts."""
        self.script("routing", "router.sh")
        failed = extracted.unrouted(self.text("log", "route.log"))
        if failed:
            raise Failure(f"{failed} nets could not be routed")

    def magic(self, step, commands):
        script = self.folder / "layout" / f"{step}.tcl"
        script.write_text("\n".join(commands) + "\nquit\n", encoding="utf-8")
        return run(step, ["magic", "-dnull", "-noconsole", script.name], self.log(step), self.seconds,
                   self.folder / "layout")

    def extract(self):
        """Layout and its netlist for magic, its capacitances, and GDS; how many pieces of metal were made larger."""
        self.script("migration", "migrate.sh")
        log = self.magic("small_metal", [f"lef read {LEF}", f"load {self.top}", *self.check_rules(),
                                         "foreach {why boxes} [drc listall why] {",
                                         '  foreach box $boxes { puts stdout "error $box $why" }', "}"])
        small = extracted.small_metal(log)
        spice = ["ext2spice hierarchy on", "ext2spice format ngspice", "ext2spice scale off", "ext2spice renumber off",
                 "ext2spice rthresh infinite", "ext2spice blackbox on", "ext2spice subcircuit top auto",
                 "ext2spice global off"]
        # A via between two others is a square of metal of 16 where 20 are the least: one more at the top.
        larger = (f"box {x1}i {y1}i {x2}i {y2 + 1}i\npaint {layer}" for layer, x1, y1, x2, y2 in small)
        # Wires alone: what a frame says of a cell is no metal.
        self.magic("farads", ["drc off", f"load {self.top}", *larger, f"writeall force {self.top}", "extract all",
                              *spice, "ext2spice cthresh 0", f"ext2spice -o {self.top}_farads.spice"])
        self.magic("extraction", ["drc off", f"lef read {LEF}", f"load {self.top}", "expand", "extract all", *spice,
                                  "ext2spice cthresh infinite", "ext2spice", f"gds write {self.top}.gds"])
        return len(small)

    @staticmethod
    def check_rules():
        return ["drc on", "select top cell", "expand", "drc check", "drc catchup"]

    def drc(self, *fault):
        """Errors that magic finds, in the layout or in one with a fault drawn into it."""
        step = "drc_fault" if fault else "drc"
        log = self.magic(step, [f"lef read {LEF}", f"load {self.top}", *fault, *self.check_rules(),
                                "set count [drc list count total]", 'puts stdout "drc = $count"'])
        return extracted.drc_count(log)

    def lvs(self, netlist, step):
        """Layout beside a netlist; netgen ends well whether they are equal or not."""
        log = run(step, ["netgen-lvs", "-batch", "lvs", f"{self.top}.spice {self.top}", f"{netlist} {self.top}",
                         str(TECH / "osu018_setup.tcl"), f"{step}.out", "-blackbox"], self.log(step), self.seconds,
                  self.folder / "layout")
        return extracted.lvs_result(log)

    def lvs_with_fault(self):
        """Whether netgen notices that an input of one gate is an input of another's."""
        lines = self.text("synthesis", ".spc").splitlines()
        gates = [i for i, line in enumerate(lines) if re.match(r"X\S* .*\bNAND2X1$", line)]
        words = [lines[i].split() for i in gates]
        kind = next(line.split() for line in lines_of_cell("NAND2X1"))
        pin = kind.index("A") - 1
        other = next((i for i, gate in enumerate(words) if gate[pin] != words[0][pin]), None)
        if other is None:
            raise Failure("LVS: no two NAND2X1 of which one could have the other's input")
        words[other][pin] = words[0][pin]
        lines[gates[other]] = " ".join(words[other])
        faulty = self.folder / "layout/faulty.spc"
        faulty.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return not self.lvs(faulty, "lvs_fault")["equal"]

    def time(self, name, nets=None, factor=1.0):
        """Fmax over all paths and from register to register, with these wires or none."""
        out = self.folder / f"sta_{name}"
        out.mkdir()
        env = {"SMK_TOP": self.top, "SMK_NETLISTS": str(self.file("synthesis", ".rtlnopwr.v")),
               "SMK_LIBERTY": str(LIBERTY), "SMK_PERIOD": f"{1000 / self.mhz:.6f}", "SMK_OUT": str(out)}
        if nets:
            (out / "wires.spef").write_text(extracted.spef(self.top, nets, factor), encoding="utf-8")
            env["SMK_SPEF"] = str(out / "wires.spef")
        log = run("OpenSTA", ["sta", "-exit", "-no_splash", str(ROOT / "synth/sta/block.tcl")],
                  self.log(f"sta_{name}"), self.seconds, env=env)
        wrong = re.search(r"^(?:Error|Warning): .*(?:not found|syntax).*$", re.sub(r".*module FILL.*", "", log),
                          re.MULTILINE)
        if wrong:
            raise Failure(f"OpenSTA: {wrong[0]}")
        slacks = {kind: extracted.slack_ns((out / f"{kind}.txt").read_text(encoding="utf-8"))
                  for kind in ("timing", "registers", "hold")}
        if slacks["timing"] is None:
            raise Failure("OpenSTA: no path")
        speed = {kind: round(1000 / (1000 / self.mhz - slack), 1)
                 for kind, slack in slacks.items() if slack is not None and kind != "hold"}
        return {"fmax_mhz": speed["timing"], "registers_mhz": speed.get("registers"), "hold_slack_ns": slacks["hold"]}

    def picture(self, png, pixels):
        given = {"def": self.file("layout", ".def"), "lef": LEF, "png": png, "pixels": pixels}
        words = [word for key, value in given.items() for word in ("-rd", f"{key}={value}")]
        run("klayout", ["klayout", "-zz", "-r", str(HERE / "picture.py"), *words], self.log("klayout"), self.seconds,
            env={"QT_QPA_PLATFORM": "offscreen"})


def lines_of_cell(cell):
    """The .subckt line of a cell in the library's SPICE."""
    for line in (TECH / "osu018_stdcells.sp").read_text(encoding="utf-8").splitlines():
        if line.lower().startswith(f".subckt {cell.lower()} "):
            yield line


def measure(layout):
    """All figures of a layout that is placed and routed."""
    enlarged = layout.extract()
    text = layout.text("layout", ".def")
    nets = extracted.trees(layout.text("layout", ".rc"), text)
    lengths = extracted.wires(text)
    length = sum(um for um, _ in lengths.values())
    farad = sum(net.farad() for net in nets)
    signals = [net for net in nets if net.name not in TREES]
    sinks = sum(net.sinks for net in signals)
    result = extracted.placement(text, extracted.cells_of_lef(LEF.read_text(encoding="utf-8")))
    result |= {"nets": len(nets), "lumped_nets": sum(not net.whole for net in nets), "sinks": sinks,
               "wire_um": round(length), "vias": sum(n for _, n in lengths.values()),
               "um_per_sink": round(sum(lengths[net.name][0] for net in signals) / sinks, 2),
               "ff_per_sink": round(sum(net.farad() for net in signals) / sinks, 3), "wire_ff": round(farad, 1),
               "magic_ff": round(extracted.magic_farads(layout.text("layout", "_farads.spice")), 1)}
    result["timing"] = {"none": layout.time("none"), "extracted": layout.time("extracted", nets),
                        "0.18": layout.time("018", nets, FF_PER_UM * length / farad)}
    result["enlarged"], result["drc"] = enlarged, layout.drc()
    # A wire of 0.1 um where 0.3 are the least, beside the core.
    result["drc_with_fault"] = layout.drc("box -60um -60um -50um -59.9um", "paint metal1")
    result["lvs"] = layout.lvs(layout.file("synthesis", ".spc"), "lvs")
    result["lvs_notices_fault"] = layout.lvs_with_fault()
    return result
