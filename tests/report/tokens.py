# SPDX-License-Identifier: Apache-2.0
"""scripts/tokens with a stand-in for smk: the calls that it makes, that it goes on where it was stopped, and its check.

usage: tokens.py SOURCE_DIR SMK
"""

import csv
import json
import pathlib
import subprocess
import sys
import tempfile

STAND_IN = """#!{python}
import json, pathlib, sys
text = pathlib.Path(sys.argv[2]).read_text()
with open({log!r}, "a") as log:
    log.write(json.dumps([sys.argv[1:], text]) + "\\n")
names = [line.split('"')[1] for line in text.splitlines() if line.startswith("name")][1:]
time = {{"mean": 200_000, "max": 300_000}}
print(json.dumps({{"clients": [{{"name": name, "request": 0.3, "share": 0.5, "token_share": 0.4, "work": 0.25 + 0.05 * i, "jobs": 3,
    "kernels": 4, "latency_ns": time, "gpu_wait_ns": None if "--device" not in sys.argv else time, "tokens": 7,
    "mean_overuse_ns": 1_000, "max_overuse_ns": 9_000}} for i, name in enumerate(names)]}}))
"""


def expect(holds, what):
    if not holds:
        sys.exit(f"tokens: {what}")


def call(*words):
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return done.returncode, done.stdout.decode()


def check_calls(log):
    calls = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    expect(len({json.dumps(c[0][2:]) + c[1] for c in calls}) == len(calls), "the same run twice")
    for words, text in calls:
        tokens = "--policy" in words and words[words.index("--policy") + 1] == "tokens"
        expect(tokens == any(word.startswith("policy.token_quota=") for word in words), f"{words}: a quota without tokens")
        expect(("static-quota" in words) != ("none" in words), f"{words}: one scheduler")
        expect("static-quota" in words or "--device" in words, f"{words}: a policy without a device")
    quotas = {word for words, _ in calls for word in words if word.startswith("policy.token_quota=")}
    expect("policy.token_quota=36480" in quotas and len(quotas) == 5, f"{quotas}: not 30 us at 1216 MHz")
    software = {line for words, text in calls if "static-quota" in words for line in text.splitlines() if line.startswith("quota")}
    expect(len(software) == 5, f"{software}: not five quotas of software")
    return len(calls)


def main():
    source, smk = pathlib.Path(sys.argv[1]), sys.argv[2]
    script = source / "scripts/tokens"
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        docs, log, stand_in = folder / "docs", folder / "calls", folder / "smk"
        docs.mkdir()
        stand_in.write_text(STAND_IN.format(python=sys.executable, log=str(log)), encoding="utf-8")
        stand_in.chmod(0o755)
        status, said = call(script, "--run", "--smk", stand_in, "--docs", docs)
        expect(status == 0, said)
        made = check_calls(log)
        status, said = call(script, "--run", "--smk", stand_in, "--docs", docs)
        expect(status == 0 and len(log.read_text(encoding="utf-8").splitlines()) == made, "runs were made again")

        # Without the last run, that one is made.
        with open(docs / "tokens.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
        expect(rows[1][:5] == ["short", "software", "10", "10", "times"], f"{rows[1]}")
        (docs / "tokens.csv").write_text("".join(",".join(row) + "\n" for row in rows[:1] + rows[3:]), encoding="utf-8")
        expect(call(script, "--run", "--smk", stand_in, "--docs", docs)[0] == 0, "no run")
        expect(len(log.read_text(encoding="utf-8").splitlines()) == made + 1, "what was missing was not made")

        page = (docs / "tokens.md").read_text(encoding="utf-8")
        expect("| hardware tokens | 30 | 40.0 | 40.0 | 25.0 | 30.0 | 0.55 | 0.83 | 0.83 |" in page, "other figures")
        expect(call(script, "--docs", docs, "--check") == (0, ""), "its own page is not accepted")
        (docs / "tokens.md").write_text(page.replace("| 0.55 |", "| 0.56 |", 1), encoding="utf-8")
        status, said = call(script, "--docs", docs, "--check")
        expect(status == 1 and "tokens.md" in said, "another page is not noticed")

        # The real program knows the options, and the streams.
        for stream in sorted((source / "sim/streams").glob("tokens_*.toml")):
            text = stream.read_text(encoding="utf-8").replace('machine = "gtx980"', 'machine = "mini"')
            text = text.replace('duration = "3ms"', 'duration = "1us"')
            (folder / "short.toml").write_text(text, encoding="utf-8")
            status, said = call(smk, "serve", folder / "short.toml", "--scheduler", "none", "--policy", "isolated", "--device", "cycle")
            expect(status == 2 and "isolated" in said, f"{stream.name}: {said}")


if __name__ == "__main__":
    main()
