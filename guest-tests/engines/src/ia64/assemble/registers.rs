//! The registers that instructions name.

macro_rules! registers {
    ($kind:ident $what:literal: $($name:ident $number:literal),*) => {
        #[doc = concat!("A ", $what, ".")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $kind(u8);

        $(#[doc = concat!("The ", $what, " of number ", $number, ".")] pub const $name: $kind = $kind($number);)*

        impl $kind {
            /// The register of this number; only its lowest bits matter.
            #[must_use]
            pub const fn new(number: u8) -> Self {
                Self(number % [$($number),*].len() as u8)
            }

            /// Its number.
            #[must_use]
            pub const fn number(self) -> u8 {
                self.0
            }

            pub(super) const fn bits(self) -> u64 {
                self.0 as u64
            }
        }
    };
}

macro_rules! named {
    ($kind:ident $what:literal: $($name:ident $number:literal $meaning:literal;)*) => {
        #[doc = concat!("The number of a register among the ", $what, ", 0 to 127.")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $kind(u8);

        impl $kind {
            $(#[doc = concat!($meaning, ".")] pub const $name: Self = Self($number);)*

            /// The register of this number; only its lowest seven bits matter.
            #[must_use]
            pub const fn new(number: u8) -> Self {
                Self(number & 0x7F)
            }

            /// Its number.
            #[must_use]
            pub const fn number(self) -> u8 {
                self.0
            }

            pub(super) const fn bits(self) -> u64 {
                self.0 as u64
            }
        }
    };
}

registers!(Gr "general register":
    R0 0, R1 1, R2 2, R3 3, R4 4, R5 5, R6 6, R7 7, R8 8, R9 9, R10 10, R11 11, R12 12, R13 13, R14 14, R15 15, R16 16, R17 17, R18 18,
    R19 19, R20 20, R21 21, R22 22, R23 23, R24 24, R25 25, R26 26, R27 27, R28 28, R29 29, R30 30, R31 31, R32 32, R33 33, R34 34,
    R35 35, R36 36, R37 37, R38 38, R39 39, R40 40, R41 41, R42 42, R43 43, R44 44, R45 45, R46 46, R47 47, R48 48, R49 49, R50 50,
    R51 51, R52 52, R53 53, R54 54, R55 55, R56 56, R57 57, R58 58, R59 59, R60 60, R61 61, R62 62, R63 63, R64 64, R65 65, R66 66,
    R67 67, R68 68, R69 69, R70 70, R71 71, R72 72, R73 73, R74 74, R75 75, R76 76, R77 77, R78 78, R79 79, R80 80, R81 81, R82 82,
    R83 83, R84 84, R85 85, R86 86, R87 87, R88 88, R89 89, R90 90, R91 91, R92 92, R93 93, R94 94, R95 95, R96 96, R97 97, R98 98,
    R99 99, R100 100, R101 101, R102 102, R103 103, R104 104, R105 105, R106 106, R107 107, R108 108, R109 109, R110 110, R111 111,
    R112 112, R113 113, R114 114, R115 115, R116 116, R117 117, R118 118, R119 119, R120 120, R121 121, R122 122, R123 123, R124 124,
    R125 125, R126 126, R127 127);

registers!(Fr "floating-point register":
    F0 0, F1 1, F2 2, F3 3, F4 4, F5 5, F6 6, F7 7, F8 8, F9 9, F10 10, F11 11, F12 12, F13 13, F14 14, F15 15, F16 16, F17 17, F18 18,
    F19 19, F20 20, F21 21, F22 22, F23 23, F24 24, F25 25, F26 26, F27 27, F28 28, F29 29, F30 30, F31 31, F32 32, F33 33, F34 34,
    F35 35, F36 36, F37 37, F38 38, F39 39, F40 40, F41 41, F42 42, F43 43, F44 44, F45 45, F46 46, F47 47, F48 48, F49 49, F50 50,
    F51 51, F52 52, F53 53, F54 54, F55 55, F56 56, F57 57, F58 58, F59 59, F60 60, F61 61, F62 62, F63 63, F64 64, F65 65, F66 66,
    F67 67, F68 68, F69 69, F70 70, F71 71, F72 72, F73 73, F74 74, F75 75, F76 76, F77 77, F78 78, F79 79, F80 80, F81 81, F82 82,
    F83 83, F84 84, F85 85, F86 86, F87 87, F88 88, F89 89, F90 90, F91 91, F92 92, F93 93, F94 94, F95 95, F96 96, F97 97, F98 98,
    F99 99, F100 100, F101 101, F102 102, F103 103, F104 104, F105 105, F106 106, F107 107, F108 108, F109 109, F110 110, F111 111,
    F112 112, F113 113, F114 114, F115 115, F116 116, F117 117, F118 118, F119 119, F120 120, F121 121, F122 122, F123 123, F124 124,
    F125 125, F126 126, F127 127);

registers!(Pr "predicate register":
    P0 0, P1 1, P2 2, P3 3, P4 4, P5 5, P6 6, P7 7, P8 8, P9 9, P10 10, P11 11, P12 12, P13 13, P14 14, P15 15, P16 16, P17 17, P18 18,
    P19 19, P20 20, P21 21, P22 22, P23 23, P24 24, P25 25, P26 26, P27 27, P28 28, P29 29, P30 30, P31 31, P32 32, P33 33, P34 34,
    P35 35, P36 36, P37 37, P38 38, P39 39, P40 40, P41 41, P42 42, P43 43, P44 44, P45 45, P46 46, P47 47, P48 48, P49 49, P50 50,
    P51 51, P52 52, P53 53, P54 54, P55 55, P56 56, P57 57, P58 58, P59 59, P60 60, P61 61, P62 62, P63 63);

registers!(Br "branch register":
    B0 0, B1 1, B2 2, B3 3, B4 4, B5 5, B6 6, B7 7);

named!(Ar "application registers":
    KR0 0 "Kernel register 0";
    KR1 1 "Kernel register 1";
    KR2 2 "Kernel register 2";
    KR3 3 "Kernel register 3";
    KR4 4 "Kernel register 4";
    KR5 5 "Kernel register 5";
    KR6 6 "Kernel register 6";
    KR7 7 "Kernel register 7";
    RSC 16 "Register stack configuration";
    BSP 17 "Backing store pointer";
    BSPSTORE 18 "Where the register stack engine stores next";
    RNAT 19 "NaT bits that the register stack engine collects";
    CSD 25 "The upper half of sixteen bytes";
    CCV 32 "What `cmpxchg` compares with";
    UNAT 36 "NaT bits of `ld8.fill` and `st8.spill`";
    FPSR 40 "Floating-point status";
    ITC 44 "Interval time counter";
    RUC 45 "Cycles in which the thread had the core's resources";
    PFS 64 "Previous function state";
    LC 65 "Loop count";
    EC 66 "Epilog count";
);

named!(Cr "control registers":
    DCR 0 "Default control";
    ITM 1 "Interval timer match";
    IVA 2 "Interruption vector address";
    PTA 8 "Page table address";
    IPSR 16 "PSR of what was interrupted";
    ISR 17 "Interruption status";
    IIP 19 "Where what was interrupted goes on";
    IFA 20 "The address that faulted";
    ITIR 21 "Page size and key for insertion";
    IIPA 22 "The bundle of the last instruction that completed";
    IFS 23 "Frame of what was interrupted";
    IIM 24 "Immediate of the break";
    IHA 25 "Address in the page table";
    LID 64 "Local identifier";
    IVR 65 "The vector of the interrupt that is taken";
    TPR 66 "Task priority";
    EOI 67 "End of interrupt";
    IRR0 68 "Interrupts that wait, 0 to 63";
    IRR1 69 "Interrupts that wait, 64 to 127";
    IRR2 70 "Interrupts that wait, 128 to 191";
    IRR3 71 "Interrupts that wait, 192 to 255";
    ITV 72 "Vector of the interval timer";
    PMV 73 "Vector of the performance monitor";
    CMCV 74 "Vector of corrected machine checks";
    LRR0 80 "Local redirection 0";
    LRR1 81 "Local redirection 1";
);
