//! ELF files of guests, byte by byte.

/// A 64-bit little-endian ELF executable (ELF-64 Object File Format 1.5) of one segment, which begins with its first instruction.
pub(crate) fn elf(machine: u16, address: u64, code: &[u8]) -> Vec<u8> {
    let mut file = b"\x7fELF\x02\x01\x01".to_vec();
    file.resize(16, 0);
    // ET_EXEC, the machine, the version; the entry, the program headers, no sections; flags, of which POWER has its second ABI.
    file.extend([2, machine].map(u16::to_le_bytes).concat());
    file.extend(1u32.to_le_bytes());
    file.extend([address, 64, 0].map(u64::to_le_bytes).concat());
    file.extend(2u32.to_le_bytes());
    file.extend([64u16, 56, 1, 64, 0, 0].map(u16::to_le_bytes).concat());
    // PT_LOAD, readable and executable: where it is in the file and in memory, its sizes, its alignment.
    file.extend([1u32, 5].map(u32::to_le_bytes).concat());
    file.extend([120, address, address, code.len() as u64, code.len() as u64, 1].map(u64::to_le_bytes).concat());
    file.extend(code);
    file
}
