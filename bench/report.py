#!/usr/bin/env python3
"""Turns bench/results/*.json into the tables of the project's texts.

    report.py          rewrites every table between <!-- NAME:begin --> and <!-- NAME:end -->
    report.py --check  exit 1 and names the files whose tables are not what would be written
    report.py --merge OUT FILE...  puts several outputs of stage_bench into one file for bench/results

NAME is one of: results (the best of each family and of the libraries on each layer), ladder (every
stage on each layer), results_all (every row), emulator_vs_ncu. A row whose stage's source has changed since it was measured is marked as stale.
"""

import csv
import json
import pathlib
import re
import sys

import source_hash

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results"
TEXTS = ["README.md", "docs/*.md", "bench/results/README.md", "gpu/simt/README.md", "lessons/**/*.md"]
STALE = "†"
NOTHING = "*Not measured yet.*"


def table(header, rows, right=1):
    """Markdown; columns from number `right` on are aligned to the right."""
    align = ["---" if i < right else "---:" for i in range(len(header))]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in [header, align, *rows])


def digits(value):
    """Three significant digits, without an exponent."""
    if value == 0:
        return "0"
    if abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:#.3g}" if abs(value) >= 0.001 else f"{value:.1e}"


def size(n_bytes):
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= factor:
            return f"{digits(n_bytes / factor)} {unit}"
    return "0" if n_bytes == 0 else f"{n_bytes:.0f} B"


def load(name):
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else None


def is_stale(hashes, stage):
    """Was `stage` measured as other code than today's?"""
    key = f"conv2d/{stage}"
    return key in hashes and hashes[key] != source_hash.hash_of("conv2d", stage)


class Benchmarks:
    """One run of stage_bench: layers -> names -> row, in the file's order."""

    def __init__(self, data):
        self.context = data["context"]
        self.hashes = {key.split(".", 1)[1]: value for key, value in self.context.items()
                       if key.startswith("source_hash.")}
        self.layers = {}
        for row in data["benchmarks"]:
            layer, name = row["name"].split("/")[:2]
            self.layers.setdefault(layer, {})[name] = row

    def is_library(self, name):
        return f"conv2d/{name}" not in self.hashes

    def mark(self, name):
        return STALE if is_stale(self.hashes, name) else ""

    def fastest_library(self, layer):
        """(name, row) of the fastest full convolution of a library, or None."""
        return self.fastest_of(layer, filter(self.is_library, self.layers[layer]))

    def fastest_of(self, layer, names):
        """The same of these names."""
        rows = [(name, self.layers[layer][name]) for name in names if name in self.layers[layer]]
        rows = [(name, row) for name, row in rows
                if not row.get("error_occurred") and row.get("is_convolution")]
        return min(rows, key=lambda pair: pair[1]["real_time"], default=None)

    def conditions(self):
        c = self.context
        return (f"{c.get('gpu', 'GPU')}, driver {c.get('driver_version', '?')}, CUDA "
                f"{c.get('cuda_version', '?')}, cuDNN {c.get('cudnn_version', 'none')}; "
                f"{c.get('date', '')[:10]}, commit {c.get('commit', 'unknown')[:12]}.")


def conditions_of(layers):
    """Where and when, and the ceilings from the least to the largest that was measured."""
    def span(key):
        values = sorted(float(bench.context[key]) for _, bench in layers)
        ends = [digits(values[0]), digits(values[-1])]
        return ends[0] if ends[0] == ends[1] else " to ".join(ends)
    where = dict.fromkeys(bench.conditions() for _, bench in layers)
    return (" ".join(where) + f" Measured ceilings: {span('fp32_tflops')} TFLOP/s fp32, "
            f"{span('copy_tb_per_s')} TB/s copy.")


