//! Instructions, each against values worked out by hand.

use super::support::*;

/// What an instruction of two registers makes of `x` and `y`.
fn of(x: u64, y: u64, build: impl FnOnce(&mut Assembler)) -> u64 {
    result(|a| {
        a.load(R4, x);
        a.load(R5, y);
        build(a);
    })
}

const HIGH: u64 = 1 << 63;

#[test]
fn constants_of_every_length_are_loaded() {
    for value in [0, 1, u64::MAX, 0x7FFF, 0x8000, 0xFFFF_8000, 0x1234_5678, 0x8000_0000, 0x1234_5678_9ABC_DEF0, HIGH, !HIGH, 0xF_0000_0000]
    {
        assert_eq!(result(|a| a.load(R3, value)), value, "{value:#x}");
    }
}

#[test]
fn sums_and_differences_wrap() {
    assert_eq!(of(u64::MAX, 2, |a| a.add(R3, R4, R5)), 1);
    assert_eq!(of(3, 10, |a| a.subf(R3, R4, R5)), 7);
    assert_eq!(of(5, 0, |a| a.neg(R3, R4)), (-5i64) as u64);
    assert_eq!(of(1, 0, |a| a.addis(R3, R4, -1)), 1u64.wrapping_sub(0x1_0000));
    assert_eq!(of(5, 0, |a| a.subfic(R3, R4, 3)), (-2i64) as u64);
}

#[test]
fn register_zero_is_the_number_zero_in_addi() {
    assert_eq!(
        result(|a| {
            a.load(R0, 77);
            a.addi(R3, R0, 5);
        }),
        5
    );
}

#[test]
fn a_carry_passes_through_a_chain() {
    // FFFF_FFFF_FFFF_FFFF + 1 carries; 5 + 6 + 1 = 12.
    let value = result(|a| {
        a.load(R4, u64::MAX);
        a.load(R5, 1);
        a.addc(R6, R4, R5);
        a.load(R4, 5);
        a.load(R5, 6);
        a.adde(R3, R4, R5);
    });
    assert_eq!(value, 12);
    // 3 - 5 borrows: CA is 0; then 10 - 2 - 1 = 7.
    let value = result(|a| {
        a.load(R4, 5);
        a.load(R5, 3);
        a.subfc(R6, R4, R5);
        a.load(R4, 2);
        a.load(R5, 10);
        a.subfe(R3, R4, R5);
    });
    assert_eq!(value, 7);
}

/// CA, CA32, OV, OV32, SO of XER.
fn exceptions(x: u64, y: u64, build: impl FnOnce(&mut Assembler)) -> [bool; 5] {
    let machine = run(|a| {
        a.load(R4, x);
        a.load(R5, y);
        build(a);
    });
    let xer = special(&machine, spr::XER);
    [29, 18, 30, 19, 31].map(|bit| xer >> bit & 1 != 0)
}

#[test]
fn carries_of_words_and_doublewords_are_apart() {
    // The low words carry, the doublewords do not, and the other way round.
    assert_eq!(exceptions(0xFFFF_FFFF, 1, |a| a.addc(R3, R4, R5)), [false, true, false, false, false]);
    assert_eq!(exceptions(HIGH, HIGH, |a| a.addc(R3, R4, R5)), [true, false, false, false, false]);
    // A shift right of a negative number carries when ones are lost.
    assert_eq!(exceptions((-3i64) as u64, 0, |a| a.sradi(R3, R4, 1)), [true, true, false, false, false]);
    assert_eq!(exceptions((-4i64) as u64, 0, |a| a.sradi(R3, R4, 1)), [false; 5]);
}

#[test]
fn overflow_is_seen_only_where_asked_for() {
    let most = !HIGH;
    assert_eq!(exceptions(most, 1, |a| a.add(R3, R4, R5)), [false; 5]);
    assert_eq!(exceptions(most, 1, |a| a.addo(R3, R4, R5)), [false, false, true, false, true]);
    assert_eq!(exceptions(0x7FFF_FFFF, 1, |a| a.addo(R3, R4, R5)), [false, false, false, true, false]);
    assert_eq!(exceptions(HIGH, u64::MAX, |a| a.divdo(R3, R4, R5)), [false, false, true, true, true]);
    assert_eq!(exceptions(1 << 40, 1 << 40, |a| a.mulldo(R3, R4, R5)), [false, false, true, true, true]);
}

