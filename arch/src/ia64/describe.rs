//! Tables of registers.

use crate::layout::{Field, FieldAccess};

/// The field of a breakpoint register that holds an address.
pub(crate) const ADDRESS: &[Field] =
    &[Field { name: "addr", high: 63, low: 0, access: FieldAccess::ReadWrite, summary: "an address to compare with" }];

/// The registers of a part, and after them the breakpoint registers, which every part has.
macro_rules! describe {
    ($( $kind:ident $name:literal $number:literal $fields:expr ),+ $(,)?) => {
        $crate::ia64::describe![
            @whole
            $( $kind $name $number $fields, )+
            Ibr "IBR0" 0 $crate::ia64::ADDRESS,
            Ibr "IBR1" 1 $crate::ia64::InstructionMask::FIELDS,
            Ibr "IBR2" 2 $crate::ia64::ADDRESS,
            Ibr "IBR3" 3 $crate::ia64::InstructionMask::FIELDS,
            Ibr "IBR4" 4 $crate::ia64::ADDRESS,
            Ibr "IBR5" 5 $crate::ia64::InstructionMask::FIELDS,
            Ibr "IBR6" 6 $crate::ia64::ADDRESS,
            Ibr "IBR7" 7 $crate::ia64::InstructionMask::FIELDS,
            Dbr "DBR0" 0 $crate::ia64::ADDRESS,
            Dbr "DBR1" 1 $crate::ia64::DataMask::FIELDS,
            Dbr "DBR2" 2 $crate::ia64::ADDRESS,
            Dbr "DBR3" 3 $crate::ia64::DataMask::FIELDS,
            Dbr "DBR4" 4 $crate::ia64::ADDRESS,
            Dbr "DBR5" 5 $crate::ia64::DataMask::FIELDS,
            Dbr "DBR6" 6 $crate::ia64::ADDRESS,
            Dbr "DBR7" 7 $crate::ia64::DataMask::FIELDS,
        ]
    };
    (@whole $( $kind:ident $name:literal $number:literal $fields:expr, )+) => {
        &[ $( RegisterDescription { name: $name, address: Address::$kind($number), fields: $fields } ),+ ]
    };
}
pub(crate) use describe;
