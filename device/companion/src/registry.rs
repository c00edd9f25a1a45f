//! The parts: one line each, which is compiled if the feature of the part's name is on.

/// Gives a macro the lines of all parts. A line has a feature, the variant of [`Microarchitecture`](crate::Microarchitecture), the module and the type of
/// the pipeline, and the module and the constant of the numbers.
macro_rules! for_each_part {
    ($then:ident) => {
        $then! {
            /// AMD K8: lines of three macro-operations, three integer and three floating-point units, out of order.
            "k8": K8 = k8::K8Pipeline, k8::K8;
            /// Intel Knights Landing: two micro-operations per cycle, reservation stations for two integer ports, two vector ports and memory,
            /// out of order. The four threads of a core compete.
            "knl": Knl = knl::KnlPipeline, knl::KNL;
            /// The first Intel Itanium: groups of six instructions in two bundles, in order. It needs the same as Montecito.
            "itanium": Itanium = itanium::ItaniumPipeline, itanium::ITANIUM;
            /// Intel Montecito: groups of six instructions in two bundles, in order. The two threads of a core take turns. It needs the
            /// [bundle](crate::Instruction::bundle) of every instruction, and the numbers of [`ia64_register`](crate::ia64_register) in its
            /// operations.
            "montecito": Montecito = montecito::MontecitoPipeline, montecito::MONTECITO;
            /// IBM POWER9: six internal operations per cycle to four slices, out of order. The four threads of a core compete.
            "power9": Power9 = power9::Power9Pipeline, power9::POWER9;
        }
    };
}
