#!/usr/bin/env bash
# Builds the container image from the archives of a release, for x86-64 and arm64.
#
#   packaging/container.sh try DIST                   builds it for this machine and tries it
#   packaging/container.sh push DIST IMAGE VERSION    builds it for both and pushes it
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
dist=$(realpath "$2")
context=$(mktemp -d)
trap 'rm -rf "$context"' EXIT

# The folder that takes the place of the first stage.
mkdir "$context/licences" "$context/data"
for machine in amd64:x86_64 arm64:aarch64; do
    archive=$(ls "$dist"/quipu-*-"${machine#*:}"-unknown-linux-musl.tar.gz)
    mkdir "$context/${machine%%:*}" "$context/unpacked"
    tar -xzf "$archive" -C "$context/unpacked" --strip-components 1
    mv "$context/unpacked/quipu" "$context/${machine%%:*}/quipu"
    mv "$context/unpacked/"*LICENSE* "$context/unpacked/MODEL-PROVENANCE.md" "$context/licences/"
    rm -r "$context/unpacked"
done

build() {
    docker buildx build --file packaging/Containerfile --build-context "build=$context" "$@" .
}

try() {
    local volume=quipu-try-$$ name=quipu-try-$$ locked
    locked=(--read-only --cap-drop ALL --security-opt no-new-privileges --volume "$volume:/data")
    build --load --tag quipu:try
    trap 'docker rm --force "$name" >/dev/null 2>&1; docker volume rm "$volume" >/dev/null 2>&1; rm -rf "$context"' EXIT
    docker run --rm "${locked[@]}" quipu:try key create try
    docker run --detach --name "$name" "${locked[@]}" --publish 127.0.0.1:0:7077 quipu:try
    docker exec "$name" quipu add "My sister Ana lives in Lisbon."
    docker exec "$name" quipu recall "Where does my sister live?" | grep Lisbon
    for _ in $(seq 60); do
        [ "$(docker inspect --format '{{.State.Health.Status}}' "$name")" = healthy ] && break
        sleep 1
    done
    [ "$(docker inspect --format '{{.State.Health.Status}}' "$name")" = healthy ]
    docker stop "$name"
    [ "$(docker inspect --format '{{.State.ExitCode}}' "$name")" = 0 ]
}

case $1 in
try) try ;;
push)
    docker buildx create --use
    build --platform linux/amd64,linux/arm64 --push --tag "$3:$4" --tag "$3:latest"
    ;;
*) exit 2 ;;
esac
