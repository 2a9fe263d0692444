#![no_main]
sqslint_fuzz::target!("variables");
