//! What executes guests, by name.

use std::fmt;

/// What executes a guest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// The project's own engine for the processor of the part.
    #[default]
    Interpreter,
    /// The host's processor, through KVM: guests of x86. In builds with the feature `kvm`, on Linux on x86-64.
    Kvm,
    /// Unicorn, an emulator that this project did not write: guests of x86 and POWER. In builds with the feature `unicorn`.
    Unicorn,
}

impl Engine {
    /// Every engine.
    pub const ALL: [Engine; 3] = [Engine::Interpreter, Engine::Kvm, Engine::Unicorn];

    /// Its name, as `--engine` takes it and reports show it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Engine::Interpreter => "interpreter",
            Engine::Kvm => "kvm",
            Engine::Unicorn => "unicorn",
        }
    }

    /// The engine of this name.
    ///
    /// ```
    /// use vm_pmu_lab::runner::Engine;
    ///
    /// assert_eq!(Engine::named("interpreter"), Some(Engine::Interpreter));
    /// assert_eq!(Engine::named("quantum"), None);
    /// ```
    #[must_use]
    pub fn named(name: &str) -> Option<Engine> {
        Engine::ALL.into_iter().find(|engine| engine.name() == name)
    }

    /// Whether it executes guests for the PMU of this name at all.
    #[must_use]
    pub fn executes(self, pmu: &str) -> bool {
        match self {
            Engine::Interpreter => true,
            Engine::Kvm => matches!(pmu, "k8" | "knl"),
            Engine::Unicorn => matches!(pmu, "k8" | "knl" | "power9"),
        }
    }

    /// Whether this build has it.
    #[must_use]
    pub const fn is_built(self) -> bool {
        match self {
            Engine::Interpreter => true,
            Engine::Kvm => cfg!(all(feature = "kvm", target_os = "linux", target_arch = "x86_64")),
            Engine::Unicorn => cfg!(feature = "unicorn"),
        }
    }

    /// The engines that this build has.
    pub fn built() -> impl Iterator<Item = Engine> {
        Engine::ALL.into_iter().filter(|engine| engine.is_built())
    }

    /// Why guests of `pmu` are not executed: this build does not have the engine, or the engine not such guests.
    pub(super) fn refusal(self, pmu: &str) -> Option<String> {
        if !self.is_built() {
            Some(format!("this build does not have it: build with `--features {self}`"))
        } else if !self.executes(pmu) {
            Some(format!("it cannot execute guests of {pmu}: leave out `--engine`"))
        } else {
            None
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