#[test]
fn products_and_quotients() {
    let minus = |n: i64| (-n) as u64;
    assert_eq!(of(minus(3), 7, |a| a.mulld(R3, R4, R5)), minus(21));
    assert_eq!(of(minus(1), minus(1), |a| a.mulhd(R3, R4, R5)), 0);
    assert_eq!(of(u64::MAX, u64::MAX, |a| a.mulhdu(R3, R4, R5)), u64::MAX - 1);
    assert_eq!(of(0x1_0000_0002, 0xFFFF_FFFF, |a| a.mullw(R3, R4, R5)), minus(2));
    assert_eq!(of(0x8000_0000, 4, |a| a.mulhwu(R3, R4, R5)), 2);
    assert_eq!(of(0x8000_0000, 4, |a| a.mulhw(R3, R4, R5)), 0xFFFF_FFFE);
    assert_eq!(of(minus(7), 2, |a| a.divd(R3, R4, R5)), minus(3));
    assert_eq!(of(minus(7), 2, |a| a.divdu(R3, R4, R5)), 0x7FFF_FFFF_FFFF_FFFC);
    assert_eq!(of(minus(7), 2, |a| a.divw(R3, R4, R5)), 0xFFFF_FFFD);
    assert_eq!(of(1, 2, |a| a.divdeu(R3, R4, R5)), HIGH);
    assert_eq!(of(minus(7), 2, |a| a.modsd(R3, R4, R5)), minus(1));
    assert_eq!(of(17, 5, |a| a.modud(R3, R4, R5)), 2);
    assert_eq!(of(5, 0, |a| a.divd(R3, R4, R5)), 0);
    assert_eq!(of(6, 0, |a| a.mulli(R3, R4, -7)), minus(42));
    assert_eq!(of(6, 7, |a| a.maddld(R3, R4, R5, R4)), 48);
}

#[test]
fn logic_of_registers() {
    let (x, y) = (0xFF00_FF00_1234_5678, 0x0FF0_0FF0_FFFF_0000);
    assert_eq!(of(x, y, |a| a.and(R3, R4, R5)), 0x0F00_0F00_1234_0000);
    assert_eq!(of(x, y, |a| a.or(R3, R4, R5)), 0xFFF0_FFF0_FFFF_5678);
    assert_eq!(of(x, y, |a| a.xor(R3, R4, R5)), 0xF0F0_F0F0_EDCB_5678);
    assert_eq!(of(x, y, |a| a.andc(R3, R4, R5)), 0xF000_F000_0000_5678);
    assert_eq!(of(x, y, |a| a.nor(R3, R4, R5)), 0x000F_000F_0000_A987);
    assert_eq!(of(x, y, |a| a.eqv(R3, R4, R5)), 0x0F0F_0F0F_1234_A987);
    assert_eq!(of(x, 0, |a| a.andi_dot(R3, R4, 0xFF)), 0x78);
    assert_eq!(of(x, 0, |a| a.xoris(R3, R4, 0xFFFF)), 0xFF00_FF00_EDCB_5678);
}

