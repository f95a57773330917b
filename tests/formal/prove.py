# SPDX-License-Identifier: Apache-2.0
"""Runs one proof of a drawer, and its mutant, which the same proof must refute.

usage: prove.py NAME [--work DIR] [--only proof|mutant] [--rtl DIR] [--record]
       prove.py --list

answers.json has what ABC said of each model, by two hashes. One is that of the files that Yosys reads, without comments,
and of what the tools are told: when it is there, no model is made. The other is that of the AIGER file and of what ABC is
asked: when it is there, ABC is not asked again. With SMK_PROVE_ALL=1 in the environment all is done anew.
--record writes the answers there.

Ends with 0 when the property is proved and the mutant refuted, 77 when Yosys or ABC is missing.
"""

import argparse
import fcntl
import hashlib
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TB = ROOT / "tb"
sys.path[:0] = [str(HERE.parent), str(TB)]
from drawers import cut_file, faults, proofs, property_files, seed
from rtl_files import files_of

ABC = "yosys-abc"
SKIPPED = 77
ANSWERS = HERE / "answers.json"
# Seconds for ABC or Yosys to answer, if a proof does not say otherwise.
TIMEOUT = 300


class ProofError(Exception):
    """The proof could not be run: a tool failed, or the mutant does not apply."""


def configure(rtl, numbers):
    """Changes numbers of configuration small in the copy of the package."""
    for name, value in numbers.items():
        package = rtl / "config/small/smk_config.svh"
        if not re.search(rf" {name} ", package.read_text()):
            package = rtl / "common/smk_pkg.sv"
        text, count = re.subn(
            rf"(parameter int unsigned {name}\s+(?:/\*.*?\*/ )?=)[^;]*;", rf"\g<1> {value};",
            package.read_text(), count=1,
        )
        if count != 1:
            raise ProofError(f"no number {name} in smk_pkg.sv")
        package.write_text(text)


def copy_rtl(proof, mutant, source, work):
    rtl = work / "rtl"
    shutil.rmtree(rtl, ignore_errors=True)
    shutil.copytree(source, rtl, ignore=shutil.ignore_patterns("*.md", "CMakeLists.txt"))
    if mutant:
        fault = faults()[mutant]
        path = cut_file(fault, rtl)
        path.write_text(seed(path.read_text(), {fault["cut"]: lambda right: fault["wrong"]}))
    configure(rtl, proof.get("config", {}))
    return rtl


def give_names(model):
    """Names of Yosys' own, which the next Yosys would make once more."""
    design = json.loads(model.read_text())
    for module in design["modules"].values():
        for kind in ("cells", "netnames"):
            module[kind] = {(f"$read_{kind}{i}" if name[0] == "$" else name): what
                            for i, (name, what) in enumerate(module[kind].items())}
    model.write_text(json.dumps(design))


