#![no_main]
sqslint_fuzz::target!("terraform_expression");