#[test]
fn bits_are_counted() {
    assert_eq!(of(0x10, 0, |a| a.cntlzd(R3, R4)), 59);
    assert_eq!(of(0xFFFF_FFFF_0000_0010, 0, |a| a.cntlzw(R3, R4)), 27);
    assert_eq!(of(0x10, 0, |a| a.cnttzd(R3, R4)), 4);
    assert_eq!(of(0x1_0000_0000, 0, |a| a.cnttzw(R3, R4)), 32);
    assert_eq!(of(0xF0F0_0000_0000_0001, 0, |a| a.popcntd(R3, R4)), 9);
    assert_eq!(of(0xFF01_0300_0000_0000, 0, |a| a.popcntb(R3, R4)), 0x0801_0200_0000_0000);
    assert_eq!(of(0xF000_0000_0000_0007, 0, |a| a.popcntw(R3, R4)), 0x4_0000_0003);
    assert_eq!(of(0x0100_0100_0100_0000, 0, |a| a.prtyd(R3, R4)), 1);
    assert_eq!(of(0x80, 0, |a| a.extsb(R3, R4)), 0xFFFF_FFFF_FFFF_FF80);
    assert_eq!(of(0x8000, 0, |a| a.extsh(R3, R4)), 0xFFFF_FFFF_FFFF_8000);
    assert_eq!(of(0x8000_0000, 0, |a| a.extsw(R3, R4)), 0xFFFF_FFFF_8000_0000);
    assert_eq!(of(0x1122_3344_5566_7788, 0x1100_3300_5500_7700, |a| a.cmpb(R3, R4, R5)), 0xFF00_FF00_FF00_FF00);
    // Bits 0 and 63 of RB are named by the two lowest bytes of RS.
    assert_eq!(of(0xFFFF_FFFF_FFFF_003F, HIGH | 1, |a| a.bpermd(R3, R4, R5)), 3);
}

#[test]
fn rotates_and_masks() {
    assert_eq!(of(0x8000_0001, 0, |a| a.rlwinm(R3, R4, 1, 0, 31)), 3);
    assert_eq!(of(0x1234_5678, 0, |a| a.rlwinm(R3, R4, 8, 24, 31)), 0x12);
    // A mask around the end takes the upper word, where the rotated word is repeated.
    assert_eq!(of(0x1234_5678, 0, |a| a.rlwinm(R3, R4, 0, 28, 3)), 0x1234_5678_1000_0008);
    assert_eq!(
        result(|a| {
            a.load(R3, 0xAAAA_AAAA);
            a.load(R4, 0xBB);
            a.rlwimi(R3, R4, 8, 16, 23);
        }),
        0xAAAA_BBAA
    );
    assert_eq!(of(0x1234_5678_9ABC_DEF0, 0, |a| a.rldicl(R3, R4, 8, 56)), 0x12);
    assert_eq!(of(0x1234_5678_9ABC_DEF0, 0, |a| a.rldicr(R3, R4, 8, 7)), 0x34 << 56);
    assert_eq!(of(0xFF, 0, |a| a.rldic(R3, R4, 8, 48)), 0xFF00);
    assert_eq!(of(1, 63, |a| a.rldcl(R3, R4, R5, 0)), HIGH);
    assert_eq!(
        result(|a| {
            a.load(R3, u64::MAX);
            a.load(R4, 0);
            a.rldimi(R3, R4, 8, 40);
        }),
        0xFFFF_FFFF_FF00_00FF
    );
}

#[test]
fn shifts_by_more_than_there_is_leave_nothing() {
    assert_eq!(of(1, 63, |a| a.sld(R3, R4, R5)), HIGH);
    assert_eq!(of(1, 64, |a| a.sld(R3, R4, R5)), 0);
    assert_eq!(of(HIGH, 63, |a| a.srd(R3, R4, R5)), 1);
    assert_eq!(of(HIGH, 127, |a| a.srad(R3, R4, R5)), u64::MAX);
    assert_eq!(of(0x8000_0000, 31, |a| a.srw(R3, R4, R5)), 1);
    assert_eq!(of(0x8000_0000, 32, |a| a.slw(R3, R4, R5)), 0);
    assert_eq!(of(0x8000_0000, 40, |a| a.sraw(R3, R4, R5)), u64::MAX);
    assert_eq!(of(0x8000_0000, 0, |a| a.srawi(R3, R4, 28)), (-8i64) as u64);
    assert_eq!(of(0x8000_0000, 0, |a| a.extswsli(R3, R4, 4)), 0xFFFF_FFF8_0000_0000);
}

/// The condition register when a program ends.
fn condition(build: impl FnOnce(&mut Assembler)) -> u32 {
    run(build).cpu(0).expect("a CPU").cr()
}