def run(command, seconds, log):
    """The output of a command; None when it runs out of time."""
    try:
        done = subprocess.run(command, timeout=seconds, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
    except subprocess.TimeoutExpired:
        return None
    log.write_text(done.stdout)
    if done.returncode != 0:
        raise ProofError(f"{command[0]} failed, see {log}:\n" + done.stdout[-1500:])
    return done.stdout


def select(proof, mutant):
    """Keeps the assertions of this proof, and assumes its lemmas; of a mutant nothing is known."""
    names = proof["assertions"] + ([] if mutant else proof.get("invariants", []))
    kept = [f"c:*{name}" for name in names if name != "Hold"]
    lines = []
    for name in [] if mutant else proof.get("lemmas", []):
        lines.append(f"chformal -assert2assume c:*{name}")
    union = " ".join([*kept, *["%u"] * (len(kept) - 1)])
    if kept:
        lines.append(f"select -assert-count {len(kept)} {union}")
    lines.append(f"select -set others t:$assert {union + ' %d' if kept else ''}")
    lines.append("chformal -assert -remove @others")
    return lines


def hold_registers(model):
    """Asserts that no register of the block changes while `idle` of the wrapper is high."""
    design = json.loads(model.read_text())
    (module,) = [m for m in design["modules"].values() if "top" in m.get("attributes", {})]
    idle = module["netnames"]["idle"]["bits"]
    top = 1 + max(b for n in module["netnames"].values() for b in n["bits"] if isinstance(b, int))
    registers = [(name, cell) for name, cell in module["cells"].items()
                 if cell["type"] == "$dff" and "held" in cell["attributes"]]
    if not registers:
        raise ProofError("no registers to hold")
    for name, cell in registers:
        width = len(cell["connections"]["Q"])
        number = f"{width:032b}"
        module["cells"][f"$same{top}"] = {
            "hide_name": 1, "type": "$eq", "attributes": {},
            "parameters": {"A_SIGNED": f"{0:032b}", "B_SIGNED": f"{0:032b}", "A_WIDTH": number,
                           "B_WIDTH": number, "Y_WIDTH": f"{1:032b}"},
            "port_directions": {"A": "input", "B": "input", "Y": "output"},
            "connections": {"A": cell["connections"]["D"], "B": cell["connections"]["Q"],
                            "Y": [top]},
        }
        module["cells"][f"$hold{top}"] = {
            "hide_name": 1, "type": "$assert", "attributes": {}, "parameters": {},
            "port_directions": {"A": "input", "EN": "input"},
            "connections": {"A": [top], "EN": idle},
        }
        top += 1
    model.write_text(json.dumps(design))
    return sum(len(cell["connections"]["Q"]) for _, cell in registers)


def watches(module):
    """Connects what the wrapper watches inside the module (`WATCH) to its signal."""
    text = "".join(path.read_text() for path in property_files(module))
    pairs = re.findall(r"^  `WATCH\([^,]*, (\w+), ([\w.\[\]]+)\)", text, re.M)
    return [f"connect -set {name} {signal}" for name, signal in pairs]


def yosys(lines, seconds, log):
    script = log.with_suffix(".ys")
    script.write_text("\n".join(lines) + "\n")
    return run(["yosys", "-q", "-s", str(script), "-e", "implicitly declared"], seconds, log)


COMMENT = re.compile(rb"[ \t]*//[^\n]*")


def sources(proof, mutant, source, work):
    """The files of a proof's model in a copy of rtl/, and a hash of them, of those that they may include, and
    of what Yosys and ABC are told; without comments."""
    rtl = copy_rtl(proof, mutant, source, work)
    files = files_of(property_files(proof["module"])[0], rtl)
    included = [path for folder in (rtl / "common", rtl / "config/small", TB) for path in sorted(folder.rglob("*.svh"))]
    told = [*read_lines(proof, mutant, rtl, files, work), *AIGER_LINES, asked_of(proof, mutant)]
    digest = hashlib.sha256("\n".join(told).replace(str(work), "").replace(str(ROOT), "").encode())
    for path in [*files, *included]:
        digest.update(path.name.encode() + b"\0" + COMMENT.sub(b"", path.read_bytes()))
    return files, digest.hexdigest()


def read_lines(proof, mutant, rtl, files, work):
    """The script that writes a proof's model."""
    module = proof["module"]
    holds = "Hold" in proof["assertions"]
    # Also where the wrapper sets parameters of the block, and Yosys calls it something else.
    keep = [f"setattr -set held 1 -set keep 1 smk_*/t:$*dff* *smk_{module}*/t:$*dff* %u",
            "setattr -set keep 1 smk_*/t:$mem*"]
    read = f"read_verilog -sv -formal -I {rtl}/common -I {rtl}/config/small -I {TB} -I {TB}/common "
    return [
        read + " ".join(map(str, files)),
        f"hierarchy -check -top formal_{module}",
        "proc", "opt_clean", *(keep if holds else []), "flatten",
        "opt_expr", "opt_clean", "memory -nomap",
        "memory_map", *watches(module),
        *(["setattr -set held 1 -set keep 1 c:$memory*u_dut*"] if holds else []),
        "async2sync", *select(proof, mutant), "opt", "dffunmap", "opt_clean",
        f"write_json {work}/model.json",
    ]


def build(proof, mutant, files, work):
    """Writes the model of a proof as RTLIL; the number of register bits that are held."""
    yosys(read_lines(proof, mutant, work / "rtl", files, work), 300, work / "read.log")
    give_names(work / "model.json")
    return hold_registers(work / "model.json") if "Hold" in proof["assertions"] else 0


def engine(proof, mutant, seconds):
    """What ABC shall do: find an invariant of its own, or induction over so many cycles."""
    frames = proof.get("frames")
    if mutant and "mutant_frames" in proof:
        return f"bmc3 -F {proof['mutant_frames']} -T {seconds}"
    if proof["method"] == "induction":
        # Every first state within these cycles, and every later one that follows as many good ones.
        return f"bmc3 -F {frames} -T {seconds}; orpos; ind -F {frames - 1} -T {seconds}"
    return f"pdr -T {seconds}"


def recorded(name, part):
    """The entry of a proof or of its mutant: the hash of what was asked, and the answer."""
    if os.environ.get("SMK_PROVE_ALL") == "1" or not ANSWERS.exists():
        return {}
    return json.loads(ANSWERS.read_text(encoding="utf-8")).get(name, {}).get(part, {})


def record(name, answers):
    """Writes the answers of a proof, while others may write theirs."""
    with open(HERE / "prove.py", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        known = json.loads(ANSWERS.read_text(encoding="utf-8")) if ANSWERS.exists() else {}
        known = {other: entry for other, entry in known.items() if other in {p["name"] for p in proofs()}}
        known[name] = {**known.get(name, {}), **answers}
        new = ANSWERS.with_suffix(".part")
        new.write_text(json.dumps(dict(sorted(known.items())), indent=1) + "\n", encoding="utf-8")
        new.replace(ANSWERS)


# How the model becomes one of gates, and one for ABC.
MODEL_LINES = ["read_json {work}/model.json", "setundef -undriven -anyseq", "opt", "techmap", "opt", "dffunmap"]
AIGER_LINES = [
    *MODEL_LINES, "abc -g AND -fast", "opt_clean", "write_aiger -I -B -zinit -map {work}/model.map {work}/model.aig",
]


def steps_of(proof, mutant):
    """What ABC does. sat refuses what has latches."""
    seconds = proof.get("timeout", TIMEOUT)
    return f"fold; strash; {proof.get('reduce', 'scorr;')} {engine(proof, mutant, seconds)}; orpos; sat"


def asked_of(proof, mutant):
    """The same without how long it may take."""
    return re.sub(r" -T \d+", "", steps_of(proof, mutant))


def model_of(proof, mutant, work):
    """Writes the model for ABC; the hash of it and of what ABC is asked."""
    yosys([line.format(work=work) for line in AIGER_LINES], 300, work / "aiger.log")
    return hashlib.sha256(asked_of(proof, mutant).encode() + (work / "model.aig").read_bytes()).hexdigest()


def abc(proof, steps, work):
    seconds = proof.get("timeout", TIMEOUT)
    out = run([ABC, "-q", f"read_aiger {work}/model.aig; {steps}"], 2 * seconds + 60, work / "abc.log")
    if out is None:
        return "no answer in time"
    found = re.search(r"was asserted in frame (\d+)", out)
    if found:
        return f"refuted in cycle {found.group(1)}"
    seen = re.search(r"No output asserted in (\d+) frames", out)
    base = seen and int(seen.group(1)) >= proof.get("frames", 0)
    step = "Property proved" in out or "Networks are equivalent" in out
    # Nothing was left of the property after the reduction, not even a latch: newer versions of ABC say no more than that.
    if "UNSATISFIABLE" in out:
        return "proved"
    proved = {"pdr": step, "induction": base and step}[proof["method"]]
    return "proved" if proved else "no answer in time"


def trace(proof, work):
    """Where induction does not follow: as many good cycles as it takes, from any state, and one that is not. What
    is in the model by name, of each cycle what differs from the one before; None when Yosys finds none in time."""
    seconds = proof.get("timeout", TIMEOUT)
    sat = f"sat -tempinduct -prove-asserts -set-assumes -maxsteps {proof['frames']} -show-public -timeout {seconds}"
    script = work / "trace.ys"
    script.write_text("\n".join([*(line.format(work=work) for line in MODEL_LINES), sat]) + "\n")
    said = run(["yosys", "-s", str(script)], 2 * seconds, work / "trace.log")
    if said is None or "maximum number of time steps" not in said:
        return None
    text, cycle, before = [], None, {}
    for line in said[said.rindex("  Time Signal Name"):].splitlines():
        value = re.match(r" +(\d+) \\(\S+) +\S+ +\S+ +([01x]+)$", line)
        if not value:
            continue
        if value[1] != cycle:
            cycle = value[1]
            text.append(f"    cycle {cycle}:")
        if before.get(value[2]) != value[3]:
            text.append(f"      {value[2]} = {value[3]}")
        before[value[2]] = value[3]
    return "\n".join(text)


def seconds_used():
    """Processor time of the tools so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def attempt(proof, part, source, work):
    """What ABC says, or has said, and the entry for answers.json."""
    mutant = proof["mutant"] if part == "mutant" else None
    work.mkdir(parents=True, exist_ok=True)
    start = seconds_used()
    files, inputs = sources(proof, mutant, source, work)
    before = recorded(proof["name"], part)
    if before.get("inputs") == inputs:
        return f"{before['answer']}, as recorded of these files", before
    held = build(proof, mutant, files, work)
    entry = {"inputs": inputs, "model": model_of(proof, mutant, work), **({"held": held} if held else {})}
    if before.get("model") == entry["model"]:
        return f"{before['answer']}, as recorded of this model", {**entry, "answer": before["answer"]}
    entry["answer"] = abc(proof, steps_of(proof, mutant), work)
    return f"{entry['answer']} in {seconds_used() - start:.1f} s", entry


def prove(proof, source, work, only, write):
    good = True
    answers = {}
    print(f"{proof['name']}: {proof['property']}")
    print(f"  module {proof['module']}, method {proof['method']}, bound {proof['bound']}")
    if only != "mutant":
        text, answers["proof"] = attempt(proof, "proof", source, work / "proof")
        good = answers["proof"]["answer"] == "proved"
        held = answers["proof"].get("held")
        registers = f", {held} register bits held" if held else ""
        unknown = proof["method"] == "induction" and answers["proof"]["answer"] == "no answer in time"
        found = trace(proof, work / "proof") if unknown else None
        print(f"  proof: induction does not follow:\n{found}" if found else f"  proof: {text}{registers}")
    if only != "proof":
        text, answers["mutant"] = attempt(proof, "mutant", source, work / "mutant")
        good = good and answers["mutant"]["answer"].startswith("refuted")
        print(f"  mutant {proof['mutant']}: {text}")
    if write and good:
        record(proof["name"], answers)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", nargs="?")
    parser.add_argument("--list", action="store_true", help="name, label and time limit of all proofs")
    parser.add_argument("--work", type=pathlib.Path, help="keep the files of the proof here")
    parser.add_argument("--only", choices=["proof", "mutant"])
    parser.add_argument("--rtl", type=pathlib.Path, default=ROOT / "rtl", help="another rtl/")
    parser.add_argument("--without", metavar="INVARIANT", help="leave it out: what is it for?")
    parser.add_argument("--record", action="store_true", help="write the answers to answers.json")
    args = parser.parse_args()
    if args.list:
        for proof in proofs():
            label = "formal-long" if proof.get("long") else "formal"
            print(f"{proof['name']},{label},{4 * proof.get('timeout', TIMEOUT) + 120}")
        return 0
    wanted = [proof for proof in proofs() if proof["name"] == args.name]
    if not wanted:
        sys.exit(f"prove.py: no proof '{args.name}'; see prove.py --list")
    if not shutil.which("yosys") or not shutil.which(ABC):
        print("prove.py: no yosys or no ABC: skipped")
        return SKIPPED
    if args.without:
        if args.record or args.without not in wanted[0].get("invariants", []):
            sys.exit(f"prove.py: {args.name} has no invariant '{args.without}', or it is to be recorded without it")
        wanted[0]["invariants"].remove(args.without)
    with tempfile.TemporaryDirectory() as folder:
        work = args.work or pathlib.Path(folder)
        try:
            return 0 if prove(wanted[0], args.rtl, work, args.only, args.record) else 1
        except ProofError as error:
            print(f"prove.py: {error}")
            return 1


if __name__ == "__main__":
    sys.exit(main())