def measured_layers():
    """[(layer, the run that measured it), ...] of all stage_bench*.json, yardsticks in their order."""
    found = {}
    for path in sorted(RESULTS.glob("stage_bench*.json")):
        for run in json.loads(path.read_text())["runs"]:
            bench = Benchmarks(run)
            found.update({layer: bench for layer in bench.layers})
    with open(ROOT / "bench" / "layers" / "yardstick.csv", newline="") as table_of_layers:
        order = [row["name"] for row in csv.DictReader(table_of_layers)]
    place = {name: i for i, name in enumerate(order)}
    return sorted(found.items(), key=lambda pair: place.get(pair[0], len(place)))


def cell(row, mark="", rate=True):
    if row is None:
        return ""
    if row.get("error_occurred"):
        return "refused"
    return digits(row["real_time"]) + (f" ({digits(row['tflops'])})" if rate else "") + mark


def families():
    """{family: its stages of convolution, in teaching order}, by what the sources say."""
    found = {}
    for primitive, stage in source_hash.stages():
        if primitive == "conv2d":
            text = (ROOT / "gpu" / primitive / f"{stage}.cu").read_text()
            found.setdefault(re.search(r'\.family = "(\w+)"', text).group(1), []).append(stage)
    return found


def results():
    """The best of each family and of the libraries, layer by layer."""
    layers = measured_layers()
    if not layers:
        return NOTHING
    rows = []
    for layer, bench in layers:
        line = [layer]
        for stages in families().values():
            best = bench.fastest_of(layer, stages)
            line.append(f"{cell(best[1], bench.mark(best[0]))} `{best[0]}`" if best else "")
        fastest = bench.fastest_library(layer)
        rows.append([*line, f"{cell(fastest[1])} {fastest[0]}" if fastest else ""])
    header = ["layer", *families(), "fastest library"]
    return with_conditions(table(header, rows), "The fastest stage of each family: median", layers)


def ladder():
    """Every stage on every layer."""
    layers = measured_layers()
    if not layers:
        return NOTHING
    rows = []
    for stages in families().values():
        for stage in stages:
            cells = [cell(bench.layers[layer].get(stage), bench.mark(stage), rate=False)
                     for layer, bench in layers]
            rows.append([f"`{stage}`", *cells])
    return with_conditions(table(["stage", *(layer for layer, _ in layers)], rows), "Median", layers,
                           unit="ms")


def with_conditions(text, what, layers, unit="ms (effective TFLOP/s)"):
    """The table, and below it what its numbers are and where they were taken."""
    notes = [f"{what} {unit}, L2 cold, fp32, every row verified before it was timed.",
             conditions_of(layers)]
    if STALE in text:
        notes.append(f"{STALE} measured before the stage's source last changed.")
    return text + "\n\n" + " ".join(notes)


def results_all():
    layers = measured_layers()
    if not layers:
        return NOTHING
    parts = [conditions_of(layers)]
    header = ["row", "ms", "spread", "TFLOP/s", "of fp32 ceiling", "workspace", "agreement"]
    for layer, bench in layers:
        rows = []
        for name, row in bench.layers[layer].items():
            name += bench.mark(name)
            if row.get("error_occurred"):
                rows.append([name, "", "", "", "", "", row["error_message"]])
                continue
            spread = (row["p90_ms"] - row["p10_ms"]) / row["real_time"]
            agreement = "exact" if row["exact"] else (
                f"rms {row['rms_error']:.1e}" if row["is_convolution"] else "product only")
            rows.append([name, digits(row["real_time"]), f"{100 * spread:.1f} %",
                         digits(row["tflops"]),
                         f"{100 * row['tflops'] / float(bench.context['fp32_tflops']):.0f} %",
                         size(row["workspace_bytes"]), agreement])
        labels = [row["label"] for row in bench.layers[layer].values() if row.get("label")]
        parts.append(f"### {layer}: `{labels[0] if labels else ''}`\n\n{table(header, rows)}")
    return "\n\n".join(parts)


def beside(row):
    """The emulator's count, and the GPU's where it is another: a range if its runs differ."""
    if row["equal"]:
        return f"{row['emulator']}"
    runs = row["ncu_runs"]
    return f"**{row['emulator']} / {min(runs)}{'' if row['steady'] else f' to {max(runs)}'}**"


