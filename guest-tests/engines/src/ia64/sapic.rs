//! The local interrupt controller (SDM volume 2, 5.8): external interrupt vectors, their requests and what is in service.

use super::registers::SPURIOUS;

/// TPR.mmi: all vectors but the non-maskable one wait.
const MASK_ALL: u64 = 1 << 16;

/// Requests and vectors in service.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sapic {
    /// IRR0 to IRR3.
    pub(crate) requested: [u64; 4],
    /// The vectors in service.
    pub(crate) serviced: [u64; 4],
    pub(crate) tpr: u64,
}

fn highest(set: &[u64; 4]) -> Option<u8> {
    set.iter().enumerate().rev().find(|(_, bits)| **bits != 0).map(|(word, bits)| word as u8 * 64 + (63 - bits.leading_zeros()) as u8)
}

/// A vector's priority: the non-maskable one is above all, the external controller's next.
fn priority(vector: u8) -> u16 {
    match vector {
        2 => 0x200,
        0 => 0x100,
        _ => u16::from(vector),
    }
}

fn first(set: &[u64; 4]) -> Option<u8> {
    [2, 0].into_iter().find(|vector| set[0] >> vector & 1 != 0).or_else(|| highest(set))
}

impl Sapic {
    /// `vector` becomes pending. Vectors that software cannot have, 1 and 3 to 15, do not.
    pub(crate) fn request(&mut self, vector: u8) {
        if vector >= 16 || vector == 0 || vector == 2 {
            self.requested[usize::from(vector / 64)] |= 1 << (vector % 64);
        }
    }

    /// The vector that an interrupt is due for, whatever PSR.i; the spurious one if none is.
    pub(crate) fn highest(&self) -> u8 {
        let Some(vector) = first(&self.requested) else { return SPURIOUS };
        if first(&self.serviced).is_some_and(|serviced| priority(serviced) >= priority(vector)) {
            return SPURIOUS;
        }
        let masked = match vector {
            2 => false,
            0 => self.tpr & MASK_ALL != 0,
            _ => self.tpr & MASK_ALL != 0 || u64::from(vector) >> 4 <= self.tpr >> 4 & 15,
        };
        if masked { SPURIOUS } else { vector }
    }

    pub(crate) fn due(&self) -> bool {
        self.highest() != SPURIOUS
    }

    /// A read of IVR: the highest vector goes into service.
    pub(crate) fn accept(&mut self) -> u8 {
        let vector = self.highest();
        if vector != SPURIOUS {
            let (word, bit) = (usize::from(vector / 64), 1 << (vector % 64));
            self.requested[word] &= !bit;
            self.serviced[word] |= bit;
        }
        vector
    }

    /// A write of EOI: the highest vector in service is done.
    pub(crate) fn end(&mut self) {
        if let Some(vector) = first(&self.serviced) {
            self.serviced[usize::from(vector / 64)] &= !(1 << (vector % 64));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_vector_is_served_first_and_keeps_lower_ones_away_until_its_end() {
        let mut sapic = Sapic::default();
        sapic.request(0x30);
        sapic.request(0xD1);
        assert_eq!(sapic.accept(), 0xD1);
        assert_eq!(sapic.accept(), SPURIOUS);
        sapic.end();
        assert_eq!(sapic.accept(), 0x30);
    }

    #[test]
    fn the_task_priority_masks_its_own_class_and_those_below() {
        let mut sapic = Sapic { tpr: 0x50, ..Sapic::default() };
        sapic.request(0x5F);
        assert!(!sapic.due());
        sapic.request(0x60);
        assert_eq!(sapic.highest(), 0x60);
    }

    #[test]
    fn reserved_vectors_never_become_pending() {
        let mut sapic = Sapic::default();
        sapic.request(15);
        assert!(!sapic.due());
    }
}
