#!/usr/bin/env bash
# Builds every fuzz target into $OUT, with its seeds and its dictionary, as OSS-Fuzz and ClusterFuzzLite expect it.
#
#   OUT        the folder for programs, seeds and dictionaries
#   SANITIZER  address (the default), memory, thread, none, or coverage, which is built without
#
# Seeds are what lies in fuzz/corpus; if nothing does, the programs of the litmus files are written there first.
set -euo pipefail
: "${OUT:?OUT must name the folder that the targets go to}"
cd "$(dirname "$0")/.."
# Fuzzing needs nightly, whatever the repository pins.
export RUSTUP_TOOLCHAIN="${RUSTUP_TOOLCHAIN:-nightly}"

case "${SANITIZER:-address}" in
address | memory | thread | none) sanitizer="${SANITIZER:-address}" ;;
coverage) sanitizer=none ;;
*)
    echo "SANITIZER=$SANITIZER is unknown: there are address, memory, thread, none and coverage" >&2
    exit 2
    ;;
esac

# The targets know the values that a part compares with, so the fuzzer need not watch comparisons.
cargo fuzz build -s "$sanitizer" --no-trace-compares
ls corpus/*/ >/dev/null 2>&1 || (cd .. && cargo run --quiet --package vm-pmu --features arbitrary --example litmus_seeds -- guest-tests/litmus fuzz/corpus)
# The parser begins with the text itself.
mkdir -p corpus/litmus_text
cp ../guest-tests/litmus/k8/*.litmus corpus/litmus_text

mkdir -p "$OUT"
host="$(rustc -vV | sed -n 's/^host: //p')"
for target in $(cargo fuzz list); do
    cp "target/$host/release/$target" "$OUT/"
    if [ -d "seeds/$target" ]; then
        mkdir -p "corpus/$target"
        cp "seeds/$target"/* "corpus/$target"
    fi
    if [ -n "$(ls -A "corpus/$target" 2>/dev/null)" ]; then
        (cd "corpus/$target" && find . -type f -print0 | sort -z | xargs -0 python3 -m zipfile -c "$OUT/${target}_seed_corpus.zip")
    fi
    if [ -f "dictionaries/$target.dict" ]; then
        cp "dictionaries/$target.dict" "$OUT/"
    fi
done
