//! The laboratory program.

use std::io::{self, BufWriter};
use std::process::ExitCode;

use vm_pmu_guest_tests::lab;
use vm_pmu_guest_tests::lab::output::Output;
use vm_pmu_guest_tests::lab::run::NoGuests;

fn main() -> ExitCode {
    let mut stdout = BufWriter::new(io::stdout().lock());
    let mut output = Output::to_terminal(&mut stdout);
    ExitCode::from(lab::main(std::env::args_os(), &NoGuests, &mut output, &mut io::stderr()))
}
