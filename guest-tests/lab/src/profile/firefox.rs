//! Samples as a file that Firefox Profiler opens.

use std::collections::BTreeMap;
use std::time::SystemTime;

use fxprof_processed_profile::{
    CategoryHandle, CpuDelta, Frame, FrameFlags, FrameInfo, Profile as Processed, SamplingInterval, ThreadHandle, Timestamp,
};

use super::{Places, Profile};

/// The profile in Firefox Profiler's processed format. A cycle is a nanosecond, and a sample weighs as much as it stands for.
#[must_use]
pub fn firefox(profile: &Profile, places: &Places) -> Processed {
    let title = format!("{} on {}: {}", profile.guest, profile.pmu, profile.event);
    let interval = SamplingInterval::from_nanos(profile.period.max(1));
    let mut processed = Processed::new(&title, SystemTime::UNIX_EPOCH.into(), interval);
    let start = Timestamp::from_nanos_since_reference(0);
    let process = processed.add_process(&profile.guest, 1, start);
    let mut threads: BTreeMap<usize, ThreadHandle> = BTreeMap::new();
    for sample in &profile.samples {
        let thread = *threads.entry(sample.thread).or_insert_with(|| {
            let number = u32::try_from(sample.thread).unwrap_or(u32::MAX);
            let thread = processed.add_thread(process, number, start, false);
            processed.set_thread_name(thread, &format!("CPU {number}"));
            thread
        });
        let innermost = places.name(sample.address);
        let names = places.callers(sample).into_iter().rev().chain([innermost]);
        let frames: Vec<FrameInfo> = names
            .map(|name| FrameInfo {
                frame: Frame::Label(processed.intern_string(&name)),
                category_pair: CategoryHandle::OTHER.into(),
                flags: FrameFlags::empty(),
            })
            .collect();
        let stack = processed.intern_stack_frames(thread, frames.into_iter());
        let weight = i32::try_from(sample.period).unwrap_or(i32::MAX);
        processed.add_sample(thread, Timestamp::from_nanos_since_reference(sample.cycles), stack, CpuDelta::ZERO, weight);
    }
    processed
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use vm_pmu_board::beside::Sample;

    use super::*;

    #[test]
    fn a_thread_has_its_samples_with_weights_and_stacks() {
        let sample = |thread, callers| Sample { thread, address: 0x40, cycles: 2_000_000, period: 7, callers, ..Sample::default() };
        let samples = vec![sample(0, vec![0x21]), sample(0, Vec::new()), sample(3, Vec::new())];
        let profile =
            Profile { guest: "g".to_owned(), pmu: "k8".to_owned(), event: "E".to_owned(), period: 7, samples, ..Profile::default() };
        let json: Value = serde_json::to_value(firefox(&profile, &Places::default())).unwrap();
        // The keys that the processed profile format asks for.
        assert_eq!(json["meta"]["product"], "g on k8: E");
        let threads = json["threads"].as_array().unwrap();
        assert_eq!(threads.iter().map(|thread| thread["name"].as_str().unwrap()).collect::<Vec<_>>(), ["CPU 0", "CPU 3"]);
        let taken = &threads[0]["samples"];
        assert_eq!((&taken["length"], &taken["weight"]), (&2.into(), &serde_json::json!([7, 7])));
        // The stack of the first sample has a caller, 0x20 before the return address.
        let table = &threads[0]["stackTable"];
        let stack = usize::try_from(taken["stack"][0].as_u64().unwrap()).unwrap();
        assert!(table["prefix"][stack].is_number());
        assert!(json.to_string().contains("\"0x20\""));
    }
}
