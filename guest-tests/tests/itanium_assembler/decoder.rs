//! Against the decoder of yaxpeax-ia64.

use vm_pmu_guest_tests::engine::itanium::assemble::P0;
use yaxpeax_arch::{Decoder, U8Reader};
use yaxpeax_ia64::InstDecoder;

use crate::cases::{Case, Unit, all, assembled};

fn decoded(case: &Case, bundle: &[u8]) -> String {
    let mut reader = U8Reader::new(bundle);
    match InstDecoder::default().decode(&mut reader) {
        Ok(decoded) => {
            let slot = match case.unit {
                Unit::M => 0,
                Unit::B => 2,
                _ => 1,
            };
            decoded.instructions()[slot].to_string()
        }
        Err(error) => format!("{error}"),
    }
}

#[test]
fn the_decoder_reads_what_was_written() {
    let cases = all();
    let code = assembled(&cases);
    for (case, bundle) in cases.iter().zip(code.chunks(16)) {
        println!("{} | {}", case.qualified(), decoded(case, bundle));
    }
}
