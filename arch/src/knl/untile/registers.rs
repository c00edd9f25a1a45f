//! The layouts of the untile's registers.
//!
//! Bits as Linux's driver has them (`uncore_snbep.c`, the formats and masks of the `knl_` boxes) and, for what it does not touch, as the
//! guides of the server parts before this one; filters as table 1-2 of the manual.

use crate::layout::layout;

layout! {
    /// The control of a counter in CHA, IRP, M2PCIe, EDC and MC boxes.
    ///
    /// ```
    /// use vm_pmu_arch::knl::untile::CounterControl;
    ///
    /// // TOR_INSERTS.IRQ, enabled, with the thread's filter.
    /// let control = CounterControl::written(0x0048_3135);
    /// assert_eq!((control.ev_sel(), control.umask()), (0x35, 0x31));
    /// assert!(control.en() && control.tid_en());
    /// ```
    pub struct CounterControl {
        /// event to count; 80h and above are those of the mesh stop
        "ev_sel" => ev_sel / set_ev_sel: u8 = 7..0;
        /// sub-events of the event
        "umask" => umask / set_umask: u8 = 15..8;
        /// count rising edges of the comparison
        "edge_det" => edge_det / set_edge_det: bool = 18;
        /// count what the thread in filter 0 does
        "tid_en" => tid_en / set_tid_en: bool = 19;
        /// overflow is reported to the UBox
        "ov_en" => ov_en / set_ov_en: bool = 20;
        /// the counter counts
        "en" => en / set_en: bool = 22;
        /// compare for less than the threshold
        "invert" => invert / set_invert: bool = 23;
        /// least increment in a clock; 0 adds increments up
        "thresh" => thresh / set_thresh: u8 = 31..24;
        reserved 21;
        reserved 63..32;
        only "q_occ_rst" 16 = "CHA and IRP: writing a one empties the queue that the counter follows; reads as zero";
        only "rst" 17 = "writing a one clears the counter; reads as zero";
    }
}

layout! {
    /// The control of a general counter of the UBox.
    pub struct UboxCounterControl {
        /// event to count
        "ev_sel" => ev_sel / set_ev_sel: u8 = 7..0;
        /// sub-events of the event
        "umask" => umask / set_umask: u8 = 15..8;
        /// count rising edges of the comparison
        "edge_det" => edge_det / set_edge_det: bool = 18;
        /// kept; the UBox filters no threads
        "tid_en" => tid_en / set_tid_en: bool = 19;
        /// overflow is reported
        "ov_en" => ov_en / set_ov_en: bool = 20;
        /// the counter counts
        "en" => en / set_en: bool = 22;
        /// compare for less than the threshold
        "invert" => invert / set_invert: bool = 23;
        /// least increment in a clock; 0 adds increments up
        "thresh" => thresh / set_thresh: u8 = 28..24;
        reserved 16;
        reserved 21;
        reserved 31..29;
        reserved 63..32;
        only "rst" 17 = "writing a one clears the counter; reads as zero";
    }
}

layout! {
    /// The control of a counter of the power control unit.
    pub struct PcuCounterControl {
        /// event to count
        "ev_sel" => ev_sel / set_ev_sel: u8 = 6..0;
        /// count how many cores are in the state of occ_sel, instead of an event
        "use_occ_ctr" => use_occ_ctr / set_use_occ_ctr: bool = 7;
        /// the state: 1 is C0, 2 is C3, 3 is C6
        "occ_sel" => occ_sel / set_occ_sel: u8 = 15..14;
        /// count rising edges of the comparison
        "edge_det" => edge_det / set_edge_det: bool = 18;
        /// kept; nothing of the unit belongs to a thread
        "tid_en" => tid_en / set_tid_en: bool = 19;
        /// overflow is reported to the UBox
        "ov_en" => ov_en / set_ov_en: bool = 20;
        /// the counter counts
        "en" => en / set_en: bool = 22;
        /// compare for less than the threshold
        "invert" => invert / set_invert: bool = 23;
        /// least increment in a clock; 0 adds increments up
        "thresh" => thresh / set_thresh: u8 = 29..24;
        /// compare the cores for less than the threshold
        "occ_invert" => occ_invert / set_occ_invert: bool = 30;
        /// count rising edges of the cores' comparison
        "occ_edge_det" => occ_edge_det / set_occ_edge_det: bool = 31;
        reserved 13..8;
        reserved 16;
        reserved 21;
        reserved 63..32;
        only "rst" 17 = "writing a one clears the counter; reads as zero";
    }
}

layout! {
    /// The control of a fixed counter of an EDC or a memory controller: it counts the box's clock.
    pub struct FixedControl {
        /// the counter counts
        "en" => en / set_en: bool = 0;
        /// overflow is reported to the UBox
        "ov_en" => ov_en / set_ov_en: bool = 20;
        /// kept; on this part bit 0 enables
        "en_server" => en_server / set_en_server: bool = 22;
        reserved 18..1;
        reserved 21;
        reserved 63..23;
        only "rst" 19 = "writing a one clears the counter; reads as zero";
    }
}

layout! {
    /// U_MSR_PMON_FIXED_CTL, 703h: the control of the UBox's fixed counter, which counts the untile's clock.
    pub struct UboxFixedControl {
        /// overflow is reported
        "ov_en" => ov_en / set_ov_en: bool = 20;
        /// the counter counts
        "en" => en / set_en: bool = 22;
        reserved 19..0;
        reserved 21;
        reserved 63..23;
    }
}

