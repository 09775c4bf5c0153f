//! See `quipu_testkit::fuzzing::import`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| quipu_testkit::fuzzing::import(data));
