# The steps of CI, by name. `just --list` lists them.

# Run every test
test:
    cargo test --workspace

# Check formatting, lints and licences
lint:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings
    cargo deny check

# Format the code
fmt:
    cargo fmt --all

# Build the API documentation; warnings are errors
docs:
    RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --workspace

# Run the demo: a month of a user's life, from import to undo
demo:
    cargo run --release -- demo

# Evaluate recall on a file in LoCoMo's format
eval FILE:
    cargo run --release -- eval locomo {{FILE}}

# Measure speed and size on this machine
bench:
    cargo run --release -- bench

# Start a PostgreSQL of this machine for measurements, with its files in FOLDER, and print the URLs of empty databases
postgres FOLDER="/var/tmp":
    TMPDIR={{FOLDER}} cargo run -p quipu-testkit --example postgres

# For SECONDS kill three servers on one PostgreSQL, one every 20 seconds, while eight writers use them, and judge what is left
endurance SECONDS="300":
    QUIPU_ENDURANCE_SECONDS={{SECONDS}} cargo test -p quipu-cli --test serving servers_are_killed -- --nocapture

# Hold a server at 70 % of the machine's capacity for SECONDS with USERS, and judge its memory, file handles, threads and answers
long-run SECONDS="7200" USERS="10000":
    QUIPU_LONG_RUN_SECONDS={{SECONDS}} QUIPU_LONG_RUN_USERS={{USERS}} cargo test --release -p quipu-cli --test serving steady_load -- --nocapture

# Import files of so many TURNS, and measure time and memory of import, opening, recall, packs, revert and erasure
big-memory TURNS="10000,100000,300000,1000000" *FLAGS:
    cargo run --release -- bench --turns {{TURNS}} {{FLAGS}}

# Fuzz each target, or the TARGETS, for SECONDS on one core (needs cargo-fuzz and a nightly toolchain)
fuzz SECONDS="60" *TARGETS="":
    fuzz/run {{SECONDS}} {{TARGETS}}

# Repeat the randomized tests for MINUTES, each time with another seed, and print the seed of a failure
soak MINUTES="60":
    end=$(( $(date +%s) + {{MINUTES}} * 60 )); seed=$(date +%s); \
    while [ "$(date +%s)" -lt "$end" ]; do \
        QUIPU_SEED=$seed cargo test --workspace --test torture --test processes --test kill --test serving || { echo "seed $seed"; exit 1; }; \
        seed=$((seed + 1)); \
    done

# Simulate STEPS steps of many users and processes with faults of every kind, from a new seed (CI: 10,000)
simulate STEPS="1000000":
    QUIPU_SEED=${QUIPU_SEED:-$(date +%s)} QUIPU_STEPS={{STEPS}} cargo test -p quipu-testkit --test simulation in_memory -- --nocapture

# Take a megabyte of each worst text in, through every way, and print a line after each
worst-texts BYTES="1048576":
    QUIPU_WORST_BYTES={{BYTES}} cargo test -p quipu-testkit --test worst_texts -- --nocapture --test-threads 1

# Make IMAGES images of power failures, and judge each
power-cut IMAGES="10000":
    QUIPU_POWER_CUTS={{IMAGES}} cargo test -p quipu-faults --test faults power -- --nocapture

# Fail every system call of a run that does everything, once and from then on
io-errors:
    QUIPU_IO_ERRORS=all cargo test -p quipu-faults --test faults errors -- --nocapture

# Run the tests of the scorecard in docs/reliability.md at their full size, or those with the NUMBERS, and print their figures
scorecard *NUMBERS:
    python3 crates/quipu-testkit/scorecard.py {{NUMBERS}}

# Test 16 of the scorecard: send more than 20,000 requests made from /openapi.json (needs crates/quipu-server/tests/sdk/requirements-fuzz.txt)
fuzz-api EXAMPLES="60":
    cargo build -p quipu-cli
    python3 crates/quipu-server/tests/sdk/fuzz.py "${CARGO_TARGET_DIR:-target}/debug/quipu" --examples {{EXAMPLES}}

# Plant each serious fault of crates/quipu-testkit/mutants, or the NAMES, in a copy of the source, and run the test that catches it
mutants *NAMES:
    python3 crates/quipu-testkit/mutants/run.py {{NAMES}}

# Check that every golden ledger reads and folds as when it was written
golden:
    cargo test -p quipu-testkit --test ledger golden

# Run CI
ci:
    .ci/run