#[test]
fn compares_set_their_field() {
    let fields = condition(|a| {
        a.load(R4, u64::MAX);
        a.load(R5, 1);
        a.cmpd(CR0, R4, R5);
        a.cmpld(CR1, R4, R5);
        a.cmpw(CR2, R5, R5);
        a.cmpldi(CR7, R5, 2);
    });
    assert_eq!(fields, 0x8420_0008);
}

#[test]
fn record_forms_compare_with_zero() {
    assert_eq!(condition(|a| a.addic_dot(R3, R3, -1000)) >> 28, 8);
    assert_eq!(
        condition(|a| {
            a.load(R4, 5);
            a.subf_dot(R3, R4, R4);
        }) >> 28,
        2
    );
    // Summary overflow goes along.
    assert_eq!(
        condition(|a| {
            a.load(R4, !HIGH);
            a.addo_dot(R3, R4, R4);
        }) >> 28,
        9
    );
}

#[test]
fn condition_register_bits_and_fields_move() {
    let value = condition(|a| {
        a.load(R4, 0x8000_0000);
        a.mtcrf(0xFF, R4);
        a.cror(31, 0, 1);
        a.crnand(4, 0, 0);
        a.crxor(8, 0, 4);
        a.mcrf(CR3, CR0);
    });
    assert_eq!(value, 0x8088_0001);
    let value = result(|a| {
        a.load(R4, 0x1234_5678);
        a.mtocrf(CR1, R4);
        a.mfcr(R3);
    });
    assert_eq!(value, 0x0200_0000);
    assert_eq!(
        result(|a| {
            a.load(R4, 5);
            a.cmpdi(CR2, R4, 7);
            a.setb(R3, CR2);
        }),
        u64::MAX
    );
    assert_eq!(
        of(1, 2, |a| {
            a.cmpdi(CR0, R4, 1);
            a.isel(R3, R5, R4, 2);
        }),
        2
    );
}

#[test]
fn a_counted_loop_runs_as_often_as_the_count_says() {
    let value = result(|a| {
        a.load(R4, 10);
        a.mtctr(R4);
        let again = a.mark();
        a.addi(R3, R3, 3);
        a.bdnz(again);
    });
    // GPR 3 starts as the number of the CPU, 0.
    assert_eq!(value, 30);
}

#[test]
fn a_call_returns_behind_itself() {
    let value = result(|a| {
        let (function, done) = (a.label(), a.label());
        a.bl(function);
        a.addi(R3, R3, 1);
        a.b(done);
        a.here(function);
        a.addi(R3, R3, 10);
        a.blr();
        a.here(done);
    });
    assert_eq!(value, 11);
}

#[test]
fn branches_depend_on_condition_and_count_together() {
    // `bc 0,2`: count down; branch if not 0 and CR0 is not equal.
    let value = result(|a| {
        let out = a.label();
        a.load(R4, 2);
        a.mtctr(R4);
        a.cmpdi(CR0, R4, 2);
        a.bc(0, 2, out);
        a.addi(R3, R3, 1);
        a.cmpdi(CR0, R4, 3);
        a.bc(0, 2, out);
        a.addi(R3, R3, 2);
        a.here(out);
    });
    // Equal at first, and the count is 0 the second time.
    assert_eq!(value, 3);
}

#[test]
fn loads_extend_and_stores_cut() {
    let value = |build: &dyn Fn(&mut Assembler)| {
        result(|a| {
            a.load(R6, DATA);
            a.load(R4, 0x8182_8384_8586_8788);
            a.std(R4, 0, R6);
            build(a);
        })
    };
    assert_eq!(value(&|a| a.lbz(R3, 0, R6)), 0x88);
    assert_eq!(value(&|a| a.lhz(R3, 2, R6)), 0x8586);
    assert_eq!(value(&|a| a.lha(R3, 2, R6)), 0xFFFF_FFFF_FFFF_8586);
    assert_eq!(value(&|a| a.lwz(R3, 4, R6)), 0x8182_8384);
    assert_eq!(value(&|a| a.lwa(R3, 4, R6)), 0xFFFF_FFFF_8182_8384);
    assert_eq!(value(&|a| a.ld(R3, 0, R6)), 0x8182_8384_8586_8788);
    // Unaligned, too.
    assert_eq!(value(&|a| a.lwz(R3, 1, R6)), 0x8485_8687);
    assert_eq!(
        value(&|a| {
            a.stb(R4, 7, R6);
            a.lwz(R3, 4, R6);
        }),
        0x8882_8384
    );
}

