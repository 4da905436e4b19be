#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ma2h_fuzz::address(data));
