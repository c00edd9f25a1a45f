//! `pmulab`: the laboratory of the PMUs, at a prompt.

use std::io::{self, BufWriter};
use std::process::ExitCode;

use vm_pmu_lab::engines::Engines;
use vm_pmu_lab::output::Output;

fn main() -> ExitCode {
    if let Err(error) = vm_pmu_lab::interrupt::listen() {
        eprintln!("pmulab: Ctrl-C ends a guest without its report: {error}");
    }
    let mut stdout = BufWriter::new(io::stdout().lock());
    let mut output = Output::to_terminal(&mut stdout);
    ExitCode::from(vm_pmu_lab::commands::main(std::env::args_os(), &Engines, &mut output, &mut io::stderr()))
}
