# Everything CI does, by name. `just --list` shows what there is.

# Run every test
test:
    cargo test --workspace

# Style, lints, licences
lint:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings
    cargo deny check

# Format the code
fmt:
    cargo fmt --all

# Build the API pages; a warning is an error
docs:
    RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --workspace

# A month of someone's life, from import to undo
demo:
    cargo run --release -- demo

# Recall on a file in LoCoMo's shape
eval FILE:
    cargo run --release -- eval locomo {{FILE}}

# Speed and size on this machine
bench:
    cargo run --release -- bench

# Fuzz each target for some seconds (needs cargo-fuzz and a nightly toolchain)
fuzz SECONDS="60":
    for target in $(cargo fuzz list); do cargo fuzz run "$target" -- -max_total_time={{SECONDS}} || exit 1; done

# The tests of the open memory again and again, each time with another seed, for about an hour: what fails names its seed
soak MINUTES="60":
    end=$(( $(date +%s) + {{MINUTES}} * 60 )); seed=$(date +%s); \
    while [ "$(date +%s)" -lt "$end" ]; do \
        QUIPU_SEED=$seed cargo test --workspace --test torture --test processes --test kill --test serving || { echo "seed $seed"; exit 1; }; \
        seed=$((seed + 1)); \
    done

# Read every golden ledger as it was written
golden:
    cargo test -p quipu-testkit --test golden

# What CI runs
ci:
    .ci/run
