//! The page about the CPUs that the companion models.

use std::fmt::Write as _;

use vm_pmu::companion::parts::ALL;
use vm_pmu::companion::{
    BufferGeometry, Bundles, CacheGeometry, Caches, Costs, Direction, Fill, MemoryGeometry, Mesh, Microarchitecture, PredictorGeometry,
    Prefetcher, Profile, Protocol, Replacement, SecondLevel, Translation, WritePolicy,
};

use vm_pmu_lab::number::{counted, grouped};

/// The rows of a part for one CPU.
type Rows = Vec<(&'static str, String)>;

/// A part of the page: its title, and what makes its rows.
type Part = (&'static str, fn(&Profile) -> Rows);

/// What is not there.
const NONE: &str = "none";

pub(super) fn page() -> String {
    let mut page = String::from(
        "# The modelled CPUs\n\nThese are the numbers in the profiles of [the companion](companion.md), whose chapter explains the words. \
         A CPU with a model of its pipeline takes from the cycles below only those of caches, memory and translation. Cycles are those of the core's clock. The sources are listed [below](#sources); [Decisions](decisions/companion.md) has what \
         they leave open.\n",
    );
    let parts: [Part; 6] = [
        ("Caches", |profile| caches(profile, &profile.caches)),
        ("Translation", |profile| translation(&profile.translation)),
        ("Prediction", |profile| prediction(&profile.predictor)),
        ("Cycles", |profile| cycles(&profile.costs, profile.pipeline)),
        ("Memory", |profile| memory(&profile.memory, &profile.mesh, profile.costs.near_memory)),
        ("Prefetching and combining", streams),
    ];
    for (title, rows) in parts {
        let columns: Vec<Rows> = ALL.iter().map(|profile| rows(profile)).collect();
        let _ = write!(page, "\n## {title}\n\n| |");
        ALL.iter().for_each(|profile| page.push_str(&format!(" {} |", profile.name)));
        page.push_str("\n| --- |");
        ALL.iter().for_each(|_| page.push_str(" --- |"));
        page.push('\n');
        for (number, (quantity, _)) in columns.first().into_iter().flatten().enumerate() {
            let _ = write!(page, "| {quantity} |");
            for column in &columns {
                let _ = write!(page, " {} |", column.get(number).map_or(NONE, |(_, text)| text));
            }
            page.push('\n');
        }
    }
    page.push_str("\n## Sources\n");
    for profile in ALL {
        // Named one by one: a quantity that is added has to be shown.
        let Profile {
            name,
            title,
            sources,
            cores: _,
            threads: _,
            caches: _,
            translation: _,
            predictor: _,
            costs: _,
            pipeline: _,
            memory: _,
            mesh: _,
            prefetcher: _,
            write_combining: _,
        } = profile;
        let _ = write!(page, "\n**{title}**, `{name}`\n\n");
        for source in *sources {
            let mut letters = source.chars();
            let capital = letters.next().map_or_else(String::new, |first| first.to_uppercase().to_string());
            let _ = writeln!(page, "- {capital}{}.", letters.as_str());
        }
    }
    page
}

/// A number of bytes.
fn bytes(number: u64) -> String {
    match number {
        0 => NONE.to_owned(),
        _ if number.is_multiple_of(1 << 30) => format!("{} GiB", number >> 30),
        _ if number.is_multiple_of(1 << 20) => format!("{} MiB", number >> 20),
        _ if number.is_multiple_of(1 << 10) => format!("{} KiB", number >> 10),
        _ => format!("{number} bytes"),
    }
}

/// Bytes of a piece with addresses of so many bits.
fn piece(bits: u8) -> String {
    bytes(1u64.checked_shl(u32::from(bits)).unwrap_or(0))
}

fn number(number: u16) -> String {
    number.to_string()
}

/// What is 0 where the CPU has no such thing.
fn present(cycles: u16) -> String {
    if cycles == 0 { NONE.to_owned() } else { cycles.to_string() }
}

fn cache(geometry: &CacheGeometry, line_bits: u8) -> String {
    let CacheGeometry { bytes: size, ways, replacement } = *geometry;
    let sets = (size >> line_bits) / u64::from(ways.max(1));
    let replacement = match replacement {
        Replacement::LeastRecentlyUsed => "least recently used",
        Replacement::Tree => "tree",
        Replacement::NotRecentlyUsed => "not recently used",
        Replacement::Random => "random",
    };
    format!("{}, {}, {}, {replacement}", bytes(size), counted(ways as usize, "way"), counted(sets as usize, "set"))
}

fn fill(fill: Fill) -> String {
    match fill {
        Fill::Victims => "victims of the level above",
        Fill::Inclusive => "every line that the level above reads",
    }
    .to_owned()
}

fn caches(profile: &Profile, caches: &Caches) -> Rows {
    let Caches { fetch_bits, line_bits, outer_line_bits, instruction, data, data_write, second, second_fill, third, protocol } = caches;
    let outer = *outer_line_bits;
    let (second, second_code) = match second {
        SecondLevel::Unified(geometry) => (cache(geometry, outer), "the same".to_owned()),
        SecondLevel::Split { instruction, data } => (cache(data, outer), cache(instruction, outer)),
    };
    vec![
        ("cores that share the second level", profile.cores.to_string()),
        ("threads of a core", profile.threads.to_string()),
        ("bytes of one fetch", piece(*fetch_bits)),
        ("line of the first level", piece(*line_bits)),
        ("line of the outer levels, and of a transfer from memory", piece(outer)),
        ("first level, code, of a core", cache(instruction, *line_bits)),
        ("first level, data, of a core", cache(data, *line_bits)),
        (
            "its stores",
            match data_write {
                WritePolicy::Back => "write back, allocate",
                WritePolicy::Through => "write through, do not allocate",
            }
            .to_owned(),
        ),
        ("second level, data", second),
        ("second level, code", second_code),
        ("it is filled with", fill(*second_fill)),
        ("third level", third.as_ref().map_or_else(|| NONE.to_owned(), |(geometry, _)| cache(geometry, outer))),
        ("it is filled with", third.map_or_else(|| NONE.to_owned(), |(_, how)| fill(how))),
        (
            "states of a line",
            match protocol {
                Protocol::Mesi => "MESI",
                Protocol::Mesif => "MESIF",
                Protocol::Moesi => "MOESI",
            }
            .to_owned(),
        ),
    ]
}

fn buffers(buffers: &[BufferGeometry]) -> String {
    let one = |buffer: &BufferGeometry| {
        let BufferGeometry { entries, ways, page_bits, pieces } = *buffer;
        let shape = if ways == entries { "fully associative".to_owned() } else { counted(ways as usize, "way") };
        let pages: Vec<String> = page_bits.iter().map(|bits| piece(*bits)).collect();
        let larger = if pieces { "" } else { " only" };
        format!("{}, {shape}: {}{larger}", counted(entries as usize, "translation"), pages.join(", "))
    };
    if buffers.is_empty() { NONE.to_owned() } else { buffers.iter().map(one).collect::<Vec<_>>().join("<br>") }
}

fn translation(translation: &Translation) -> Rows {
    let Translation { instruction, data, shared_second, walk_entries } = translation;
    let second_code = if *shared_second { "that of data".to_owned() } else { buffers(instruction[1]) };
    vec![
        ("code, first level", buffers(instruction[0])),
        ("code, second level", second_code),
        ("data, first level", buffers(data[0])),
        ("data, second level", buffers(data[1])),
        ("walk cache", if *walk_entries == 0 { NONE.to_owned() } else { format!("{walk_entries} upper entries") }),
    ]
}

fn prediction(predictor: &PredictorGeometry) -> Rows {
    let PredictorGeometry { direction, target_bits, return_stack, decoded_returns, bundles } = *predictor;
    let (counters, chosen) = match direction {
        Direction::Global { history, index } => {
            (index, format!("{history} last outcomes of the thread, {} bits of the address", index.saturating_sub(history)))
        }
        Direction::Local { history, histories, index } => (
            index,
            format!(
                "{history} last outcomes of the branch, of {} kept, {} bits of the address",
                grouped(1 << histories),
                index.saturating_sub(history)
            ),
        ),
    };
    vec![
        ("two-bit counters of a core", grouped(1 << counters)),
        ("chosen by", chosen),
        ("targets", grouped(1 << target_bits)),
        ("return addresses of a thread", return_stack.to_string()),
        ("returns without a remembered target", if decoded_returns { "found by the decoder" } else { "known to the fetcher" }.to_owned()),
        (
            "branches of bundles",
            match bundles {
                Bundles::Absent => NONE.to_owned(),
                Bundles::Single => "one predictor; nothing is predicted behind one that is expected to be taken".to_owned(),
                Bundles::Stages { registers } => format!("three stages, {registers} target address registers"),
            },
        ),
    ]
}

fn cycles(costs: &Costs, pipeline: Microarchitecture) -> Rows {
    let Costs {
        first,
        second,
        second_code,
        second_floating,
        third,
        other_cluster,
        memory,
        remote,
        distant: _,
        near_memory: _,
        second_translation,
        walk,
        bubble,
    } = *costs;
    vec![
        ("pipeline", format!("that of {pipeline:?}")),
        ("load to use, first level", number(first)),
        ("second level", number(second)),
        ("second level of code", if second_code == 0 { "as of data".to_owned() } else { number(second_code) }),
        (
            "second level, to floating-point registers",
            if second_floating == 0 { "as to others".to_owned() } else { number(second_floating) },
        ),
        ("third level", present(third)),
        ("another cluster of the package", number(other_cluster)),
        ("memory, with the page open", number(memory)),
        ("added by another package", present(remote)),
        ("translation of the second level", number(second_translation)),
        ("page-table walk, in addition to its reads", number(walk)),
        ("taken branch, target unknown", number(bubble)),
    ]
}

fn memory(memory: &MemoryGeometry, mesh: &Mesh, near_latency: u16) -> Rows {
    let MemoryGeometry {
        page_bits,
        bank_bits,
        select_bits,
        open_pages,
        open,
        close,
        near_bytes,
        near_controllers,
        buffer_bytes: _,
        controllers,
        channels,
        in_turn,
    } = *memory;
    let Mesh { quadrants, agents, scopes: _, hypertransport: _ } = *mesh;
    let shares = match (controllers, channels, in_turn) {
        (1, 1, _) => NONE,
        (_, _, true) => "in turn",
        (_, _, false) => "spread",
    };
    let several = |number: u16| if number > 1 { number.to_string() } else { NONE.to_owned() };
    let near = match near_bytes {
        0 => NONE.to_owned(),
        size => format!("{}, direct-mapped, {near_latency} cycles", bytes(size)),
    };
    vec![
        ("page of DRAM", piece(page_bits)),
        ("banks", grouped(1 << bank_bits)),
        ("banks of a chip select", grouped(1 << select_bits)),
        ("pages open at once", open_pages.to_string()),
        ("cycles to open one", number(open)),
        ("cycles to close one", number(close)),
        ("memory-side cache", near),
        ("its controllers", present(u16::from(near_controllers))),
        ("controllers of DRAM", controllers.to_string()),
        ("channels of each", channels.to_string()),
        ("lines are distributed", shares.to_owned()),
        ("quadrants of the mesh", several(u16::from(quadrants))),
        ("agents that lines belong to", several(agents)),
    ]
}

fn streams(profile: &Profile) -> Rows {
    let [after, ahead, streams, within] = match profile.prefetcher {
        Some(Prefetcher { after, ahead, streams, within_bits }) => {
            [after.to_string(), ahead.to_string(), streams.to_string(), piece(within_bits)]
        }
        None => [(); 4].map(|()| NONE.to_owned()),
    };
    vec![
        ("prefetcher: adjacent misses that begin a stream", after),
        ("lines fetched beyond the last", ahead),
        ("streams of a thread", streams),
        ("within", within),
        ("write-combining buffers of a thread", profile.write_combining.to_string()),
    ]
}