layout! {
    /// The control of a box.
    pub struct BoxControl {
        /// the counters of the box stand still
        "frz" => frz / set_frz: bool = 8;
        /// kept; on earlier parts without it nothing freezes
        "frz_en" => frz_en / set_frz_en: bool = 16;
        /// kept; on earlier parts it lets overflows out of the box
        "ov_en" => ov_en / set_ov_en: bool = 17;
        reserved 7..2;
        reserved 15..9;
        reserved 63..18;
        only "rst_ctrl" 0 = "writing a one clears the controls of all counters; reads as zero";
        only "rst_ctrs" 1 = "writing a one clears all counters; reads as zero";
    }
}

layout! {
    /// PERF_UNIT_CTL_CHA_n, filter 0 of a CHA (table 1-2).
    pub struct ChaFilter0 {
        /// thread within the tile: its core and its number there
        "ThreadID" => thread_id / set_thread_id: u8 = 2..0;
        /// tile
        "TileID" => tile_id / set_tile_id: u8 = 8..3;
        /// kept; the part has one socket, and no link to filter
        "LinkID3" => link_id3 / set_link_id3: bool = 12;
        /// look-ups that find the line shared
        "SF_S" => sf_s / set_sf_s: bool = 18;
        /// look-ups that find the line exclusive
        "SF_E" => sf_e / set_sf_e: bool = 19;
        /// look-ups that find the line modified
        "SF_M" => sf_m / set_sf_m: bool = 20;
        reserved 11..9;
        reserved 17..13;
        reserved 63..21;
    }
}

layout! {
    /// PERF_UNIT_CTL_1_CHA_n, filter 1 of a CHA (table 1-2): which entries of the table of requests count.
    ///
    /// Its bits come in groups: nodes (0 and 1), memory (4 and 5), opcodes (3, and the two codes), and the last two by themselves. A
    /// group that is all zero lets everything through.
    pub struct ChaFilter1 {
        /// requests of a remote node; the part has none
        "Remote Node" => remote_node / set_remote_node: bool = 0;
        /// requests of the own node
        "Local Node" => local_node / set_local_node: bool = 1;
        /// requests of every opcode
        "All Opcodes" => all_opcodes / set_all_opcodes: bool = 3;
        /// requests for lines of near memory
        "Near Memory" => near_memory / set_near_memory: bool = 4;
        /// requests for other lines; the manual has it set always
        "Not Near Memory" => not_near_memory / set_not_near_memory: bool = 5;
        /// requests of this opcode
        "Opcode0" => opcode0 / set_opcode0: u16 = 18..9;
        /// requests of this opcode
        "Opcode1" => opcode1 / set_opcode1: u16 = 28..19;
        /// non-coherent requests
        "NC" => non_coherent / set_non_coherent: bool = 30;
        /// isochronous requests
        "ISOC" => isochronous / set_isochronous: bool = 31;
        reserved 2;
        reserved 8..6;
        reserved 29;
        reserved 63..32;
    }
}

layout! {
    /// A counter of a box. Behind PCI it is two dwords.
    pub struct Counter48 {
        /// the count
        "event_count" => event_count / set_event_count: u64 = 47..0;
        refused 63..48;
    }
}

layout! {
    /// U_MSR_PMON_GLOBAL_CTL, 700h.
    pub struct GlobalControl {
        /// the tiles that an overflow interrupts, one bit each
        "pmi_core_sel" => pmi_core_sel / set_pmi_core_sel: u64 = 60..0;
        /// an interrupt wakes a core; kept
        "wk_on_pmi" => wk_on_pmi / set_wk_on_pmi: bool = 62;
        only "unfrz_all" 61 = "writing a one lets every box count that an overflow or frz_all froze; reads as zero";
        only "frz_all" 63 = "writing a one freezes every box; reads as zero";
    }
}

layout! {
    /// U_MSR_PMON_GLOBAL_STATUS, 701h: the boxes that overflowed. Writing a one clears a bit.
    pub struct GlobalStatus {
        /// the UBox's fixed counter
        "ov_uf" => ov_uf / set_ov_uf: bool = 0;
        /// the UBox's general counters
        "ov_u" => ov_u / set_ov_u: bool = 1;
        /// the power control unit
        "ov_p" => ov_p / set_ov_p: bool = 2;
        /// the 38 CHAs
        "ov_c" => ov_c / set_ov_c: u64 = 40..3;
        /// the two memory controllers, both clocks
        "ov_m" => ov_m / set_ov_m: u8 = 42..41;
        /// the eight EDCs, both clocks
        "ov_e" => ov_e / set_ov_e: u8 = 50..43;
        /// M2PCIe
        "ov_p2" => ov_p2 / set_ov_p2: bool = 51;
        /// the IRP
        "ov_irp" => ov_irp / set_ov_irp: bool = 52;
        reserved 63..53;
    }
}

layout! {
    /// The status of a box: its counters that overflowed with ov_en set. Writing a one clears a bit.
    pub struct BoxStatus {
        /// one bit a counter; in a box with a fixed counter that has bit 0, and the others follow
        "ov" => ov / set_ov: u8 = 4..0;
        reserved 63..5;
    }
}

layout! {
    /// U_MSR_PMON_CONFIG, 702h, read only.
    pub struct UntileConfig {
        only "num_c" 5..0 = "how many CHAs there are: 38";
        only "Reserved" 63..6 = "reads as zero";
    }
}

layout! {
    /// 707h: a thread's filter on parts before this one; it keeps what is written.
    pub struct UboxFilter {
        /// thread and core
        "tid" => tid / set_tid: u16 = 8..0;
        reserved 63..9;
    }
}

layout! {
    /// The power control unit's filter, 715h: four frequencies in steps of 100 MHz; it keeps what is written.
    pub struct PcuFilter {
        /// the four bytes
        "filt" => filt / set_filt: u32 = 31..0;
        reserved 63..32;
    }
}
