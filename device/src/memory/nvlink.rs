//! What an accelerator does through an NVLink, as the nest counts it.

use vm_pmu_arch::power9::nest::Kind;

use super::Chip;
use super::chip::blocks;

/// The bytes of a flit.
const FLIT: u64 = 16;
/// The bytes of a line, which no request crosses.
const LINE: u64 = 128;
/// The counters of a link follow those of the one before; each has its clock first.
const LINKS: u32 = 0x228;
const SIZE: u32 = 0x20;
const SENT_DATA: u32 = 0x08;
const RECEIVED: u32 = 0x10;
const RECEIVED_DATA: u32 = 0x18;
/// The counters of a command queue, which has two links, called bricks; for each, its requests and its downgrades.
const QUEUES: u32 = 0x668;
const BRICK: u32 = 0x10;
const REQUESTS: u32 = 0x00;
const DOWNGRADES: u32 = 0x08;

/// An NVLink of a chip, between the processor and an accelerator.
///
/// A transfer comes as requests that do not cross a line of 128 bytes. Each is a packet: a flit of 16 bytes as its header, another with the bytes
/// that are written if they do not fill their flits, and the flits of data. The link counts what it receives, and of what it sends the data.
/// The queue of the link takes each request of the accelerator, and each line that the accelerator gives back.
///
/// ```
/// use vm_pmu::memory::{Chip, Event, Nest, NvLink};
///
/// let chip = Chip::new(0, Nest::new(0));
/// // The accelerator at link 3 reads 256 bytes: two requests, answered with 16 flits of data.
/// NvLink::new(3).unwrap().reads(&chip, 0x1000, 256);
/// let count = |name| chip.totals().get(Event::named(name).unwrap());
/// assert_eq!([count("PM_NTL3_RX_ANY_FLIT"), count("PM_NTL3_TX_DATA_FLIT"), count("PM_NPCQ1_CREQ_BRICK1")], [2, 16, 2]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NvLink {
    number: u8,
}

impl NvLink {
    /// The link of this number, of six.
    #[must_use]
    pub fn new(number: u8) -> Option<NvLink> {
        (number < Kind::Ntl.instances()).then_some(NvLink { number })
    }

    /// The accelerator reads `bytes` of the processor's memory from `address` on.
    pub fn reads(&self, chip: &Chip, address: u64, bytes: u64) {
        let requests = blocks(address, bytes, LINE);
        self.request(chip, REQUESTS, requests);
        self.link(chip, RECEIVED, requests);
        self.link(chip, SENT_DATA, blocks(address, bytes, FLIT));
    }

    /// The accelerator writes `bytes` of the processor's memory from `address` on.
    pub fn writes(&self, chip: &Chip, address: u64, bytes: u64) {
        let requests = blocks(address, bytes, LINE);
        self.request(chip, REQUESTS, requests);
        self.receive(chip, requests.wrapping_add(partial(address, bytes)), blocks(address, bytes, FLIT));
    }

    /// The accelerator has an atomic operation done at the processor's memory, with a flit of operands, and gets the former value if it
    /// `returns` one.
    pub fn atomic(&self, chip: &Chip, returns: bool) {
        self.request(chip, REQUESTS, 1);
        self.receive(chip, 1, 1);
        self.link(chip, SENT_DATA, u64::from(returns));
    }

    /// The accelerator gives back a line that it held, with the data if they are `modified`.
    pub fn gives_back(&self, chip: &Chip, modified: bool) {
        self.request(chip, DOWNGRADES, 1);
        self.receive(chip, 1, if modified { LINE / FLIT } else { 0 });
    }

    /// The processor reads `bytes` of the accelerator's memory from `address` on: answers come with the data.
    pub fn is_read(&self, chip: &Chip, address: u64, bytes: u64) {
        self.receive(chip, blocks(address, bytes, LINE), blocks(address, bytes, FLIT));
    }

    /// The processor writes `bytes` of the accelerator's memory from `address` on: answers come without data.
    pub fn is_written(&self, chip: &Chip, address: u64, bytes: u64) {
        self.link(chip, SENT_DATA, blocks(address, bytes, FLIT));
        self.link(chip, RECEIVED, blocks(address, bytes, LINE));
    }