def emulator_vs_ncu():
    data = load("emulator_vs_ncu")
    if data is None:
        return NOTHING
    hashes = data["context"].get("source_hash", {})
    names = list(dict.fromkeys(r["metric"] for result in data["results"] for r in result["rows"]))
    rows, unequal, compared = [], 0, 0
    for result in data["results"]:
        mark = STALE if is_stale(hashes, result["stage"]) else ""
        start = [f"`{result['stage']}`{mark}", f"`{result['problem']}`"]
        said = result.get("failed") or result.get("refused")
        if said:
            rows.append([*start, said, *[""] * len(names)])
        count = len(result["rows"]) // max(len(names), 1)
        for i in range(count):
            launch = {r["metric"]: r for r in result["rows"][i * len(names):(i + 1) * len(names)]}
            held = [r for r in launch.values() if r["held"]]
            compared += len(held)
            unequal += sum(not r["equal"] for r in held)
            cells = [beside(r) for r in launch.values()]
            rows.append([*start, f"`{next(iter(launch.values()))['kernel']}`", *cells])
    held = {r["metric"] for result in data["results"] for r in result["rows"] if r["held"]}
    header = ["stage", "problem", "kernel", *(n if n in held else f"{n} (shown only)" for n in names)]
    gpu = data["context"].get("gpu", "a GPU")
    note = (f"{compared - unequal} of {compared} counters that are held to equality are equal to Nsight "
            f"Compute's on {gpu}; where two numbers stand, the first is the emulator's.")
    unsteady = [r for result in data["results"] for r in result["rows"]
                if r["held"] and not r["equal"] and not r["steady"]]
    if unsteady:
        note += (f" {len(unsteady)} of the others differ between runs of the same launch on the GPU itself"
                 " (the range is shown): collisions with whatever else is under way, which addresses"
                 " alone do not tell.")
    failed = sum("failed" in result for result in data["results"])
    if failed:
        note += f" {failed} comparisons failed and are not counted."
    if any(STALE in row[0] for row in rows):
        note += f" {STALE} compared before the stage's source last changed."
    return table(header, rows, right=3) + "\n\n" + note


GENERATORS = {f.__name__: f for f in (results, ladder, results_all, emulator_vs_ncu)}


def rewritten(text):
    """The text with every marked table generated anew."""
    def fill(match):
        name = match.group(1)
        if name not in GENERATORS:
            return match.group(0)
        return f"<!-- {name}:begin -->\n{GENERATORS[name]()}\n<!-- {name}:end -->"
    return re.sub(r"<!-- (\w+):begin -->.*?<!-- \1:end -->", fill, text, flags=re.DOTALL)


def merge(out, files):
    """Exit status; files that are no JSON (of runs that were cut short) are named and left out."""
    runs, cut_short = [], []
    for path in files:
        try:
            runs.append(json.loads(pathlib.Path(path).read_text()))
        except (OSError, json.JSONDecodeError):
            cut_short.append(path)
    if runs:
        pathlib.Path(out).write_text(json.dumps({"runs": runs}, indent=1) + "\n")
    for path in cut_short:
        print(f"{path}: cut short, left out")
    return 1 if cut_short else 0


def main():
    if sys.argv[1:2] == ["--merge"] and len(sys.argv) > 3:
        return merge(sys.argv[2], sys.argv[3:])
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    differ = []
    for path in sorted(path for pattern in TEXTS for path in ROOT.glob(pattern)):
        old = path.read_text()
        new = rewritten(old)
        if new == old:
            continue
        differ.append(path.relative_to(ROOT))
        if not sys.argv[1:]:
            path.write_text(new)
    for path in differ:
        print(f"{path}: {'tables differ from bench/results' if sys.argv[1:] else 'rewritten'}")
    return 1 if differ and sys.argv[1:] else 0


if __name__ == "__main__":
    sys.exit(main())
