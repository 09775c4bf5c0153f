#!/usr/bin/env python3
"""Runs the tests of the scorecard in docs/reliability.md at their full size, one after the other, and prints the line of each with its figures
and seed. Fails if one fails or ran no test. Standard library only.

    scorecard.py [--small] [NUMBER ...]

`--small` runs them at the size of CI. QUIPU_SEED gives another seed.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Where files are not what is tested, they are in memory.
MEMORY = pathlib.Path("/dev/shm")
DISK = pathlib.Path("/var/tmp")

# Number, target, filter, the beginning of the printed lines, and the variables of the full size. `disk` keeps the files on a disk.
ROWS = [
    (1, "kill", "what_was_acknowledged_survives_kill_9", "kill -9", {"QUIPU_EFFORT": "4"}, "disk"),
    (1, "serving", "a_server_that_is_killed_again_and_again", "kill -9 of a server", {"QUIPU_KILLS": "1000", "QUIPU_KILL_ACKS": "220"}, "disk"),
    (3, "faults", "a_call_that_fails", "I/O errors", {"QUIPU_IO_ERRORS": "all"}, ""),
    (4, "ledger", "a_full_disk_loses_nothing", "full disk", {"QUIPU_EFFORT": "17"}, ""),
    (5, "ledger", "flipped_bits_are_found", "single bits", {"QUIPU_EFFORT": "13"}, ""),
    (5, "ledger", "a_truncated_file_is_never", "truncation", {"QUIPU_EFFORT": "13"}, ""),
    (6, "version_algebra", "random_histories_in_memory", "in memory", {"QUIPU_EFFORT": "13"}, ""),
    (6, "version_algebra", "random_histories_on_disk", "on disk", {"QUIPU_EFFORT": "100"}, ""),
    (6, "version_algebra", "random_histories_in_postgresql", "in PostgreSQL", {"QUIPU_EFFORT": "334"}, ""),
    (7, "ledger", "no_forgery_goes_unnoticed", "forged ledgers", {"QUIPU_EFFORT": "3"}, ""),
    (8, "scorecard", "eight_processes_append", "appends", {"QUIPU_EFFORT": "40"}, "disk"),
    (8, "processes", "servers_clients_and_commands", "processes", {"QUIPU_EFFORT": "2"}, "disk"),
    (9, "serving", "what_three_servers_answer", "linearizable head", {"QUIPU_HISTORIES": "200", "QUIPU_HISTORY_OPS": "500"}, ""),
    (10, "store", "a_request_whose_commit_is_unknown", "ambiguous commits", {"QUIPU_EFFORT": "42"}, ""),
    (11, "scorecard", "every_job_has_one_effect", "jobs", {"QUIPU_EFFORT": "100"}, ""),
    (12, "model_faults", "no_fault_of_a_model", "model faults", {}, ""),
    (13, "scorecard", "altered_claims_are_not_held", "grounding", {"QUIPU_EFFORT": "3"}, ""),
    (14, "scorecard", "the_text_of_others", "poisoning", {"QUIPU_EFFORT": "2"}, ""),
    (15, "doors", "many_users_", "tenants", {"QUIPU_EFFORT": "15"}, ""),
    (15, "doors", "opens_nothing_of_another_on_any_route", "another user's key", {}, ""),
    (16, "doors", "what_can_be_read_in_two_ways", "raw requests", {}, ""),
    (17, "serving", "what_wants_to_cost_much", "resource bombs", {}, ""),
    (18, "doors", "a_thousand_half_heads", "hostile connections", {}, ""),
    (19, "scorecard", "erased_items_and_users", "erasure", {"QUIPU_EFFORT": "20"}, ""),
    (20, "scorecard", "every_backup_under_load", "backups", {"QUIPU_EFFORT": "20"}, "disk"),
]


def run(row, small):
    number, target, name, line, variables, place = row
    folder = DISK if place == "disk" or not MEMORY.is_dir() else MEMORY
    settings = os.environ | {"TMPDIR": str(folder)} | ({} if small else variables)
    # Of the whole workspace, so that what was built for its tests is used.
    command = ["cargo", "test", "--workspace", "--test", target, "--", name, "--nocapture", "--test-threads", "1"]
    given = "" if small else "".join(f"{key}={value} " for key, value in variables.items())
    print(f"== {number}: {given}TMPDIR={folder} {' '.join(command)}", flush=True)
    began = time.monotonic()
    done = subprocess.run(command, cwd=ROOT, env=settings, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    ran = sum(int(count) for count in re.findall(r"^test result: \S+ (\d+) passed", done.stdout, re.MULTILINE))
    # Without capture the name of a test may stand before what it prints.
    for told in done.stdout.splitlines():
        told = re.sub(r"^test \S+ \.\.\. ", "", told)
        if told.startswith(line):
            print(told)
    is_good = done.returncode == 0 and ran > 0
    if not is_good:
        print(done.stdout[-6000:])
    print(f"   {'passed' if is_good else 'FAILED'}, {ran} tests, {time.monotonic() - began:.0f} s", flush=True)
    return is_good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--small", action="store_true")
    parser.add_argument("numbers", nargs="*", type=int)
    asked = parser.parse_args()
    rows = [row for row in ROWS if not asked.numbers or row[0] in asked.numbers]
    failed = [row[0] for row in rows if not run(row, asked.small)]
    if failed or not rows:
        sys.exit(f"failed: {failed}")


if __name__ == "__main__":
    main()