    fn receive(&self, chip: &Chip, others: u64, data: u64) {
        self.link(chip, RECEIVED, others.wrapping_add(data));
        self.link(chip, RECEIVED_DATA, data);
    }

    fn link(&self, chip: &Chip, counter: u32, amount: u64) {
        chip.add_at(LINKS + SIZE * u32::from(self.number) + counter, amount);
    }

    /// Queue n takes what links 2n and 2n + 1 ask for.
    fn request(&self, chip: &Chip, counter: u32, amount: u64) {
        let (queue, brick) = (u32::from(self.number / 2), u32::from(self.number % 2));
        chip.add_at(QUEUES + SIZE * queue + BRICK * brick + counter, amount);
    }
}

/// The lines of which a part is written that does not fill its flits: only the first and the last can be.
fn partial(address: u64, bytes: u64) -> u64 {
    let end = address.saturating_add(bytes);
    let (first, last) = (!address.is_multiple_of(FLIT), !end.is_multiple_of(FLIT));
    if bytes == 0 {
        0
    } else if address / LINE == (end - 1) / LINE {
        u64::from(first || last)
    } else {
        u64::from(first) + u64::from(last)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use vm_pmu_arch::power9::nest::{Event, Nest};

    use super::*;

    fn after(work: impl FnOnce(&Chip)) -> Vec<(u32, u64)> {
        let chip = Chip::new(0, Nest::new(0));
        work(&chip);
        Event::all().map(|event| (event.offset(), chip.totals().get(event))).filter(|(_, amount)| *amount != 0).collect()
    }

    #[test]
    fn each_of_six_links_counts_at_its_own_counters_and_at_its_brick() {
        let bricks = [0x668, 0x678, 0x688, 0x698, 0x6A8, 0x6B8];
        for (number, brick) in bricks.into_iter().enumerate() {
            let link = 0x228 + 0x20 * number as u32;
            let wrote = after(|chip| NvLink::new(number as u8).unwrap().writes(chip, 0, 128));
            // A header and eight flits of data.
            assert_eq!(wrote, [(link + 0x10, 9), (link + 0x18, 8), (brick, 1)]);
            let gave = after(|chip| NvLink::new(number as u8).unwrap().gives_back(chip, false));
            assert_eq!(gave, [(link + 0x10, 1), (brick + 8, 1)]);
        }
        assert_eq!(NvLink::new(6), None);
    }

    #[test]
    fn bytes_that_do_not_fill_their_flits_are_named_in_one_more() {
        // Bytes 8 to 135: 120 bytes of one line in eight flits, 8 of the next one in one. Either names its bytes.
        let wrote = after(|chip| NvLink::new(0).unwrap().writes(chip, 8, 128));
        assert_eq!(wrote, [(0x238, 2 + 2 + 9), (0x240, 9), (0x668, 2)]);
    }

    #[test]
    fn the_memory_of_an_accelerator_is_read_with_data_and_written_without() {
        let link = NvLink::new(0).unwrap();
        // Two lines: two headers and sixteen flits.
        assert_eq!(after(|chip| link.is_read(chip, 0, 256)), [(0x238, 18), (0x240, 16)]);
        assert_eq!(after(|chip| link.is_written(chip, 0, 256)), [(0x230, 16), (0x238, 2)]);
    }

    #[test]
    fn an_atomic_operation_carries_its_operands_and_its_result() {
        let link = NvLink::new(1).unwrap();
        assert_eq!(after(|chip| link.atomic(chip, true)), [(0x250, 1), (0x258, 2), (0x260, 1), (0x678, 1)]);
        assert_eq!(after(|chip| link.atomic(chip, false)), [(0x258, 2), (0x260, 1), (0x678, 1)]);
    }

    #[test]
    fn what_is_modified_is_given_back_with_its_data() {
        assert_eq!(after(|chip| NvLink::new(0).unwrap().gives_back(chip, true)), [(0x238, 9), (0x240, 8), (0x670, 1)]);
    }
}
