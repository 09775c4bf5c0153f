#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| quipu_fuzz::server::http(data));
