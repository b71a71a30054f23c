#!/usr/bin/env bash
# Everything that needs a GPU, in phases, each with its own log; one failing phase does not stop the
# next. Prints PASS or FAIL a phase and a short summary last.
#
#     bench/device_run.sh OUT_FOLDER build [test] [sanitize] [ncu] [bench] [compare]
#
# Leaves in OUT_FOLDER: logs.tar.gz and, by phase, stage_bench.json (stage_bench_A_B.json of chosen layers)
# and emulator_vs_ncu.json, ready for bench/results/.
#
# Environment:
#   BUILD        build folder (build/device)
#   ARCH         CMAKE_CUDA_ARCHITECTURES (90a)
#   COMMIT       recorded beside the results (git's HEAD)
#   LAYERS       layers of `bench` by comma (all yardstick layers)
#   BENCH_SECONDS  after so many no further layer is begun (420)
#   COMPARE      layers of `compare` by comma
#   JOBS         parallel jobs (all cores)
#   BOOST_CARRY  prefix with Boost.Context for machines without it: include/boost/... (Context and the
#                headers it includes) and lib/libboost_context.a
set -uo pipefail
cd "$(dirname "$0")/.."
[ $# -ge 2 ] || { sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0"; exit 2; }

out=$(mkdir -p "$1" && cd "$1" && pwd)
shift
build=${BUILD:-build/device}
jobs=${JOBS:-$(nproc)}
logs=$(mktemp -d)
commit=${COMMIT:-$(git rev-parse HEAD 2> /dev/null || echo unknown)}
for folder in /usr/local/cuda*/bin /usr/local/cuda*/compute-sanitizer /opt/nvidia/nsight-compute/*; do
  [ -d "$folder" ] && PATH="$PATH:$folder"
done

# Small shapes with every feature once: padding, strides, dilation, groups, odd sizes.
smoke=(n2c3h9w11_k5r3s3_p1 n1c4h13w10_k6r2s5_p1x2_u2x1_d1x2_g2 n3c17h8w7_k9r1s1 n1c2h20w19_k3r7s7_p3_u2_conv)

run_build() {
  local options=(-G Ninja -DCMAKE_BUILD_TYPE=Release -DSEVENLOOPS_CUDA=ON
    "-DCMAKE_CUDA_ARCHITECTURES=${ARCH:-90a}")
  if [ -n "${BOOST_CARRY:-}" ]; then
    local carry
    carry=$(cd "$BOOST_CARRY" && pwd) || return 1
    options+=(-DBoost_NO_BOOST_CMAKE=ON -DBoost_NO_SYSTEM_PATHS=ON -DBoost_USE_STATIC_LIBS=ON
      "-DBOOST_ROOT=$carry" "-DBoost_ROOT=$carry")
  fi
  # cuDNN as a Python package has its own folders.
  local cudnn=
  compgen -G '/usr/local/cuda*/lib*/libcudnn.so*' || compgen -G '/usr/lib/*/libcudnn.so*' ||
    cudnn=$(python3 -c 'import nvidia.cudnn as c; print(list(c.__path__)[0])' 2> /dev/null)
  [ -n "$cudnn" ] && options+=("-DCMAKE_PREFIX_PATH=$cudnn")
  nvidia-smi
  # What can be built is built: other phases may not need the rest.
  cmake -S . -B "$build" "${options[@]}" && cmake --build "$build" -j "$jobs" -- -k 0
}

run_test() {
  ctest --test-dir "$build" --output-on-failure --no-tests=error -j "$((jobs / 4 > 0 ? jobs / 4 : 1))" \
    --timeout 500
}

run_sanitize() {
  local tool failed=0
  for tool in memcheck racecheck initcheck synccheck; do
    echo "== $tool"
    timeout 140 compute-sanitizer --tool "$tool" --error-exitcode 9 --print-limit 20 \
      "$build/bin/launch_once" all gpu "${smoke[@]}" > "$logs/sanitize_$tool.log" 2>&1
    local code=$?
    grep -E 'ERROR SUMMARY|RACECHECK SUMMARY|refused|stage":' "$logs/sanitize_$tool.log"
    # A filled list of violations (guards, inputs, gaps) is printed over several lines.
    if [ $code -eq 0 ] && ! grep -q 'violations": \[$' "$logs/sanitize_$tool.log"; then
      echo "clean"
    else
      failed=1
      echo "exit $code"
      tail -20 "$logs/sanitize_$tool.log"
    fi
  done
  return $failed
}

run_ncu() {
  mkdir -p "$logs/ncu"
  timeout 540 python3 -B bench/emulator_vs_ncu.py --bin "$build/bin" --raw "$logs/ncu" \
    --out "$out/emulator_vs_ncu.json" --context "commit=$commit" \
    --context "gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -1)" \
    --context "ncu=$(ncu --version | sed -n 's/^Version //p' | head -1)"
}

# A process a layer: what goes wrong in one, or takes too long, leaves the others alone.
run_bench() {
  local name=stage_bench${LAYERS:+_${LAYERS//,/_}}.json start=$SECONDS failed=0 layer
  mkdir -p "$logs/bench"
  for layer in $(tr , ' ' <<< "${LAYERS:-$(tail -n +2 bench/layers/yardstick.csv | cut -d, -f2 | paste -sd,)}"); do
    if [ $((SECONDS - start)) -gt "${BENCH_SECONDS:-420}" ]; then
      echo "NO TIME LEFT for $layer"
      failed=1
      continue
    fi
    timeout 150 "$build/bin/stage_bench" "--layers=$layer" --benchmark_out_format=json \
      --benchmark_out="$logs/bench/$layer.json" --benchmark_context=commit="$commit" ||
      { echo "FAILED $layer: exit $?"; failed=1; }
    echo "$layer done after $((SECONDS - start)) s"
  done
  python3 -B bench/report.py --merge "$out/$name" "$logs"/bench/*.json || failed=1
  [ -f "$out/$name" ] && cp "$out/$name" bench/results/ && echo "== table" &&
    python3 -B -c 'import sys; sys.path.insert(0, "bench"); import report; print(report.results())'
  return $failed
}

run_compare() {
  local layer failed=0
  for layer in $(tr , ' ' <<< "${COMPARE:-L5n16,R28,R1x1}"); do
    timeout 180 "$build/bin/sevenloops" compare conv2d --layer "$layer" --on gpu \
      --json "$logs/compare_$layer.json" || failed=1
  done
  return $failed
}

# The lines of a phase's log that say how it went.
summary() {
  case $1 in
    build)
      grep -E 'GPU:|cuDNN:|rror:|FAILED|undefined reference' "$logs/build.log" | cut -c1-200 | head -30
      tail -3 "$logs/build.log"
      ;;
    test)
      grep -E 'tests passed|Total Test time|\((Failed|Timeout|Not Run|SEGFAULT|Subprocess)' "$logs/test.log" |
        tail -60
      ;;
    bench)
      grep -E 'ERROR|FAILED|NO TIME|done after|cut short' "$logs/bench.log" | cut -c1-160 | head -60
      sed -n '/^== table/,$p' "$logs/bench.log"
      ;;
    *) tail -80 "$logs/$1.log" ;;
  esac
}

status=0
verdicts=()
for phase in "$@"; do
  declare -F "run_$phase" > /dev/null || { verdicts+=("FAIL $phase: no such phase"); status=1; continue; }
  start=$SECONDS
  "run_$phase" > "$logs/$phase.log" 2>&1
  code=$?
  [ $code -eq 0 ] && word=PASS || { word=FAIL; status=1; }
  verdicts+=("$word $phase (exit $code, $((SECONDS - start)) s)")
  printf '== %s\n' "${verdicts[-1]}"
  summary "$phase"
  tar -C "$logs" -czf "$out/logs.tar.gz" .  # after every phase: a later one may not come to its end
done
printf '== summary, commit %s\n' "$commit"
printf '%s\n' "${verdicts[@]}"
exit $status
