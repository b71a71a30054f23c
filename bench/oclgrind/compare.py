#!/usr/bin/env python3
"""The emulator beside Oclgrind: one tiled matrix product, both with every check on, in one run.

Both run n x n matrices in blocks of 32 x 32 threads. What is compared is accesses to memory by
threads per second of kernel execution; the number of accesses follows from n and is confirmed by
both sides' own counters before anything is timed. Rounds alternate between the two. Writes a JSON
file with medians and every single measurement.
"""

import argparse
import json
import os
import platform
import re
import statistics
import subprocess
import sys

CHECKS = ["--data-races", "--uninitialized"]


def accesses(n):
    """Loads and stores of all threads: see matmul_tiled_accesses in bench/simt_tiled.hpp."""
    return n * n * (n // 32 * 4 + n * 2 + 1)


def output_of(command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def first_line(command, fallback="unknown"):
    try:
        return output_of(command).strip().splitlines()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return fallback


def confirm_oclgrind_accesses(driver, n):
    """Oclgrind's instruction histogram of two launches must hold what the formula says, twice."""
    histogram = output_of(["oclgrind", "--inst-counts", driver, str(n), "1"])
    counted = sum(int(count) for count in re.findall(r"(\d+) - (?:load|store) ", histogram))
    if counted != 2 * accesses(n):
        sys.exit(f"Oclgrind counts {counted} accesses in two launches, not {2 * accesses(n)}")


def oclgrind_seconds(driver, n, threads):
    command = ["oclgrind", *CHECKS, "--num-threads", str(threads), driver, str(n), "1"]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    if result.stderr.strip():
        sys.exit(f"Oclgrind reports faults: {result.stderr.strip()[:300]}")
    return json.loads(result.stdout)["seconds"][0]


def emulator_seconds(bench, build, n, workers):
    name = f"^run/{build}/n:{n}/workers:{workers}/real_time$"
    data = json.loads(output_of([bench, f"--benchmark_filter={name}", "--benchmark_format=json"]))
    [measured] = data["benchmarks"]
    if measured.get("error_occurred"):
        sys.exit(f"the emulator's run is not to be believed: {measured['error_message']}")
    return measured["real_time"] / 1e3


def row(tool, checks, workers, n, seconds):
    median = statistics.median(seconds)
    return {
        "tool": tool, "checks": checks, "workers": workers, "n": n,
        "seconds": seconds, "median_seconds": median,
        "accesses_per_second": accesses(n) / median,
    }


def cpu_model():
    with open("/proc/cpuinfo", encoding="utf-8") as cpuinfo:
        names = [line.split(":")[1].strip() for line in cpuinfo if line.startswith("model name")]
    return names[0] if names else platform.processor()


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default=os.path.join(here, "../../build/cpu/bin"),
                        help="folder that holds simt_bench and tiled_opencl")
    parser.add_argument("--n", type=int, default=128, choices=[128, 256], help="matrix size")
    parser.add_argument("--rounds", type=int, default=5, help="repetitions of everything")
    parser.add_argument("--compiler", default="g++", help="what built simt_bench, for the record")
    parser.add_argument("--out", default=os.path.join(here, "../results/emulator_speed.json"))
    args = parser.parse_args()
    driver, bench = (os.path.join(args.bin, name) for name in ("tiled_opencl", "simt_bench"))
    cores = os.cpu_count()

    confirm_oclgrind_accesses(driver, 64)
    counts = sorted({1, cores})
    times = {}
    for _ in range(args.rounds):
        for workers in counts:
            for build in ("plain", "traced_with_all_checks"):
                times.setdefault((build, workers), []).append(
                    emulator_seconds(bench, build, args.n, workers))
            times.setdefault(("oclgrind", workers), []).append(
                oclgrind_seconds(driver, args.n, workers))

    rows, ratios = [], {}
    for workers in counts:
        plain = row("sevenloops, plain", "none", workers, args.n, times["plain", workers])
        traced = row("sevenloops, traced", "all, with all counters", workers, args.n,
                     times["traced_with_all_checks", workers])
        other = row("oclgrind", " ".join(CHECKS), workers, args.n, times["oclgrind", workers])
        rows += [plain, traced, other]
        ratios[f"workers_{workers}"] = (
            traced["accesses_per_second"] / other["accesses_per_second"])

    result = {
        "what": "matrix product in 32 x 32 tiles: accesses by threads per second of kernel time",
        "accesses": accesses(args.n),
        "cpu": cpu_model(), "cores": cores,
        "compiler": first_line([args.compiler, "--version"]),
        "oclgrind": first_line(["oclgrind", "--version"]),
        "git_commit": first_line(["git", "-C", here, "rev-parse", "HEAD"]),
        "rounds": args.rounds,
        "traced_over_oclgrind": ratios,
        "measurements": rows,
    }
    with open(args.out, "w", encoding="utf-8") as out:
        json.dump(result, out, indent=1)
        out.write("\n")
    for entry in rows:
        print(f"{entry['tool']:20} {entry['workers']:3} workers "
              f"{entry['accesses_per_second'] / 1e6:10.2f} M accesses/s")
    told = ", ".join(f"{ratio:.0f}x ({name})" for name, ratio in ratios.items())
    print(f"traced over Oclgrind: {told}")


if __name__ == "__main__":
    main()
