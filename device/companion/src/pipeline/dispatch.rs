//! The dispatch to the pipelines of all parts.

use alloc::boxed::Box;

use super::boxed;
use crate::profile::Microarchitecture;

macro_rules! pipelines {
    ($( $(#[$doc:meta])+ $feature:literal: $variant:ident = $module:ident::$pipeline:ident, $numbers:ident::$profile:ident; )+) => {
        /// The pipeline of a thread of any part, in only as much memory as that part needs.
        #[derive(Clone, Debug)]
        pub(super) enum PartPipeline {
            $( #[cfg(feature = $feature)] $variant(Box<super::$module::$pipeline>), )+
        }

        /// Evaluates an expression with the pipeline of a part.
        macro_rules! each {
            ($of_part:expr, $part:ident => $value:expr) => {
                match $of_part {
                    $( #[cfg(feature = $feature)] $crate::pipeline::dispatch::PartPipeline::$variant($part) => $value, )+
                }
            };
        }

        /// Evaluates an expression with the type of a part's pipeline.
        macro_rules! of_model {
            ($model:expr, $type:ident => $value:expr) => {
                match $model {
                    $(
                        #[cfg(feature = $feature)]
                        $crate::Microarchitecture::$variant => {
                            type $type = $crate::pipeline::$module::$pipeline;
                            $value
                        }
                    )+
                }
            };
        }

        impl PartPipeline {
            pub(super) fn new(model: Microarchitecture) -> PartPipeline {
                match model {
                    $( #[cfg(feature = $feature)] Microarchitecture::$variant => PartPipeline::$variant(boxed(super::$module::$pipeline::new)), )+
                }
            }
        }
    };
}

for_each_part!(pipelines);
