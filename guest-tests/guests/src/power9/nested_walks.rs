//! `nested-walks`: a guest under a host, both with radix trees, whose translations are counted and known.
//!
//! The companion's POWER9: an ERAT of 64 pages, a TLB of 1024 in 256 sets of four, which has pages of guest and host, and a page-walk cache
//! of 32 directories. All replace the least recently used. The host maps each guest real address to itself, by pages of 2 MiB; the guest has
//! one of 2 MiB for its code and pages of 4 KiB for data.

use vm_pmu::arch::power9::spr;

use super::FC;
use super::fields::{mmcr0, pmc, select};
use crate::power::Kernel;
use vm_pmu_engines::image::{Image, Segment};
use vm_pmu_engines::power::assemble::{AssembleError, Gpr, Label, R14, R15, R16, R17};
use vm_pmu_engines::power::registers::{lpcr, spr as cpu};

const KIB4: u64 = 4 << 10;
const MIB2: u64 = 2 << 20;

/// Where all tables are, in one page of the host's.
const TABLES: u64 = 24 << 20;
const PARTITIONS: u64 = TABLES;
const PROCESSES: u64 = TABLES + 0x1000;
const GUEST_ROOT: u64 = TABLES + 0x1_0000;
const HOST_ROOT: u64 = TABLES + 0x2_0000;
const GUEST_SECOND: u64 = TABLES + 0x3_0000;
const GUEST_CODE: u64 = TABLES + 0x3_1000;
const GUEST_DATA: u64 = TABLES + 0x3_2000;
/// The guest's three tables of the fourth level.
const GUEST_PAGES: u64 = TABLES + 0x3_3000;
const HOST_SECOND: u64 = TABLES + 0x3_8000;
const HOST_THIRD: u64 = TABLES + 0x3_9000;
/// Bytes of all of them.
const TABLES_END: u64 = 0x3_A000;

/// The host's page of the first data, and that of others. Their entries of the TLB are in sets 13 and 14.
const FIRST: u64 = TABLES + MIB2;
const OTHER: u64 = TABLES + 2 * MIB2;
/// Where the guest sees its data.
const DATA: u64 = 1 << 30;

/// Pages that are loaded from in turn.
const PAGES: u64 = 200;
/// Five pages whose translations go into the set of the TLB that has the host's page of the first data.
const CROWD: [u64; 5] = [13 + 256, 13 + 2 * 256, 13 + 3 * 256, 13 + 4 * 256, 13 + 5 * 256];

/// The guest's partition and process.
const PARTITION: u64 = 1;
const PROCESS: u64 = 5;

/// Of an entry: it is valid, it is a page, the page was used and changed, and everything is allowed.
const VALID: u64 = 1 << 63;
const PAGE: u64 = VALID | 1 << 62 | 0x180 | 7;
/// Of a description of a tree: 52 bits of address, and 13 of them for the root.
const WHOLE: u64 = 1 << 62 | 5 << 5 | 13;
/// Of a directory: nine bits of address for the table below.
const NINE: u64 = 9;

