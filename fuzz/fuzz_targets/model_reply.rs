#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| quipu_testkit::fuzzing::model_reply(data));
