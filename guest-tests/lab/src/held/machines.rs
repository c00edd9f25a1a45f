//! The machines of each engine between two steps. They differ in their types and in the name of the next instruction's address.

use vm_pmu::arch::access::{Address, Fault};
use vm_pmu::topology;
use vm_pmu_board::Lines;

use super::{Held, Stop};

/// The machine of an engine, and its step: the name, the module of the engine and of its glue, the address of the next instruction, and what
/// there is beyond the machine, its PMUs and its end.
macro_rules! machine {
    ($(#[$about:meta])* $name:ident $engine:ident $address:ident { $($(#[$also:meta])* $more:ident: $type:ty)? }) => {
        $(#[$about])*
        pub(crate) struct $name<'a, 'b> {
            pub(crate) machine: &'a mut vm_pmu_engines::$engine::Machine<vm_pmu_board::$engine::Cpu<'b>>,
            pub(crate) pmus: &'a topology::Machine<Lines>,
            /// How its run has ended.
            pub(crate) exit: Option<vm_pmu_engines::$engine::Exit>,
            $($(#[$also])* pub(crate) $more: $type,)?
        }

        impl $name<'_, '_> {
            /// Runs for so many steps; how the run has ended, if it has.
            fn run(&mut self, steps: u64) -> Option<Stop> {
                use vm_pmu_engines::$engine::{Exit, Limits};

                let exit = vm_pmu_board::$engine::run(self.machine, Limits::steps(steps));
                if exit == Exit::Limit {
                    return None;
                }
                let status = match exit {
                    Exit::Status { status, .. } => Some(status),
                    _ => None,
                };
                let words = exit.to_string();
                self.exit = Some(exit);
                Some(Stop { status, words })
            }
        }

        impl Held for $name<'_, '_> {
            fn step(&mut self) -> Option<Stop> {
                self.run(1)
            }

            fn prepare(&mut self) -> Result<usize, Stop> {
                match self.run(0) {
                    None => Ok(self.machine.next_cpu()),
                    Some(stop) => Err(stop),
                }
            }

            fn pmus(&self) -> &topology::Machine<Lines> {
                self.pmus
            }

            fn threads(&self) -> usize {
                self.machine.cpus()
            }

            fn place(&self, thread: usize) -> Option<(u64, u64, u64)> {
                let (cpu, observer) = (self.machine.cpu(thread)?, self.machine.observer(thread)?);
                Some((cpu.$address(), observer.instructions(), cpu.cycles()))
            }

            fn write(&mut self, thread: usize, address: Address, value: u64) -> Result<(), Fault> {
                self.machine.observer_mut(thread).ok_or(Fault::Unclaimed)?.write_from_outside(self.pmus, address, value)
            }
        }
    };
}

machine! {
    /// A machine of x86.
    X86 x86 rip {}
}

machine! {
    /// A machine of POWER.
    Power power pc {
        /// The byte order of the guest's file, which is a debugger's.
        little_endian: bool
    }
}

machine! {
    /// A machine of IA-64.
    Ia64 ia64 ip {}
}
