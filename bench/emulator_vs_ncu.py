#!/usr/bin/env python3
"""The emulator's counters beside Nsight Compute's, for every stage on three problems.

    emulator_vs_ncu.py --bin build/cuda/bin --raw RAW_FOLDER [--out bench/results/emulator_vs_ncu.json]

Runs launch_once in the emulator and, under ncu, on the GPU; compares launch by launch; writes JSON.
Exit 0 when everything that is held to equality is equal, 1 when not, 2 when a run failed. Where the
GPU itself answers differently from run to run of one launch, no number can be equal to it: such
answers are shown, all of them, and do not fail the comparison.
What ncu printed is left in RAW_FOLDER.
"""

import argparse
import csv
import io
import json
import pathlib
import re
import subprocess
import sys

import source_hash

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROBLEMS = [
    "n2c32h14w14_k48r3s3_p1",                     # a residual network's kind
    "n2c12h17w23_k18r3s5_p1x2_u2x1_d1x2_g3",      # everything odd: strides, dilation, groups
    "n1c3h45w37_k20r7s7_p3_u2",                   # a first layer: few channels, a large filter
]

RUNS = 5  # of each launch under ncu

# What is compared: our name, where it stands among launch_once's counters, ncu's names (the first that
# exists), and whether the two must be equal. Stores that are predicated off count as instructions on
# a GPU, so the number of shared stores is shown only.
METRICS = [
    ("global load requests", "global_load.requests",
     ["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"], True),
    ("global load sectors", "global_load.sectors",
     ["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"], True),
    ("global store requests", "global_store.requests",
     ["l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"], True),
    ("global store sectors", "global_store.sectors",
     ["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"], True),
    ("shared loads, merged", "shared_load.merged_requests",
     ["smsp__inst_executed_op_shared_ld.sum", "smsp__sass_inst_executed_op_shared_ld.sum"], True),
    ("shared load conflicts", "shared_load.merged_bank_conflicts",
     ["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"], True),
    ("shared store conflicts", "shared_store.merged_bank_conflicts",
     ["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"], True),
    ("shared stores, merged", "shared_store.merged_requests",
     ["smsp__inst_executed_op_shared_st.sum", "smsp__sass_inst_executed_op_shared_st.sum"], False),
]


class Failed(Exception):
    """A run that gave no result."""


def run(command, log):
    """Standard output of a command; all its output goes to the file `log`."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Failed(str(error)) from None
    log.write_text(f"$ {' '.join(command)}\n{done.stdout}\n{done.stderr}\nexit {done.returncode}\n")
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip() or "nothing").splitlines()[-1]
        raise Failed(f"{pathlib.Path(command[0]).name} ended with {done.returncode}: {said}")
    return done.stdout


def plain_name(kernel):
    """`void a::(anonymous namespace)::direct<float>(...)` and the like -> `direct`."""
    kernel = re.sub(r"\((anonymous namespace|anonymous)\)::|<unnamed>::", "", kernel)
    kernel = re.split(r"[<(]", kernel, maxsplit=1)[0].strip()
    return re.split(r"::|\s", kernel)[-1]


def number(text):
    """A count as ncu prints it, "1,234" or "1234.00"."""
    try:
        return round(float(text.replace(",", "")))
    except ValueError:
        raise Failed(f"ncu printed '{text}' where a count should be") from None


def parse_ncu(text):
    """ncu's CSV (one row a launch, or one row a metric) -> [{"kernel", metric: value, ...}, ...]."""
    lines = [line for line in text.splitlines() if line and not line.startswith("==")]
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        raise Failed("ncu printed no table")
    rows = list(csv.DictReader(io.StringIO("\n".join(lines[start:]))))
    launches = {}
    for row in rows:
        if not (row["ID"] or "").strip().isdigit():
            continue  # the row of units
        launch = launches.setdefault(int(row["ID"]), {"kernel": plain_name(row["Kernel Name"])})
        if "Metric Name" in row:
            launch[row["Metric Name"]] = number(row["Metric Value"])
        else:
            launch.update({k: number(v) for k, v in row.items() if k and k.endswith(".sum")})
    return [launches[i] for i in sorted(launches)]


def known_metrics(ncu, raw):
    """Base names that ncu knows for this GPU; empty when it does not say."""
    try:
        return set(re.findall(r"^(\w+__\w+)", run([ncu, "--query-metrics"], raw / "query.txt"),
                              re.MULTILINE))
    except Failed:
        return set()


def chosen_metrics(known):
    """[(our name, path, ncu's name, held to equality), ...]"""
    def best(names):
        return next((n for n in names if n.rsplit(".", 1)[0] in known), names[0])
    return [(name, path, best(ncu_names), held) for name, path, ncu_names, held in METRICS]