#[test]
fn reversed_accesses_turn_bytes_around_in_both_orders() {
    for little_endian in [true, false] {
        let machine = run_with(little_endian, Recorder::default(), |a| {
            a.load(R6, DATA);
            a.load(R4, 0x0102_0304_0506_0708);
            a.std(R4, 0, R6);
            a.ldbrx(R3, R0, R6);
            a.stwbrx(R4, R0, R6);
            a.lwz(R5, 0, R6);
            a.lhbrx(R7, R0, R6);
        });
        assert_eq!(gpr(&machine, 3), 0x0807_0605_0403_0201);
        assert_eq!(gpr(&machine, 5), 0x0807_0605);
        // The halfword at the address: big-endian 0807, little-endian 0605; turned around.
        assert_eq!(gpr(&machine, 7), if little_endian { 0x0506 } else { 0x0708 });
    }
}

#[test]
fn memory_has_the_byte_order_of_the_mode() {
    for (little_endian, first) in [(true, 4), (false, 1)] {
        let machine = run_with(little_endian, Recorder::default(), |a| {
            a.load(R6, DATA);
            a.load(R4, 0x0102_0304);
            a.stw(R4, 0, R6);
            a.lbz(R3, 0, R6);
        });
        assert_eq!(gpr(&machine, 3), first);
    }
}

#[test]
fn updates_move_the_base() {
    let machine = run(|a| {
        a.load(R6, DATA);
        a.load(R4, 9);
        a.stdu(R4, 16, R6);
        a.load(R7, -16i64 as u64);
        a.ldux(R3, R6, R7);
    });
    assert_eq!(gpr(&machine, 6), DATA);
    assert_eq!(gpr(&machine, 3), 0);
    assert_eq!(machine.memory().read(DATA + 16, 8), 9);
}

#[test]
fn a_store_conditional_needs_its_reservation() {
    let machine = run(|a| {
        a.load(R6, DATA);
        a.load(R4, 1);
        a.ldarx(R3, R0, R6);
        a.stdcx_dot(R4, R0, R6);
        a.mfcr(R7);
        a.load(R4, 2);
        a.stdcx_dot(R4, R0, R6);
        a.mfcr(R8);
    });
    assert_eq!(machine.memory().read(DATA, 8), 1);
    assert_eq!((gpr(&machine, 7) >> 28, gpr(&machine, 8) >> 28), (2, 0));
}

#[test]
fn dcbz_clears_128_bytes() {
    let machine = run(|a| {
        a.load(R6, DATA + 0x80 + 40);
        a.load(R4, u64::MAX);
        a.std(R4, -48, R6);
        a.std(R4, 80, R6);
        a.std(R4, 88, R6);
        a.dcbz(R0, R6);
    });
    let at = |address| machine.memory().read(address, 8);
    assert_eq!([at(DATA + 0x78), at(DATA + 0xF8), at(DATA + 0x100)], [u64::MAX, 0, u64::MAX]);
}

/// The bits of FPR 3 when a program ends that has `x` and `y` in FPR 1 and 2.
fn floating(x: f64, y: f64, build: impl FnOnce(&mut Assembler)) -> f64 {
    let machine = run(|a| {
        a.load(R6, DATA);
        a.mfmsr(R4);
        a.ori(R4, R4, msr::FP as u32);
        a.mtmsrd(R4, false);
        for (register, value) in [(F1, x), (F2, y)] {
            a.load(R4, value.to_bits());
            a.std(R4, 0, R6);
            a.lfd(register, 0, R6);
        }
        build(a);
    });
    assert!(vectors(&machine).is_empty());
    f64::from_bits(machine.cpu(0).expect("a CPU").fpr(3))
}

