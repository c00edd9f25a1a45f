//! The host's clocks: its processor's time-stamp counter, and a timer that brings a thread out of its vCPU.
#![allow(unsafe_code)]

use std::io;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::OnceLock;
use std::time::Duration;

/// The host's time-stamp counter.
#[inline]
pub(super) fn timestamp() -> u64 {
    // SAFETY: every processor with 64-bit mode has the instruction, and Linux lets programs execute it.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// How long the calling thread has had a processor.
fn processor_time() -> Duration {
    let mut time = MaybeUninit::<libc::timespec>::zeroed();
    // SAFETY: all zeros is a valid time, and the call writes nothing else. The clock is there on every Linux, so it cannot fail.
    let time = unsafe {
        libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, time.as_mut_ptr());
        time.assume_init()
    };
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// A measurement of what the calling thread executes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stopwatch {
    had: Duration,
    at: u64,
}

impl Stopwatch {
    /// Begins one.
    pub(super) fn start() -> Stopwatch {
        Stopwatch { had: processor_time(), at: timestamp() }
    }

    /// The ticks of the time-stamp counter since then, of which there are `kilohertz` in a millisecond, without those during which the host
    /// gave the processor to others.
    pub(super) fn ticks(self, kilohertz: u64) -> u64 {
        let ticks = timestamp().saturating_sub(self.at);
        let had = processor_time().saturating_sub(self.had).as_nanos() * u128::from(kilohertz) / 1_000_000;
        ticks.min(u64::try_from(had).unwrap_or(u64::MAX))
    }
}

/// A timer of the calling thread. Its signal only ends what the thread is waiting for, such as the run of a vCPU.
///
/// It belongs to the thread that made it, and cannot leave it.
#[derive(Debug)]
pub(super) struct Alarm(libc::timer_t);

/// What the signal calls.
extern "C" fn nothing(_signal: libc::c_int) {}

/// The signal's number. Nothing else in this program uses it.
fn signal() -> libc::c_int {
    libc::SIGRTMIN() + 1
}

/// Makes the signal do nothing, for the whole program, which it would end otherwise.
fn handled() -> Result<(), String> {
    static HANDLED: OnceLock<Result<(), String>> = OnceLock::new();
    let install = || {
        let mut action = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: all zeros is a valid `sigaction`: no handler, no flags, an empty mask.
        let action = unsafe { action.assume_init_mut() };
        action.sa_sigaction = nothing as extern "C" fn(libc::c_int) as libc::sighandler_t;
        // SAFETY: the handler is a function of the kind that goes without SA_SIGINFO, and touches nothing.
        match unsafe { libc::sigaction(signal(), action, ptr::null_mut()) } {
            0 => Ok(()),
            _ => Err(format!("the host has no signal for a timer: {}", io::Error::last_os_error())),
        }
    };
    HANDLED.get_or_init(install).clone()
}

impl Alarm {
    /// One of the calling thread, which is not set.
    pub(super) fn of_this_thread() -> Result<Alarm, String> {
        handled()?;
        let mut event = MaybeUninit::<libc::sigevent>::zeroed();
        // SAFETY: all zeros is a valid `sigevent`.
        let event = unsafe { event.assume_init_mut() };
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = signal();
        // SAFETY: the call has no arguments and cannot fail.
        event.sigev_notify_thread_id = unsafe { libc::gettid() };
        let mut timer = MaybeUninit::<libc::timer_t>::uninit();
        // SAFETY: both pointers are to values of this function, and the second is written before it is read.
        match unsafe { libc::timer_create(libc::CLOCK_MONOTONIC, event, timer.as_mut_ptr()) } {
            // SAFETY: the call has succeeded, so it has written the timer.
            0 => Ok(Alarm(unsafe { timer.assume_init() })),
            _ => Err(format!("the host has no timer: {}", io::Error::last_os_error())),
        }
    }

    /// Rings after `first`, and every `then` after that. A ring before the thread waits is lost, so there should be another.
    pub(super) fn set(&self, first: Duration, then: Duration) {
        // Zero would stop it.
        self.arm(first.max(Duration::from_nanos(1)), then);
    }

    /// Rings no more: a thread that sleeps would hardly get there.
    pub(super) fn stop(&self) {
        self.arm(Duration::ZERO, Duration::ZERO);
    }

    fn arm(&self, first: Duration, then: Duration) {
        let of = |time: Duration| libc::timespec { tv_sec: time.as_secs() as libc::time_t, tv_nsec: time.subsec_nanos().into() };
        let times = libc::itimerspec { it_value: of(first), it_interval: of(then) };
        // SAFETY: the timer is there until this is dropped, and the times are a value of this function. It cannot fail with such.
        unsafe { libc::timer_settime(self.0, 0, &raw const times, ptr::null_mut()) };
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        // SAFETY: the timer was made by this, and nothing else has it any more.
        unsafe { libc::timer_delete(self.0) };
    }
}