def at(launch, path):
    for key in path.split("."):
        launch = launch[key]
    return launch


def compare_launches(emulated, runs, metrics):
    """One row a launch and metric: emulator's value, ncu's in the least disturbed run, equal or not.

    Hardware counts of bank conflicts include collisions with what other warps have under way, so
    they may differ from run to run of the same launch; the smallest is nearest to what the access
    pattern alone costs. All values are kept beside it, and tell whether they did differ."""
    for measured in runs:
        names = [[plain_name(launch["kernel"]) for launch in side] for side in (emulated, measured)]
        if names[0] != names[1]:
            raise Failed(f"the emulator launched {names[0]}, the GPU {names[1]}")
    rows = []
    for ours, *theirs in zip(emulated, *runs):
        for name, path, ncu_name, held in metrics:
            if any(ncu_name not in launch for launch in theirs):
                raise Failed(f"ncu did not report {ncu_name}")
            values = [launch[ncu_name] for launch in theirs]
            a, b = at(ours["counters"], path), min(values)
            rows.append({"kernel": plain_name(ours["kernel"]), "metric": name,
                         "ncu_metric": ncu_name, "emulator": a, "ncu": b, "ncu_runs": values,
                         "held": held, "equal": a == b, "steady": min(values) == max(values)})
    return rows


def one(stage, problem, metrics, ncu, program, raw):
    """The comparison of one stage on one problem."""
    stem = f"{stage}_{problem}"
    said = json.loads(run([program, stage, "emulator", problem], raw / f"{stem}.emulator.txt"))[0]
    result = {"stage": stage, "problem": problem}
    if "refused" in said:
        return {**result, "refused": said["refused"], "rows": []}
    wrong = [fault["message"] for fault in said["faults"]] + said["violations"]
    if wrong:
        raise Failed(f"the emulator reports: {wrong[0]}")
    names = sorted({plain_name(launch["kernel"]) for launch in said["launches"]})
    runs = []
    for i in range(RUNS):
        table = raw / f"{stem}.{i}.csv"
        table.unlink(missing_ok=True)
        said_by_ncu = run([ncu, "--clock-control", "none", "--csv", "--page", "raw", "--print-units",
                           "base", "--kernel-name", f"regex:^({'|'.join(names)})$",
                           "--log-file", str(table), "--metrics", ",".join(m[2] for m in metrics),
                           program, stage, "gpu", problem], raw / f"{stem}.{i}.ncu.txt")
        runs.append(parse_ncu(table.read_text() if table.exists() else said_by_ncu))
    return {**result, "rows": compare_launches(said["launches"], runs, metrics)}


def summary_of(results):
    lines = []
    for result in results:
        unequal = [r for r in result["rows"] if r["held"] and not r["equal"]]
        compared = sum(r["held"] for r in result["rows"])
        word = result.get("failed") or result.get("refused") or (
            f"{compared - len(unequal)} of {compared} equal")
        lines.append(f"{result['stage']:16} {result['problem']:42} {word}")
        lines += [f"    {r['kernel']}: {r['metric']}: emulator {r['emulator']}, ncu {r['ncu_runs']}"
                  for r in result["rows"] if not r["equal"]]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, type=pathlib.Path)
    parser.add_argument("--raw", required=True, type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path,
                        default=ROOT / "bench" / "results" / "emulator_vs_ncu.json")
    parser.add_argument("--ncu", default="ncu")
    parser.add_argument("--context", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--stages", help="names by comma (default: all)")
    parser.add_argument("problems", nargs="*", default=PROBLEMS)
    options = parser.parse_args()
    options.raw.mkdir(parents=True, exist_ok=True)
    program = str(options.bin / "launch_once")
    metrics = chosen_metrics(known_metrics(options.ncu, options.raw))
    all_stages = [stage for primitive, stage in source_hash.stages() if primitive == "conv2d"]
    results = []
    for stage in options.stages.split(",") if options.stages else all_stages:
        for problem in options.problems:
            try:
                results.append(one(stage, problem, metrics, options.ncu, program, options.raw))
            except Failed as failure:
                results.append({"stage": stage, "problem": problem, "failed": str(failure),
                                "rows": []})
    context = dict(pair.split("=", 1) for pair in options.context)
    context["source_hash"] = {f"{p}/{s}": source_hash.hash_of(p, s) for p, s in
                              source_hash.stages() if p == "conv2d"}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps({"context": context, "results": results}, indent=1) + "\n")
    print(summary_of(results))
    if any("failed" in r for r in results):
        return 2
    wrong = [row for r in results for row in r["rows"]
             if row["held"] and row["steady"] and not row["equal"]]
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
