#![no_main]
sqslint_fuzz::target!("source");
