//! What is shown is counted once, and what is compacted can be taken back.

use quipu_testkit::tale::check;

#[test]
fn what_is_shown_is_counted_outside_the_ledger_and_written_down_once() {
    check(
        "hits",
        r#"
given said "the violin is at the luthier"
 and  said "the boat is in the harbour"
when  asked "where is the violin"
 and  asked "where is the violin"
then  version 2
      hits 1 0
when  counted
then  version 3
      hits 1 2
      hits 2 0
when  counted
then  version 3
"#,
    );
}

#[test]
fn what_was_kept_outlives_a_restart_and_what_was_not_is_lost() {
    check(
        "kept hits",
        r#"
given said "the violin is at the luthier"
when  asked "where is the violin"
 and  kept
 and  asked "where is the violin"
 and  reopen
 and  counted
then  hits 1 1
      version 2
when  reopen
 and  counted
then  hits 1 1
      version 2
"#,
    );
}

#[test]
fn hits_of_what_is_erased_vanish_and_come_back_with_nothing() {
    check(
        "erased hits",
        r#"
given said "the violin is at the luthier"
 and  said "the boat is in the harbour"
when  asked "where is the violin"
 and  asked "where is the boat"
 and  counted
then  hits 1 1
      hits 2 1
when  erase 1
then  hits 2 1
      orphans none
when  revert 3
then  hits 2 0
when  rebuild
then  hits 2 0
      intact
"#,
    );
}

#[test]
fn what_is_asked_and_erased_before_it_is_written_down_is_not_counted() {
    check(
        "erased before it was counted",
        r#"
given said "the violin is at the luthier"
 and  said "the boat is in the harbour"
when  asked "where is the violin"
 and  asked "where is the boat"
 and  erase 1
 and  counted
then  hits 2 1
      version 4
      orphans none
"#,
    );
}

#[test]
fn old_words_leave_the_active_index_and_are_found_all_the_same() {
    check(
        "demotion",
        r#"
given said "we talked about the violin at the luthier" in monday on 2020-01-06
 and  said "the luthier said the bow is cracked" in monday on 2020-01-06
 and  said "the new boat is in the harbour" in today on 2031-01-01
 and  told
then  active 4 of 4
when  compacted
then  active 2 of 4
      recalls "what did the luthier say" "the luthier said the bow is cracked"
      intact
when  rebuild
then  active 2 of 4
when  revert 5
then  active 4 of 4
when  compacted
then  active 4 of 4
      skipped 5
"#,
    );
}
