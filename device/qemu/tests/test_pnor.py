"""Tests of the flash that skiboot reads, by skiboot's own rules: python3 -m unittest discover device/qemu/tests."""

import argparse
import functools
import lzma
import operator
import struct
import sys
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from kit import options, pnor  # noqa: E402

# An empty device tree is enough; skiboot reads it later.
TREE = b"\xd0\x0d\xfe\xed" + bytes(5000)


def words(content: bytes) -> tuple[int, ...]:
    """The big-endian words of a structure."""
    return struct.unpack(f">{len(content) // 4}I", content)


def sum_of(content: bytes) -> int:
    """The checksum of a structure, which is 0 with its last word."""
    return functools.reduce(operator.xor, words(content))


class Flash(unittest.TestCase):
    """The table of partitions: a header of 48 bytes, and an entry of 128 for each."""

    def setUp(self) -> None:
        """Two partitions, of less than a block and of more."""
        self.flash = pnor.flash([pnor.Partition("ONE", b"one"), pnor.Partition("IMA_CATALOG", bytes(4097))])
        self.entries = [self.flash[start : start + 128] for start in range(48, 48 + 3 * 128, 128)]

    def test_the_header_tells_how_large_everything_is(self) -> None:
        """Its magic is PART; the table is one of the four blocks of 4 KiB, and has three entries of 128 bytes."""
        header = words(self.flash[:48])
        self.assertEqual(header[:7], (int.from_bytes(b"PART", "big"), 1, 1, 128, 3, 4096, 4))

    def test_checksums_hold(self) -> None:
        """skiboot accepts only headers and entries whose words add up to 0."""
        self.assertEqual([sum_of(part) for part in (self.flash[:48], *self.entries)], [0, 0, 0, 0])

    def test_the_table_is_a_partition(self) -> None:
        """The first, of type 3, in the first block."""
        self.assertEqual(self.entries[0][:16].rstrip(b"\0"), b"part")
        self.assertEqual(words(self.entries[0][16:44]), (0, 1, 0xFFFFFFFF, 1, 3, 0, 4096))

    def test_partitions_follow_each_other_in_whole_blocks(self) -> None:
        """Block 1, and blocks 2 and 3."""
        self.assertEqual(self.entries[2][:16].rstrip(b"\0"), b"IMA_CATALOG")
        self.assertEqual(words(self.entries[1][16:44]), (1, 1, 0xFFFFFFFF, 2, 1, 0, 4096))
        self.assertEqual(words(self.entries[2][16:44]), (2, 2, 0xFFFFFFFF, 3, 1, 0, 8192))
        self.assertEqual(len(self.flash), 4 * 4096)

    def test_what_was_not_written_has_ones(self) -> None:
        """As in erased flash."""
        self.assertEqual(self.flash[4096:8192], b"one" + b"\xff" * 4093)

    def test_more_partitions_than_a_block_describes_are_refused(self) -> None:
        """48 + 31 * 128 are 4,016 bytes: 30 partitions in addition to the table, and no more."""
        pnor.flash([pnor.Partition("ONE", b"")] * 30)
        with self.assertRaisesRegex(ValueError, "31 partitions"):
            pnor.flash([pnor.Partition("ONE", b"")] * 31)


class Catalogues(unittest.TestCase):
    """The partition with the catalogue."""

    def part(self, content: bytes, version: int) -> bytes:
        """The part for a version, as skiboot's flash_subpart_info() finds it."""
        self.assertEqual(words(content[4:8]), (1,))
        for entry in range(8, 4096 - 12, 12):
            own, offset, size = words(content[entry : entry + 12])
            if (own, offset, size) == (0, 0, 0):
                break
            self.assertGreaterEqual(offset, 4096)
            if own == version:
                return content[offset : offset + size]
        raise AssertionError(f"there is no part for {version:#x}")

    def test_the_part_of_qemus_power9_is_found(self) -> None:
        """Its PVR is 004E1202; skiboot clears bits 12 to 15 and 0 to 7."""
        self.assertEqual(self.part(pnor.by_version(b"tree", pnor.POWER9), 0x004E1202 & ~0xF0FF), b"tree")

    def test_the_part_is_the_tree_compressed(self) -> None:
        """With XZ and a check of CRC32, which is the number 1 in the second byte of the stream's flags."""
        made = pnor.compressed(TREE)
        self.assertEqual(made[:8], b"\xfd7zXZ\0\0\x01")
        self.assertEqual(lzma.decompress(made), TREE)

    def test_a_tree_that_skiboot_has_no_memory_for_is_refused(self) -> None:
        """It has 256 KiB for it."""
        pnor.compressed(bytes(0x40000))
        with self.assertRaisesRegex(ValueError, "262145 bytes"):
            pnor.compressed(bytes(0x40001))


class Options(unittest.TestCase):
    """Which guests have the flash."""

    def flash(self, machine: str, *words: str, there: bool = True) -> Path | None:
        """What the guest of a command line has."""
        parser = argparse.ArgumentParser()
        options.add(parser, list(options.MACHINES))
        with mock.patch.object(Path, "exists", return_value=there), mock.patch.object(options, "say") as said:
            found = options.flash(parser.parse_args([machine, *words]))
        self.said = said.called
        return found

    def test_a_powernv_guest_with_the_pmu_has_it(self) -> None:
        """And no other."""
        self.assertEqual(self.flash("powernv9", "--dir", "base"), Path("base/library/pnor.bin"))
        self.assertIsNone(self.flash("power9"))
        self.assertIsNone(self.flash("powernv9", "--pmu", "off"))
        self.assertIsNone(self.flash("powernv9", "--plain"))

    def test_a_guest_without_it_says_so(self) -> None:
        """It still has the PMU of its cores."""
        self.assertIsNone(self.flash("powernv9", there=False))
        self.assertTrue(self.said)


if __name__ == "__main__":
    unittest.main()
