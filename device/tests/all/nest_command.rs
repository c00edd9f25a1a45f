//! Commands for the engine of a POWER9 chip, given while its slots go by on another thread.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use vm_pmu::memory::{Chip, Command, ControlCell, Memory, Nest, Status};

/// How long a slot waits for another thread that might come between.
const PATIENCE: Duration = Duration::from_millis(200);

/// The cells of status and command; others read as zero and take nothing.
#[derive(Default)]
struct Block {
    status: AtomicU64,
    command: AtomicU64,
}

impl Block {
    fn cell(&self, address: u64) -> Option<&AtomicU64> {
        let is = |cell: ControlCell| cell.address(0) == address;
        if is(ControlCell::Status) { Some(&self.status) } else { is(ControlCell::Command).then_some(&self.command) }
    }
}

impl Memory for Block {
    type Error = ();

    fn load(&self, address: u64) -> Result<u64, ()> {
        Ok(self.cell(address).map_or(0, |cell| cell.load(SeqCst)))
    }

    fn store(&self, address: u64, value: u64) -> Result<(), ()> {
        if let Some(cell) = self.cell(address) {
            cell.store(value, SeqCst);
        }
        Ok(())
    }

    fn add(&self, _address: u64, _amount: u64) -> Result<(), ()> {
        Ok(())
    }
}

/// The same, with an engine that is slow to obey: when it has read the command it says so, and waits.
struct Slow<'b>(&'b Block, SyncSender<()>);

impl Memory for Slow<'_> {
    type Error = ();

    fn load(&self, address: u64) -> Result<u64, ()> {
        let value = self.0.load(address)?;
        if address == ControlCell::Command.address(0) {
            self.1.send(()).unwrap();
            thread::sleep(PATIENCE);
        }
        Ok(value)
    }

    fn store(&self, address: u64, value: u64) -> Result<(), ()> {
        self.0.store(address, value)
    }

    fn add(&self, address: u64, amount: u64) -> Result<(), ()> {
        self.0.add(address, amount)
    }
}

#[test]
fn a_command_is_not_cleared_with_the_one_before() {
    let (block, chip) = (Block::default(), Chip::new(0, Nest::new(0)));
    chip.boot(&block).ok().unwrap();
    assert_eq!(chip.status(&block), Ok(Status::Paused.value()));
    assert_eq!(chip.command(Command::Pause, &block), Ok(true));
    let (sender, obeys) = sync_channel(1);
    thread::scope(|scope| {
        scope.spawn(|| chip.advance(chip.slot_cycles(), &Slow(&block, sender)).ok().unwrap());
        obeys.recv().unwrap();
        assert_eq!(chip.command(Command::Resume, &block), Ok(true));
    });
    chip.advance(chip.slot_cycles(), &block).ok().unwrap();
    assert!(chip.is_running(), "the second command was obeyed");
}