/// An event's name, its code on a counter and what it must count.
type Count = (&'static str, u64, u64);

/// What each pass counts, four events at a time. PMC1 to PMC4 have the first to the fourth of each.
///
/// The first round loads from each of 200 pages. Its code has a walk of its own: the process's entry, three levels, and the page. The first
/// load reads levels 2 to 4 below the known root, the others level 4 alone. The second round finds all in the TLB. Then the crowd: the
/// second and the fourth of its pages are in other tables of the fourth level. Four of its pages drive the host's page of the first data out
/// of its set, so that the next load finds its guest page and no page of the host; the one after it finds both.
const COUNTS: [[Count; 4]; 7] = [
    [
        ("PM_RDXTLB_4K_GST_2M_HST_HITHIT", 0x1_8096, PAGES + 1),
        ("PM_RDXTLB_ANY_GST_ANY_HST_HITHIT", 0x2_8080, PAGES + 1),
        ("PM_RDXTLB_4K_GST_HITMISS", 0x3_809A, 1),
        ("PM_RDXTLB_2M_GST_HITMISS", 0x4_80BA, 0),
    ],
    // Of 5 for the code, 4 for the first load, 2 for each further page, and 2, 3, 2, 3 and 2 of the crowd.
    [
        ("PM_RDXTLB_ANY_NSTD_ACC", 0x1_809C, 5 + 4 + 2 * (PAGES - 1) + 12),
        // The tables, the code, the first data, the others.
        ("PM_RDXTLB_ANY_NSTD_MISS", 0x2_809E, 4),
        ("PM_RDXTLB_PRTE_NSTD_ACC", 0x3_80AC, 1),
        ("PM_RDXTLB_PRTE_NSTD_MISS", 0x4_80AE, 1),
    ],
    [
        ("PM_RDXTLB_LVL1_NSTD_ACC", 0x1_80BC, 1),
        ("PM_RDXTLB_LVL2_NSTD_ACC", 0x2_908C, 1 + 1),
        ("PM_RDXTLB_LVL3_NSTD_ACC", 0x3_909C, 1 + 1 + 2),
        ("PM_RDXTLB_LVL4_NSTD_ACC", 0x4_90AC, PAGES + 5),
    ],
    [
        ("PM_RDXTLB_FIN_NSTD_ACC", 0x1_90BC, 1 + PAGES + 5),
        ("PM_RDXTLB_FIN_NSTD_MISS", 0x2_90BE, 3),
        ("PM_RDXTLB_FIN_NSTD_2M_HST_HIT", 0x3_98B6, 1 + PAGES + 5 - 3),
        ("PM_RDXTLB_LVL4_NSTD_ANY_HST_HIT", 0x4_98A0, PAGES + 5),
    ],
    // Each walk of the host's tables but the first knows the directory of its second level; the load whose host page is gone is one of them.
    [
        ("PM_RDXPWC_ANY_NSTD_L2_PWC_HIT", 0x1_889C, 4),
        ("PM_RDXPWC_FIN_NSTD_L2_PWC_HIT", 0x2_98BC, 4),
        ("PM_RDXPWC_ANY_NSTD_L1_PWC_HIT", 0x3_889A, 0),
        ("PM_RDXPWC_ANY_NSTD_L3_PWC_HIT", 0x4_889E, 0),
    ],
    // The guest's own directories: the first load, the two tables of the crowd, and all other pages.
    [
        ("PM_RDXPWC_L1_GST_PWC_HIT", 0x1_888A, 1),
        ("PM_RDXPWC_L2_GST_PWC_HIT", 0x2_888C, 2),
        ("PM_RDXPWC_L3_GST_PWC_HIT", 0x3_888E, PAGES - 1 + 3),
        ("PM_RDXTLB_MISS_ON_EMQ_ACC", 0x4_808E, 1 + PAGES + 5 + 1),
    ],
    // Nothing has these sizes.
    [
        ("PM_RDXTLB_ANY_GST_4K_HST_HITHIT", 0x1_8082, 0),
        ("PM_RDXTLB_64K_GST_ANY_HST_HITHIT", 0x2_80A0, 0),
        ("PM_RDXTLB_ANY_NSTD_1G_HST_HIT", 0x3_8898, 0),
        ("PM_RDXTLB_1G_GST_ANY_HST_HITHIT", 0x4_9080, 0),
    ],
];

/// Pages that a walk ends at, and those of them whose host page is walked for.
const ENDS: u64 = 1 + PAGES + 5;
const ENDS_MISSED: u64 = 3;

/// What each pass counts of the two walkers together: the codes of the first and of the second, and the cycles of both. A look-up takes 13; a
/// walk takes 20 beside its reads, which end it: in the look-up, unless the host's tables are read after it. Which walk is whose depends on
/// what the pipeline does at the time.
const CYCLES: [(&str, [u64; 2], u64); 6] = [
    ("look-ups", [0x1_A084, 0x2_A884], 13 * (5 + 4 + 2 * (PAGES - 1) + 12) + 20 * (ENDS - ENDS_MISSED)),
    ("look-ups for the entry of the process", [0x3_A094, 0x4_A894], 13),
    ("translations for the root, whose host page is known", [0x1_A0A0, 0x2_A8A0], 13),
    ("look-ups for the fourth level", [0x3_B094, 0x4_B894], 13 * (PAGES + 5)),
    ("look-ups for pages", [0x1_B0A4, 0x2_B8A4], 13 * ENDS + 20 * (ENDS - ENDS_MISSED)),
    ("reads of the host's fourth level, which it does not have", [0x3_A08C, 0x4_A88C], 0),
];

pub(super) fn build(little_endian: bool) -> Result<Image, AssembleError> {
    let mut k = Kernel::new(little_endian);
    let guest = guest(&mut k);
    k.main();
    k.write(cpu::PTCR, PARTITIONS);
    k.write(cpu::LPIDR, PARTITION);
    k.write(cpu::PIDR, PROCESS);
    k.a.mfspr(R14, cpu::LPCR);
    k.a.load(R15, lpcr::HR | lpcr::UPRT);
    k.a.or(R14, R14, R15);
    k.a.mtspr(cpu::LPCR, R14);
    for counts in &COUNTS {
        run(&mut k, guest, &counts.map(|(_, code, _)| code));
        for (name, code, right) in counts {
            k.a.mfspr(R14, pmc((code >> 16) as u16));
            k.check_is(name, R14, *right);
        }
    }
    for pair in CYCLES.chunks(2) {
        let codes: Vec<u64> = pair.iter().flat_map(|(_, codes, _)| *codes).collect();
        run(&mut k, guest, &codes);
        for ((name, _, right), first) in pair.iter().zip([1, 3]) {
            k.a.mfspr(R14, pmc(first));
            k.a.mfspr(R15, pmc(first + 1));
            k.a.add(R14, R14, R15);
            k.check_is(name, R14, *right);
        }
    }
    // Loads do not wait for each other, so that both walkers have walks.
    run(&mut k, guest, &[0x1_A082, 0x2_A882]);
    for number in [1, 2] {
        k.a.mfspr(R14, pmc(number));
        k.check(&format!("cycles of walker {}", number - 1), R14, 1, u64::MAX);
    }
    k.end_main();
    let mut image = k.finish()?;
    image.segments.push(Segment { address: TABLES, size: TABLES_END, bytes: tables(), executable: false });
    Ok(image)
}

/// Counts the guest, from its first instruction to its call of the hypervisor.
fn run(k: &mut Kernel, guest: Label, codes: &[u64]) {
    k.write(spr::MMCR1, select(codes));
    (1..=4).for_each(|number| k.write(pmc(number), 0));
    k.write(spr::MMCR0, mmcr0(|m| m.set_fch(true)));
    k.enter_guest(guest);
    k.write(spr::MMCR0, FC);
}

/// The guest's code. It is one page of 2 MiB, and uses no stack.
fn guest(k: &mut Kernel) -> Label {
    k.a.routine("guest");
    let entry = k.a.mark();
    for _ in 0..2 {
        k.a.load(R14, DATA);
        k.a.load(R15, PAGES);
        k.a.mtctr(R15);
        let next = k.a.mark();
        k.a.ld(R16, 0, R14);
        k.a.addi(R14, R14, KIB4 as i64);
        k.a.bdnz(next);
    }
    for page in CROWD.into_iter().chain([100, 101]) {
        load(k, page);
    }
    k.a.hypercall();
    entry
}

fn load(k: &mut Kernel, page: u64) {
    let register: Gpr = R17;
    k.a.load(register, DATA + page * KIB4);
    k.a.ld(R16, 0, register);
}

/// The tables, in the order of bytes that trees have.
fn tables() -> Vec<u8> {
    let mut bytes = vec![0; TABLES_END as usize];
    let mut put = |table: u64, index: u64, entry: u64| {
        let at = (table - TABLES + index * 8) as usize;
        bytes[at..at + 8].copy_from_slice(&entry.to_be_bytes());
    };
    // The partition: the host's tree, which is valid, and the guest's table of processes.
    put(PARTITIONS, 2 * PARTITION, VALID | WHOLE | HOST_ROOT);
    put(PARTITIONS, 2 * PARTITION + 1, PROCESSES);
    put(PROCESSES, 2 * PROCESS, WHOLE | GUEST_ROOT);
    put(HOST_ROOT, 0, VALID | HOST_SECOND | NINE);
    put(HOST_SECOND, 0, VALID | HOST_THIRD | NINE);
    (0..16).for_each(|page| put(HOST_THIRD, page, PAGE | (page * MIB2)));
    put(GUEST_ROOT, 0, VALID | GUEST_SECOND | NINE);
    put(GUEST_SECOND, 0, VALID | GUEST_CODE | NINE);
    put(GUEST_SECOND, DATA >> 30, VALID | GUEST_DATA | NINE);
    (0..2).for_each(|page| put(GUEST_CODE, page, PAGE | (page * MIB2)));
    (0..3).for_each(|table| put(GUEST_DATA, table, VALID | (GUEST_PAGES + table * KIB4) | NINE));
    for page in 0..PAGES {
        put(GUEST_PAGES, page, PAGE | (FIRST + page * KIB4));
    }
    for (number, page) in (0..).zip(CROWD) {
        put(GUEST_PAGES, page, PAGE | (OTHER + number * KIB4));
    }
    bytes
}