#[test]
fn floating_point_arithmetic() {
    assert_eq!(floating(1.5, 2.25, |a| a.fadd(F3, F1, F2)), 3.75);
    assert_eq!(floating(1.5, 2.25, |a| a.fsub(F3, F1, F2)), -0.75);
    assert_eq!(floating(1.5, 2.0, |a| a.fmul(F3, F1, F2)), 3.0);
    assert_eq!(floating(7.0, 2.0, |a| a.fdiv(F3, F1, F2)), 3.5);
    assert_eq!(floating(0.0, 9.0, |a| a.fsqrt(F3, F2)), 3.0);
    // 3 * 5 + 3 and its like.
    assert_eq!(floating(3.0, 5.0, |a| a.fmadd(F3, F1, F2, F1)), 18.0);
    assert_eq!(floating(3.0, 5.0, |a| a.fmsub(F3, F1, F2, F1)), 12.0);
    assert_eq!(floating(3.0, 5.0, |a| a.fnmadd(F3, F1, F2, F1)), -18.0);
    assert_eq!(floating(3.0, 5.0, |a| a.fnmsub(F3, F1, F2, F1)), -12.0);
    // A third rounded to 24 bits.
    assert_eq!(floating(1.0, 3.0, |a| a.fdivs(F3, F1, F2)), f64::from(1.0f32 / 3.0));
    assert_eq!(floating(-1.0, 3.0, |a| a.fabs(F3, F1)), 1.0);
    assert_eq!(floating(-2.5, 0.0, |a| a.fctidz(F3, F1)).to_bits(), (-2i64) as u64);
    assert_eq!(floating(f64::from_bits(7), 0.0, |a| a.fcfid(F3, F1)), 7.0);
}

#[test]
fn nans_of_operands_become_quiet_and_others_are_made() {
    let signalling = f64::from_bits(0x7FF0_0000_2000_0001);
    assert_eq!(floating(1.0, signalling, |a| a.fadd(F3, F1, F2)).to_bits(), 0x7FF8_0000_2000_0001);
    // FRA comes first; a single has no lower 29 bits.
    assert_eq!(floating(-f64::NAN, signalling, |a| a.fmadd(F3, F1, F2, F2)).to_bits(), (-f64::NAN).to_bits());
    assert_eq!(floating(1.0, signalling, |a| a.frsp(F3, F2)).to_bits(), 0x7FF8_0000_2000_0000);
    assert_eq!(floating(f64::INFINITY, f64::INFINITY, |a| a.fsub(F3, F1, F2)).to_bits(), 0x7FF8_0000_0000_0000);
}

#[test]
fn singles_in_memory_become_doubles_and_back() {
    let bits = |value: f32| u64::from(value.to_bits());
    for value in [1.5f32, -0.0, f32::MIN_POSITIVE / 4.0, f32::MAX, f32::INFINITY] {
        let machine = run(|a| {
            a.load(R6, DATA);
            a.mfmsr(R4);
            a.ori(R4, R4, msr::FP as u32);
            a.mtmsrd(R4, false);
            a.load(R4, bits(value));
            a.stw(R4, 0, R6);
            a.lfs(F1, 0, R6);
            a.stfs(F1, 4, R6);
        });
        assert_eq!(machine.cpu(0).expect("a CPU").fpr(1), f64::from(value).to_bits());
        assert_eq!(machine.memory().read(DATA + 4, 4), bits(value));
    }
}

#[test]
fn thirty_two_bit_mode_has_addresses_of_32_bits() {
    let machine = run(|a| {
        let label = a.label();
        go(a, label, msr::SF, 0);
        // The sum is DATA above 32 bits.
        a.load(R6, 0xF_0000_0000 | DATA);
        a.load(R4, 7);
        a.std(R4, 0, R6);
        // As a word this is negative.
        a.load(R5, 0x8000_0000);
        a.or_dot(R5, R5, R5);
        a.mfcr(R3);
    });
    assert_eq!(machine.memory().read(DATA, 8), 7);
    assert_eq!(gpr(&machine, 3) >> 28, 8);
}
