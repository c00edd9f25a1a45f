"""Tests of the guest kit that need neither the network, nor a compiler, nor QEMU: python3 -m unittest discover device/qemu/tests."""

import argparse
import hashlib
import io
import lzma
import re
import sys
import tarfile
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from kit import build, catalogue, checks, debian, image, insert, options, selftests, source  # noqa: E402
from kit.cpio import Writer  # noqa: E402
from kit.debian import Archive, Package  # noqa: E402
from kit.errors import Failure, Missing, Unavailable  # noqa: E402
from kit.guest import TIMED_OUT, Guest  # noqa: E402
from kit.image import Image  # noqa: E402
from kit.libraries import Resolver  # noqa: E402
from kit.machines import MACHINES  # noqa: E402


def deb(files: dict[str, bytes], links: dict[str, str]) -> bytes:
    """A Debian package with these files and symbolic links."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:xz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(f"./{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        for name, target in links.items():
            member = tarfile.TarInfo(f"./{name}")
            member.type, member.linkname = tarfile.SYMTYPE, target
            archive.addfile(member)
    packed = b"!<arch>\n"
    for name, content in ((b"debian-binary", b"2.0"), (b"data.tar.xz", data.getvalue())):
        packed += b"%-16s%-12d%-6d%-6d%-8s%-10d`\n" % (name, 0, 0, 0, b"100644", len(content))
        packed += content + b"\n" * (len(content) % 2)
    return packed


def names(archive: bytes) -> list[str]:
    """The names in an archive of the format newc: a header is 110 bytes, of which 54 and 94 begin the lengths of data and name."""
    found, offset = [], 0
    while archive[offset : offset + 6] == b"070701":
        size, length = (int(archive[offset + field : offset + field + 8], 16) for field in (54, 94))
        found.append(archive[offset + 110 : offset + 110 + length - 1].decode())
        offset += (110 + length + 3) // 4 * 4 + (size + 3) // 4 * 4
    return found


def entry(name: str, content: bytes) -> str:
    """The entry of a package with this content in an index, and the empty line after it."""
    return f"Package: {name}\nVersion: 1\nFilename: pool/{name}.deb\nSHA256: {hashlib.sha256(content).hexdigest()}\n\n"


def index(text: str) -> bytes:
    """An index, as the mirror has it."""
    return lzma.compress(text.encode())


class Folder(unittest.TestCase):
    """A test with its own directory."""

    def setUp(self) -> None:
        """Make the directory."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)


class Packages(Folder):
    """Finding, downloading and unpacking packages."""

    def archive(self, index: str, served: dict[str, bytes], architecture: str = "amd64") -> Archive:
        """An archive whose index is in the cache, and whose other files come from `served`."""
        archive = Archive(self.folder, "trixie", architecture)
        path = archive._path()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(lzma.compress(index.encode()))

        def answer(url: str) -> io.BytesIO:
            """Serve a file as the mirror does."""
            if url.removeprefix(debian.MIRROR + "/") not in served:
                raise Missing(f"{url}: the mirror answers 404")
            return io.BytesIO(served[url.removeprefix(debian.MIRROR + "/")])

        patch = mock.patch.object(debian, "_open", answer)
        patch.start()
        self.addCleanup(patch.stop)
        return archive

    def test_dependencies_are_names_without_versions_and_the_first_of_alternatives(self) -> None:
        """Fields of one package do not mix with the next one's."""
        archive = self.archive("Package: a\nDepends: b (>= 1), c:any, d | e\n\nPackage: b\nDepends: x\n", {})
        self.assertEqual(archive.depends("a"), ["b", "c", "d"])

    def test_a_file_with_another_checksum_is_refused_and_not_kept(self) -> None:
        """The index decides the content of a package."""
        archive = self.archive("Package: a\nVersion: 1\nFilename: pool/a.deb\nSHA256: 00\n", {"pool/a.deb": b"other"})
        with self.assertRaisesRegex(Failure, "SHA256"):
            archive.package("a")
        self.assertEqual(list((self.folder / "pool").iterdir()), [])

    def test_an_index_of_an_earlier_run_that_names_a_file_which_is_gone_is_fetched_anew(self) -> None:
        """A point release removes the old version."""
        content = b"new"
        entry = f"Package: a\nVersion: 2\nFilename: pool/a_2.deb\nSHA256: {hashlib.sha256(content).hexdigest()}\n"
        served = {"pool/a_2.deb": content, "dists/trixie/main/binary-amd64/Packages.xz": lzma.compress(entry.encode())}
        archive = self.archive("Package: a\nVersion: 1\nFilename: pool/a_1.deb\nSHA256: 00\n", served)
        self.assertEqual(archive.current(lambda: archive.package("a")).version, "2")

    def test_sources_that_are_not_on_the_mirror_yet_are_those_of_the_version_before(self) -> None:
        """An index can name a version whose files come later."""
        content = b"source"
        index = "\n\n".join(
            f"Package: a\nVersion: {version}\nDirectory: pool/a\nChecksums-Sha256:\n 00 1 a_{version}.dsc\n {sha256} 6 a_{version}.orig.tar.xz"
            for version, sha256 in (("1", "00"), ("2", hashlib.sha256(content).hexdigest()), ("3", "00"))
        )
        archive = self.archive(f"{index}\n", {"pool/a/a_1.orig.tar.xz": b"", "pool/a/a_2.orig.tar.xz": content}, debian.SOURCES)
        with mock.patch.object(debian, "say") as said:
            self.assertEqual(archive.source("a", ".orig.tar.xz").name, "a_2.orig.tar.xz")
        self.assertIn("a_3.orig.tar.xz", said.call_args.args[0])

    def test_packages_that_are_not_on_the_mirror_yet_are_those_of_the_security_updates(self) -> None:
        """After a point release an index can name files that come later."""
        meta = "Package: linux-image-a\nDepends: linux-image-{0}-a\n\n"
        served = {
            "dists/trixie/main/binary-amd64/Packages.xz": index(meta.format(2) + entry("linux-image-2-a", b"new")),
            f"{debian.SECURITY}/dists/trixie-security/main/binary-amd64/Packages.xz": index(meta.format(1) + entry("linux-image-1-a", b"old")),
            f"{debian.SECURITY}/pool/linux-image-1-a.deb": b"old",
        }
        archive = self.archive(meta.format(0) + entry("linux-image-0-a", b""), served)
        self.assertEqual(archive.current(lambda: archive.kernel("linux-image-a")).release, "1-a")

    def test_a_file_that_neither_the_suite_nor_its_updates_have_is_the_suites(self) -> None:
        """The reason names one file."""
        archive = self.archive(entry("a", b""), {"dists/trixie/main/binary-amd64/Packages.xz": index(entry("a", b""))})
        with self.assertRaisesRegex(Missing, "debian/pool/a.deb"):
            archive.current(lambda: archive.package("a"))

    def test_a_kernel_in_one_package_is_its_image_and_modules(self) -> None:
        """In stable the meta package depends on it alone."""
        meta = "Package: linux-image-a\nDepends: linux-image-6-a (= 6)\n\n"
        archive = self.archive(meta + entry("linux-image-6-a", b"all"), {"pool/linux-image-6-a.deb": b"all"})
        kernel = archive.kernel("linux-image-a")
        self.assertEqual((kernel.release, kernel.binary.name, kernel.modules.name), ("6-a", "linux-image-6-a", "linux-image-6-a"))

    def kernel_in_parts(self) -> Archive:
        """A suite of which the kernel's image depends on the packages that have its files."""
        return self.archive(
            "Package: linux-image-a\nDepends: linux-base-a (= 7), linux-image-7-a (= 7), linux-modules-a (= 7)\n\n"
            "Package: linux-image-7-a\nDepends: dracut | initramfs-tools, linux-base-7-a, linux-binary-7-a (= 7), linux-modules-7-a (= 7)\n\n"
            + entry("linux-binary-7-a", b"kernel")
            + entry("linux-modules-7-a", b"modules"),
            {"pool/linux-binary-7-a.deb": b"kernel", "pool/linux-modules-7-a.deb": b"modules"},
        )

    def test_a_kernel_in_parts_is_the_binary_and_the_modules_that_its_image_depends_on(self) -> None:
        """In backports and sid the meta package depends on another one first."""
        kernel = self.kernel_in_parts().kernel("linux-image-a")
        self.assertEqual((kernel.release, kernel.binary.name, kernel.modules.name), ("7-a", "linux-binary-7-a", "linux-modules-7-a"))

    def test_a_meta_package_without_a_kernel_is_named(self) -> None:
        """Debian divides its packages anew now and then."""
        with self.assertRaisesRegex(Failure, "the package linux-image-a of Debian trixie depends on no linux-image-"):
            self.archive("Package: linux-image-a\nDepends: linux-base-a\n", {}).kernel("linux-image-a")

    def test_of_backports_only_the_kernel_and_what_their_release_lacks_is_taken(self) -> None:
        """perf's libraries are those that it was built with: a backported one may have another name."""
        served = {
            "dists/trixie-backports/main/binary-amd64/Packages.xz": index(entry("linux-perf", b"new") + entry("libcurl", b"new") + entry("libnew", b"new")),
            "pool/linux-perf.deb": b"new",
            "pool/libcurl.deb": b"old",
            "pool/libnew.deb": b"new",
        }
        self.archive(entry("linux-perf", b"old") + entry("libcurl", b"old"), served)
        backports = Archive(self.folder, "trixie-backports", "amd64")
        taken = {name: backports.package(name).path.read_bytes() for name in ("linux-perf", "libcurl", "libnew")}
        self.assertEqual(taken, {"linux-perf": b"new", "libcurl": b"old", "libnew": b"new"})

    def test_an_index_stays_until_the_new_one_is_complete(self) -> None:
        """Without it, nothing of what was downloaded can be used again."""
        old = entry("a", b"")
        place = "dists/trixie/main/binary-amd64/Packages.xz"
        for name, served in {"gone": {}, "cut": {place: index(old)[:40]}, "a page": {place: b"<html>"}}.items():
            with self.subTest(name):
                archive = self.archive(old, served)
                with self.assertRaises(Unavailable):
                    archive.current(lambda: archive.package("a"))
                self.assertEqual([path.name for path in archive._path().parent.iterdir()], ["Packages.xz"])
                self.assertEqual(len(Archive(self.folder, "trixie", "amd64").entries("a")), 1)

    def test_a_source_in_the_cache_is_taken_if_the_mirror_is_not_reached(self) -> None:
        """A line says so, as it is not of the newest version. No further version is asked for."""
        versions = "\n\n".join(f"Package: a\nVersion: {n}\nDirectory: pool/a\nChecksums-Sha256:\n 00 1 a_{n}.orig.tar.xz" for n in (1, 2, 3))
        archive = self.archive(f"{versions}\n", {})
        cached = self.folder / "pool/a/a_1.orig.tar.xz"
        cached.parent.mkdir(parents=True)
        cached.write_bytes(b"1")
        unreached = mock.Mock(side_effect=Unavailable("no route"))
        with mock.patch.object(debian, "_open", unreached), mock.patch.object(debian, "say") as said:
            self.assertEqual(archive.source("a", ".orig.tar.xz"), cached)
        said.assert_called_once_with("no route: taking a_1.orig.tar.xz")
        unreached.assert_called_once()

    def test_a_package_that_is_not_there_is_named(self) -> None:
        """The message names what is missing, and where."""
        with self.assertRaisesRegex(Failure, "trixie has no package b for amd64"):
            self.archive("Package: a\n", {}).entry("b")

    def test_only_the_files_that_match_are_unpacked(self) -> None:
        """A kernel's package has thousands of others."""
        path = self.folder / "a.deb"
        path.write_bytes(deb({"boot/vmlinuz": b"kernel", "usr/share/doc": b"text"}, {}))
        root = Package("a", "1", path).unpack(self.folder, "boot/*")
        self.assertEqual([file.name for file in root.rglob("*") if file.is_file()], ["vmlinuz"])

    def test_other_files_of_a_package_are_unpacked_later(self) -> None:
        """A newer kit may need more of one."""
        path = self.folder / "a.deb"
        path.write_bytes(deb({"boot/vmlinuz": b"kernel", "lib/kvm.ko": b"module"}, {}))
        Package("a", "1", path).unpack(self.folder, "boot/*")
        root = Package("a", "1", path).unpack(self.folder, "boot/*", "kvm.ko")
        self.assertEqual(sorted(file.name for file in root.rglob("*") if file.is_file()), ["kvm.ko", "vmlinuz"])

    def test_a_link_to_an_absolute_path_stays_inside_the_unpacked_package(self) -> None:
        """A package's links are meant for the guest, not for the host."""
        path = self.folder / "a.deb"
        path.write_bytes(deb({"lib/ld.so": b"linker"}, {"lib64/ld.so": "/lib/ld.so"}))
        root = Package("a", "1", path).unpack(self.folder, "*.so")
        self.assertEqual((root / "lib64/ld.so").read_bytes(), b"linker")

    def test_a_file_above_the_package_is_refused(self) -> None:
        """Nothing is written outside, whatever an archive has."""
        path = self.folder / "a.deb"
        path.write_bytes(deb({"../../escaped": b"x"}, {}))
        with self.assertRaisesRegex(Failure, "outside"):
            Package("a", "1", path).unpack(self.folder, "*")

    def test_a_library_is_looked_for_in_the_package_that_naming_rules_give_first(self) -> None:
        """The other dependencies are not downloaded: the mirror of this test does not have them."""
        content = deb({"usr/lib/libz.so.1": b""}, {})
        archive = self.archive(
            "Package: p\nDepends: libother1, libz1\n\nPackage: libother1\nVersion: 1\nFilename: none\nSHA256: 00\n\n"
            f"Package: libz1\nVersion: 1\nFilename: pool/z.deb\nSHA256: {hashlib.sha256(content).hexdigest()}\n",
            {"pool/z.deb": content},
        )
        resolver = Resolver(archive, self.folder / "files")
        with mock.patch("kit.libraries.needed", lambda path: ["libz.so.1"] if path == self.folder else []):
            resolver.libraries["ld-linux-x86-64.so.2"] = (self.folder / "ld", "libc6")
            self.assertEqual(set(resolver.closure(self.folder, "p")), {"ld-linux-x86-64.so.2", "libz.so.1"})


class Mirrored(Folder):
    """A test with a mirror, which is a dictionary: its files by their places. It is not reached while there is none."""

    def setUp(self) -> None:
        """Replace the network."""
        super().setUp()
        self.mirror: dict[str, bytes] | None = {}
        self.requests = 0
        patch = mock.patch.object(debian, "_open", self.answer)
        patch.start()
        self.addCleanup(patch.stop)

    def answer(self, url: str) -> io.BytesIO:
        """Serve a file as the mirror does."""
        self.requests += 1
        if self.mirror is None:
            raise Unavailable(f"{url}: no route")
        place = url.removeprefix(debian.MIRROR + "/")
        if place not in self.mirror:
            raise Missing(f"{url}: the mirror answers 404")
        return io.BytesIO(self.mirror[place])


class Images(Mirrored):
    """Which image a guest boots."""

    def setUp(self) -> None:
        """Replace the compiler and standard error."""
        super().setUp()
        self.said: list[str] = []
        for patch in (
            mock.patch.object(image, "say", self.said.append),
            mock.patch.object(image.programs, "build", lambda *_: []),
            mock.patch("kit.libraries.needed", lambda _: []),
        ):
            patch.start()
            self.addCleanup(patch.stop)

    def serve(self, suite: str, release: str, *without: str) -> None:
        """Put a suite with a kernel of this release on the mirror, without some of the packages that its index names."""
        image_name = f"linux-image-{release}"
        contents = {
            image_name: {f"boot/vmlinux-{release}": release.encode(), **{f"lib/{name}.ko": b"m" for name in image.MODULES["ppc64el"]}},
            "busybox-static": {"usr/bin/busybox": b"b"},
            "linux-perf": {"usr/bin/perf": b"p"},
            "libc6": {"lib64/ld64.so.2": b"l"},
        }
        depends = {"linux-image-powerpc64le": image_name, "linux-perf": "libc6"}
        text = ""
        for name in ("linux-image-powerpc64le", *contents):
            content = deb(contents.get(name, {}), {})
            place = f"pool/{suite}/{release}/{name}.deb"
            if name in contents and name not in without:
                self.mirror[place] = content
            text += f"Package: {name}\nVersion: {release}\nDepends: {depends.get(name, '')}\n"
            text += f"Filename: {place}\nSHA256: {hashlib.sha256(content).hexdigest()}\n\n"
        self.mirror[f"dists/{suite}/main/binary-ppc64el/Packages.xz"] = index(text)

    def boot(self, suite: str | None = None) -> list[str]:
        """What a command says that looks for an image."""
        image.available.cache_clear()
        self.requests = 0
        self.said.clear()
        image.available(self.folder, suite, "ppc64el")
        return list(self.said)

    def another_kit(self) -> None:
        """Change the sources of the kit by which images are made."""
        changed = self.folder / "changed.py"
        changed.write_bytes(b"changed")
        patch = mock.patch.object(image, "MADE_BY", (changed,))
        patch.start()
        self.addCleanup(patch.stop)

    def test_a_built_image_is_said_once_and_asks_the_mirror_nothing(self) -> None:
        """The first boot makes it, and the second one is without a network."""
        self.serve("trixie", "6.12")
        self.assertEqual(self.boot(), ["Debian trixie, Linux 6.12"])
        self.mirror = None
        self.assertEqual(self.boot(), ["Debian trixie, Linux 6.12"])
        self.assertEqual(self.requests, 0)

    def test_a_built_image_stays_when_the_index_names_newer_packages(self) -> None:
        """Both that of the mirror and that in the cache."""
        self.serve("trixie", "6.12")
        self.boot()
        self.serve("trixie", "6.13", "linux-image-6.13")
        Archive(self.folder / "debian", "trixie", "ppc64el").renew()
        self.assertEqual(self.boot(), ["Debian trixie, Linux 6.12"])
        self.assertEqual(self.requests, 0)

    def test_another_suite_is_made_when_it_is_asked_for(self) -> None:
        """The one that was there stays."""
        self.serve("trixie", "6.12")
        self.serve("bookworm", "6.1")
        self.boot()
        self.assertEqual(self.boot("bookworm"), ["Debian bookworm, Linux 6.1"])
        self.assertEqual(self.boot(), ["Debian trixie, Linux 6.12"])
        self.assertEqual(self.requests, 0)

    def test_without_a_network_another_kit_makes_the_image_of_what_was_downloaded(self) -> None:
        """Index and packages are in the cache."""
        self.serve("trixie", "6.12")
        self.boot()
        self.mirror = None
        self.another_kit()
        self.assertEqual(self.boot(), ["Debian trixie, Linux 6.12"])
        self.assertEqual(len(list((self.folder / "images").glob("trixie-*"))), 1)

    def test_programs_are_compiled_again_without_a_network(self) -> None:
        """They are no part of what is of Debian."""
        self.serve("trixie", "6.12")
        self.boot()
        self.mirror = None
        old = list((self.folder / "images").glob("kit-*"))
        with mock.patch.object(image, "OWN_MADE_BY", ()):
            self.assertEqual(self.boot(), ["Debian trixie, Linux 6.12"])
        self.assertEqual([len(old), len(set(old) & set((self.folder / "images").glob("kit-*")))], [1, 0])

    def test_an_image_of_an_earlier_kit_is_better_than_another_suites(self) -> None:
        """The mirror lacks a package of the suite, and has the next suite whole. The next boot does not ask it again."""
        self.serve("trixie", "6.12")
        self.boot()
        self.another_kit()
        self.serve("trixie", "6.13", "libc6")
        self.serve("bookworm", "6.1")
        Archive(self.folder / "debian", "trixie", "ppc64el").renew()
        gone = f"{debian.MIRROR}/pool/trixie/6.13/libc6.deb: the mirror answers 404"
        self.assertEqual(self.boot(), [f"Debian trixie, Linux 6.12, in place of a newer one: {gone}"])
        self.mirror = None
        again = "the mirror did not have all of trixie's packages, and --suite trixie tries again"
        self.assertEqual(self.boot(), [f"Debian trixie, Linux 6.12, in place of a newer one: {again}"])
        self.assertEqual(self.requests, 0)

    def test_an_image_of_an_earlier_kit_boots_when_the_mirror_is_not_reached(self) -> None:
        """Nothing of what was downloaded is there any more."""
        self.serve("trixie", "6.12")
        self.boot()
        self.another_kit()
        image.shutil.rmtree(self.folder / "debian")
        self.mirror = None
        for suite in (None, "trixie"):
            place = f"{debian.MIRROR}/dists/trixie/main/binary-ppc64el/Packages.xz"
            self.assertEqual(self.boot(suite), [f"Debian trixie, Linux 6.12, in place of a newer one: {place}: no route"])

    def test_the_suite_before_is_taken_once_if_the_mirror_lacks_a_package(self) -> None:
        """The first boot says what is not there. The second one asks the mirror nothing, and says how to try again."""
        self.serve("trixie", "6.12", "linux-perf")
        self.serve("bookworm", "6.1")
        gone = f"{debian.MIRROR}/pool/trixie/6.12/linux-perf.deb: the mirror answers 404"
        self.assertEqual(self.boot(), [f"Debian bookworm, Linux 6.1, in place of trixie: {gone}"])
        self.mirror = None
        again = "the mirror did not have all of trixie's packages, and --suite trixie tries again"
        self.assertEqual(self.boot(), [f"Debian bookworm, Linux 6.1, in place of trixie: {again}"])
        self.assertEqual(self.requests, 0)

    def test_a_suite_that_was_replaced_is_made_when_it_is_asked_for(self) -> None:
        """From then on it is the one that is booted."""
        self.serve("trixie", "6.12", "linux-perf")
        self.serve("bookworm", "6.1")
        self.boot()
        self.serve("trixie", "6.12")
        self.assertEqual(self.boot("trixie"), ["Debian trixie, Linux 6.12"])
        self.assertEqual(self.boot(), ["Debian trixie, Linux 6.12"])

    def test_a_suite_that_was_asked_for_is_not_replaced_by_another(self) -> None:
        """The failure names the package."""
        self.serve("trixie", "6.12", "linux-perf")
        self.serve("bookworm", "6.1")
        with self.assertRaisesRegex(Missing, "linux-perf"):
            self.boot("trixie")

    def test_an_image_of_the_suite_before_boots_when_the_mirror_is_not_reached(self) -> None:
        """It is the only one there is. With a network again, the wanted one is made."""
        self.serve("bookworm", "6.1")
        self.boot("bookworm")
        served, self.mirror = self.mirror, None
        place = f"{debian.MIRROR}/dists/trixie/main/binary-ppc64el/Packages.xz"
        self.assertEqual(self.boot(), [f"Debian bookworm, Linux 6.1, in place of trixie: {place}: no route"])
        self.mirror = served
        self.serve("trixie", "6.12")
        self.assertEqual(self.boot(), ["Debian trixie, Linux 6.12"])

    def test_without_an_image_and_a_network_the_mirror_is_named(self) -> None:
        """Nothing was downloaded before."""
        self.mirror = None
        with self.assertRaisesRegex(Unavailable, "trixie/main/binary-ppc64el/Packages.xz: no route"):
            self.boot()

    def test_the_suite_of_an_image_is_told_by_its_directory(self) -> None:
        """The name of a suite may have a hyphen."""
        self.assertEqual(Image(Path("trixie-backports-amd64-0123"), self.folder).suite, "trixie-backports")

    def test_a_kernel_beside_its_modules_is_found(self) -> None:
        """In backports and sid it is not in /boot."""
        binary = self.folder / "binary.deb"
        binary.write_bytes(deb({"usr/lib/modules/7.2/vmlinuz": b"kernel"}, {}))
        modules = self.folder / "modules.deb"
        modules.write_bytes(deb({f"lib/{name}.ko": b"m" for name in image.MODULES["ppc64el"]}, {}))
        kernel = debian.Kernel("7.2", Package("linux-binary-7.2", "1", binary), Package("linux-modules-7.2", "1", modules))
        archive = Archive(self.folder, "sid", "ppc64el")
        with mock.patch.object(Archive, "kernel", lambda *_: kernel):
            image._kernel(archive, self.folder, self.folder)
        self.assertEqual((self.folder / "kernel").read_bytes(), b"kernel")


class Selftests(Mirrored):
    """Which sources Linux's tests are compiled from."""

    def test_sources_that_were_unpacked_are_taken_if_the_mirror_is_not_reached(self) -> None:
        """Neither the index nor the package is in the cache."""
        self.mirror = None
        (self.folder / "files/trixie/linux_6.12").mkdir(parents=True)
        self.assertTrue(selftests._sources(self.folder, "trixie").is_relative_to(self.folder / "files/trixie/linux_6.12"))

    def test_without_sources_and_a_network_the_mirror_is_named(self) -> None:
        """A half of them counts for nothing."""
        self.mirror = None
        (self.folder / "files/trixie/linux_6.12.1.part").mkdir(parents=True)
        with self.assertRaisesRegex(Unavailable, "no route"):
            selftests._sources(self.folder, "trixie")


class Sources(Mirrored):
    """Which source package of QEMU is built."""

    def serve(self, suite: str, *versions: str) -> None:
        """Put an index that names these versions of QEMU on the mirror."""
        self.mirror[f"dists/{suite}/main/source/Sources.xz"] = index("".join(f"Package: qemu\nVersion: 1:{version}\n\n" for version in versions))

    def put(self, version: str) -> None:
        """Put a source package with a file on the mirror."""
        description = f"Checksums-Sha256:\n {hashlib.sha256(b'').hexdigest()} 0 {version}.tar\nFiles:\n"
        self.mirror[f"{source.POOL}/qemu_{version}.dsc"] = description.encode()
        self.mirror[f"{source.POOL}/{version}.tar"] = b""

    def found(self, wanted: str) -> str:
        """The version that is found."""
        return source.find(self.folder, wanted)[0].text

    def test_a_version_that_was_downloaded_is_found_without_a_network(self) -> None:
        """Index and files are in the cache."""
        self.serve("trixie", "10.0.1")
        self.put("10.0.1")
        self.found("stable")
        self.mirror = None
        self.assertEqual(self.found("stable"), "10.0.1")

    def test_the_newest_that_was_downloaded_is_found_without_a_network(self) -> None:
        """The index names a newer one, which the mirror did not have."""
        self.serve("sid", "11.1.2", "11.1.1")
        self.serve("experimental")
        self.put("11.1.1")
        self.found("newest")
        self.mirror = None
        self.assertEqual(self.found("newest"), "11.1.1")

    def test_a_stable_version_that_is_gone_is_looked_for_in_a_new_index(self) -> None:
        """Not in the next suite: its versions are newer ones."""
        self.serve("trixie", "10.0.1")
        Archive(self.folder, "trixie", debian.SOURCES).renew()
        self.serve("trixie", "10.0.2")
        self.serve("sid", "11.1.1")
        for version in ("10.0.2", "11.1.1"):
            self.put(version)
        self.assertEqual(self.found("stable"), "10.0.2")

    def test_a_mirror_that_is_not_reached_is_named(self) -> None:
        """The index alone is in the cache."""
        self.serve("trixie", "10.0.1")
        Archive(self.folder, "trixie", debian.SOURCES).renew()
        self.mirror = None
        with self.assertRaisesRegex(Unavailable, "no route"):
            self.found("stable")


class Fragments(Folder):
    """Putting fragments into a tree."""

    def tree(self, fragment: str, **files: str) -> Path:
        """Insert one fragment into files of this text, `a_c` being `a.c`, and return their directory."""
        source = self.folder / "of.toml"
        source.write_text(f"[[fragment]]\n{fragment}\n")
        tree = self.folder / "tree"
        tree.mkdir()
        for name, text in files.items():
            (tree / name.replace("_", ".")).write_text(text)
        insert.apply_all([source], tree)
        return tree

    def test_a_fragment_goes_into_the_first_of_its_files_that_has_the_place(self) -> None:
        """A function moves to another file, which was there before."""
        tree = self.tree('file = ["a.c", "b.c"]\nbehind = "x;"\ntext = "new;"', a_c="y;\n", b_c="x;\n")
        self.assertEqual([(tree / name).read_text() for name in ("a.c", "b.c")], ["y;\n", "x;\nnew;"])

    def test_a_place_that_no_file_has_is_named_with_all_files(self) -> None:
        """The message names every file that was searched."""
        with self.assertRaisesRegex(insert.PlaceNotFound, "a.c or b.c has no line with 'x;'"):
            self.tree('file = ["a.c", "b.c"]\nbehind = "x;"\ntext = "new;"', a_c="y;\n", b_c="z;\n")

    def test_a_function_that_is_gone_is_named(self) -> None:
        """The message does not name the line in the function."""
        with self.assertRaisesRegex(insert.PlaceNotFound, r"a.c has no line with 'f\('"):
            self.tree('file = "a.c"\nwithin = "f("\nbehind = "x;"\ntext = "new;"', a_c="x;\n")


class Libraries(unittest.TestCase):
    """What is built of libvm_pmu for which targets."""

    def test_a_target_brings_the_parts_of_its_architecture_alone(self) -> None:
        """An emulator of x86 has no nest. `litmus` has the names of all parts, for recordings."""
        self.assertEqual(build.features("x86_64-softmmu"), ["k8", "knl", "companion", "decode", "litmus", "std"])
        self.assertEqual(build.features("ppc64-softmmu"), ["power9", "companion", "decode", "litmus", "std", "memory", "tree"])

    def test_one_library_serves_all_targets(self) -> None:
        """Each part is there once."""
        self.assertEqual(build.features("x86_64-softmmu,i386-softmmu,ppc64-softmmu"), ["k8", "knl", "power9", "companion", "decode", "litmus", "std", "memory", "tree"])

    def test_a_target_without_a_pmu_is_refused_before_anything_is_built(self) -> None:
        """The line says which have one."""
        with self.assertRaisesRegex(Failure, "no PMU for sparc-softmmu: there are some for i386, x86_64, ppc, ppc64"):
            build.features("sparc-softmmu")


class Replays(Folder):
    """What `check` says of a recording; a shell script replaces cargo."""

    def replayed(self, script: str) -> str | None:
        """The reason that a replay is wrong, if a shell command stands for it."""
        cargo = self.folder / "cargo"
        cargo.write_text(f"#!/bin/sh\n{script}\n")
        cargo.chmod(0o755)
        with mock.patch.dict("os.environ", PATH=f"{self.folder}:/usr/bin:/bin"):
            return checks.replay(Path("a.litmus"))

    def test_a_replay_that_shows_the_same_is_right(self) -> None:
        """The file is the last argument."""
        self.assertIsNone(self.replayed('for last; do :; done; [ "$last" = a.litmus ]'))

    def test_the_first_line_of_a_replay_that_does_not_is_the_reason(self) -> None:
        """The lines below it are the recording's."""
        self.assertEqual(self.replayed("echo 'the first difference: x'; echo '> 7 read'; exit 1"), "the first difference: x")


class Archives(unittest.TestCase):
    """What Linux unpacks."""

    def test_one_archive_holds_the_folders_above_its_files_once(self) -> None:
        """Linux makes no folder by itself."""
        writer = Writer()
        writer.file("a/b/one", b"1")
        writer.file("a/b/two", b"22", executable=True)
        self.assertEqual(names(writer.finish()), ["a", "a/b", "a/b/one", "a/b/two", "TRAILER!!!"])

    def test_another_archive_may_follow_at_the_end(self) -> None:
        """Linux looks for the next one at a multiple of four bytes."""
        writer = Writer()
        writer.file("odd", b"12345")
        self.assertEqual(len(writer.finish()) % 4, 0)


class Guests(Folder):
    """What is read from a guest's console; a shell script replaces QEMU."""

    def guest(self, console: str, **options) -> Guest:
        """A guest whose console shows what a shell command prints."""
        qemu = self.folder / "qemu"
        qemu.write_text(f"#!/bin/sh\n{console}\n")
        qemu.chmod(0o755)
        for name in ("root.cpio", "own.cpio"):
            (self.folder / name).write_bytes(b"")
        return Guest(MACHINES["k8"], Image(self.folder, self.folder), self.folder, qemu, self.folder / "log", **options)

    def run_guest(self, console: str, **options) -> tuple[int, list[bytes]]:
        """The status and the lines of a guest's command."""
        lines: list[bytes] = []
        return self.guest(console, **options).run("true", lines.append), lines

    def test_the_commands_output_and_status_are_told_and_the_rest_is_logged(self) -> None:
        """A carriage return of the console is not the command's."""
        console = r"printf 'boots\r\n\n@guest begins\r\nout\r\n\n@guest ends 3\nmessages\n@guest is done\n'; sleep 60"
        self.assertEqual(self.run_guest(console), (3, [b"out"]))
        self.assertIn("boots\n", (self.folder / "log").read_text())
        self.assertIn("messages\n", (self.folder / "log").read_text())

    def test_empty_lines_of_the_command_are_kept(self) -> None:
        """Only the one that the guest puts before its mark is removed."""
        _, lines = self.run_guest(r"printf '@guest begins\n\na\n\n\n\n@guest ends 0\n@guest is done\n'")
        self.assertEqual(lines, [b"", b"a", b"", b""])

    def test_a_guest_that_says_nothing_more_hangs(self) -> None:
        """The status is that of timeout(1)."""
        with mock.patch("sys.stderr", io.StringIO()) as errors:
            self.assertEqual(self.run_guest("echo '@guest begins'; exec sleep 60", timeout=0.5)[0], TIMED_OUT)
        self.assertIn("hangs", errors.getvalue())

    def test_qemus_reason_is_told_if_it_ends_early(self) -> None:
        """Its last message is in the line of failure."""
        with self.assertRaisesRegex(Failure, "status 1 .*: qemu: no such CPU"):
            self.run_guest("echo 'qemu: no such CPU' >&2; exit 1")

    def test_a_plain_qemu_is_told_nothing_of_the_pmu(self) -> None:
        """It would refuse to start."""
        self.assertNotIn("pmu", " ".join(self.guest("", pmu=None).arguments("initramfs")))

    def test_the_pmu_is_switched_by_an_option_of_the_cpu(self) -> None:
        """One option selects them."""
        self.assertIn("Opteron_G1,pmu=off", self.guest("", pmu="off").arguments("initramfs"))

    def test_a_recording_is_a_property_of_the_pmus(self) -> None:
        """QEMU gets the whole path: its own folder may be another one."""
        arguments = self.guest("", record=Path("a.litmus"), record_most=7).arguments("initramfs")
        self.assertIn(f"tcg-pmu.record={Path('a.litmus').resolve()}", arguments)
        self.assertIn("tcg-pmu.record-most=7", arguments)
        self.assertNotIn("tcg-pmu", " ".join(self.guest("").arguments("initramfs")))

    def test_what_qemu_says_of_the_recording_is_told(self) -> None:
        """It says so when it ends, and the rest of its messages stays in the log."""
        begin = "echo '@guest begins'; echo '@guest ends 0'; echo '@guest is done'"
        console = f"trap 'echo qemu: warning: pmu: the recording a ends early >&2; exit' TERM; {begin}; while :; do sleep 0.1; done"
        with mock.patch("sys.stderr", io.StringIO()) as errors:
            self.assertEqual(self.run_guest(console, record=Path("a"))[0], 0)
        self.assertEqual(errors.getvalue(), "the recording a ends early\n")

    def test_a_guest_without_the_pmu_is_not_recorded(self) -> None:
        """The line says what to leave out."""
        parser = argparse.ArgumentParser()
        options.add(parser, ["k8"])
        with self.assertRaisesRegex(Failure, "leave out --plain and --pmu off"):
            options.guest(parser.parse_args(["k8", "--plain", "--record", "a"]), 1.0)

    def test_flash_comes_with_the_devices_by_which_firmware_finds_it(self) -> None:
        """skiboot asks a BMC, which a machine without default devices does not have."""
        guest = self.guest("", flash=self.folder / "pnor.bin")
        guest.machine = MACHINES["powernv9"]
        arguments = guest.arguments("initramfs")
        self.assertIn(f"if=mtd,format=raw,readonly=on,file={self.folder / 'pnor.bin'}", arguments)
        self.assertIn("ipmi-bmc-sim,id=bmc0", arguments)
        guest.flash = None
        self.assertNotIn("ipmi-bmc-sim,id=bmc0", guest.arguments("initramfs"))

    def test_known_failures_are_the_names_before_the_reasons(self) -> None:
        """Lines with only a reason, and empty ones, name no test."""
        path = self.folder / "known"
        path.write_text("# of one kernel\n\nebb/a_test  # why\nb_test\n")
        self.assertEqual(selftests.known(path), {"ebb/a_test", "b_test"})

    def test_tests_get_more_time_than_linux_gives_them(self) -> None:
        """A host may be slow or busy."""
        self.assertEqual(selftests.with_more_time("if (timeout)\n\talarm(timeout);\n"), "if (timeout)\n\talarm(timeout * 4);\n")

    def test_a_harness_that_ends_tests_otherwise_is_refused(self) -> None:
        """Otherwise tests would fail on a slow host, and nothing would say why."""
        with self.assertRaisesRegex(Failure, "harness.c of Linux has no alarm"):
            selftests.with_more_time("setitimer();")

    def named(self, names: str) -> list[selftests.Test]:
        """A test for each letter."""
        for name in names:
            (self.folder / name).write_bytes(b"")
        return [selftests.Test(".", self.folder / name) for name in names]

    def test_guests_at_the_same_time_share_the_tests(self) -> None:
        """Each test runs in one of them; each guest passes what its command begins."""
        console = (
            "while [ $1 != -initrd ]; do shift; done; echo '@guest begins'\n"
            "grep -ao '@test [a-z]' $2 | while read mark name; do echo \"@test $name\"; echo '@status 0'; done\n"
            "echo '@guest ends 0'; echo '@guest is done'"
        )
        guests = [replace(self.guest(console), log=self.folder / f"log-{number}") for number in range(2)]
        results: list[selftests.Result] = []
        selftests.run(guests, self.named("abcde"), 5, self.folder / "logs", results.append)
        self.assertEqual(sorted((result.test.name, result.outcome) for result in results), [(name, "pass") for name in "abcde"])
        shares = [(self.folder / f"log-{number}").exists() for number in range(2)]
        self.assertEqual(shares, [True, True])

    def test_the_number_of_guests_at_once_is_one_or_more(self) -> None:
        """A pool of none would never end."""
        parser = argparse.ArgumentParser()
        options.add_jobs(parser, 1)
        self.assertEqual(parser.parse_args(["--jobs", "3"]).jobs, 3)
        with mock.patch("sys.stderr", io.StringIO()) as errors, self.assertRaises(SystemExit):
            parser.parse_args(["--jobs", "0"])
        self.assertIn("0 is not a number of guests: 1 or more", errors.getvalue())

    def test_after_a_hang_the_other_events_are_tried_in_another_guest(self) -> None:
        """The guest stops in the second of three batches, and the second guest has the third."""
        again = self.folder / "again"
        console = (
            f"if [ -e {again} ]; then printf '@guest begins\\n== 0\\n3,n2,100.00\\n@guest ends 0\\n@guest is done\\n'\n"
            f"else touch {again}; printf '@guest begins\\n== 0\\n1,n0,100.00\\n== 1\\n'; exec sleep 30; fi"
        )
        events = [catalogue.Event(name, 1, True, (1,)) for name in "abc"]
        with mock.patch.object(catalogue, "say"), mock.patch("sys.stderr"):
            found = catalogue.counted(self.guest(console, timeout=1), {event: n for n, event in enumerate(events)}, catalogue.batches(events), "true")
        self.assertEqual(found, {0: catalogue.Reading(1, True), 2: catalogue.Reading(3, True)})

    def test_results_of_linuxs_tests_are_read_and_a_dead_guest_fails_one_of_them(self) -> None:
        """The guest dies in the second of three tests; the third runs in another guest."""
        again = self.folder / "again"
        console = (
            f"if [ -e {again} ]; then printf '@guest begins\\n@test c\\nskip: c\\n@status 0\\n@guest ends 0\\n@guest is done\\n'\n"
            f"else touch {again}; printf '@guest begins\\n@test a\\n@status 0\\n@test b\\n'; fi"
        )
        tests = self.named("abc")
        results: list[selftests.Result] = []
        selftests.run([self.guest(console)], tests, 5, self.folder / "logs", results.append)
        self.assertEqual([result.outcome for result in results], ["pass", "fail", "skip"])


class Versions(unittest.TestCase):
    """The versions of Linux and perf: what pages state is what the kit takes, and what it takes is what guests are asked for."""

    ROOT = Path(__file__).resolve().parents[3]

    def pages(self) -> dict[str, str]:
        """The text of each page by its path, without what is of other versions: history, and notes of what the sources of drivers have."""
        folders = [self.ROOT, *(self.ROOT / name for name in ("docs", "docs/src", "docs/notes", "device/qemu"))]
        paths = [path for folder in folders for ending in ("*.md", "*.known") for path in folder.glob(ending)]
        return {str(path.relative_to(self.ROOT)): path.read_text() for path in paths if not path.name.endswith(("CHANGELOG.md", "decisions.md", "-drivers.md"))}

    def test_pages_state_no_version_of_linux_or_perf_that_the_kit_does_not_take(self) -> None:
        """Those since which, until which or before which something holds are Linux's history."""
        stated = re.compile(r"(?i)(?<!from )(?<!since )(?<!until )(?<!before )\b(?:linux|kernel|perf)\s+(\d+\.\d+)")
        found = {(page, version) for page, text in self.pages().items() for version in stated.findall(text)}
        taken = {release.linux for release in debian.RELEASES.values()}
        self.assertEqual({(page, version) for page, version in found if version not in taken}, set())
        self.assertIn(("docs/src/attach-qemu.md", debian.RELEASES[debian.SUITES[0]].linux), found)

    def test_pages_that_state_a_release_of_debian_state_its_version_of_linux(self) -> None:
        """The number of the release is in the same phrase."""
        found = {pair for text in self.pages().values() for pair in re.findall(r"Linux\s+(\d+\.\d+)\s+of\s+Debian\s+(\d+)", text)}
        self.assertIn(("6.12", "13"), found)
        self.assertLessEqual(found, {(release.linux, release.number) for release in debian.RELEASES.values()})

    def judged(self, suite: str, *lines: str) -> str | None:
        """What is wrong with what a guest of a suite prints."""
        return checks.series(suite).judge(list(lines))

    def test_a_guest_of_a_release_has_its_series_of_linux_and_perf(self) -> None:
        """Debian 12 names its kernels by the series."""
        self.assertIsNone(self.judged("trixie", "6.12.117+deb13-amd64", "perf version 6.12.117"))
        self.assertIsNone(self.judged("bookworm", "6.1.0-50-powerpc64le", "perf version 6.1.170"))

    def test_another_kernel_or_perf_than_that_of_the_release_is_wrong(self) -> None:
        """The reason states the one of the release."""
        self.assertIn("expected Linux and perf 6.12", self.judged("trixie", "6.13.1-amd64", "perf version 6.12.117"))
        self.assertIn("expected Linux and perf 6.12", self.judged("trixie", "6.12.117-amd64", "perf version 6.1.117"))
        self.assertIn("expected Linux and perf 6.12", self.judged("trixie", "6.12.117-amd64", "sh: perf: not found"))

    def test_a_kernel_and_perf_of_a_suite_that_changes_are_of_one_series(self) -> None:
        """No page states it."""
        self.assertIsNone(self.judged("sid", "7.2.13+deb14-amd64", "perf version 7.2.13"))
        self.assertIn("expected Linux and perf 7.2", self.judged("sid", "7.2.13+deb14-amd64", "perf version 6.12.117"))

    def test_the_first_guest_of_each_machine_is_asked_for_its_versions(self) -> None:
        """Each by the suite of its own image."""
        runs = [checks.Run("a", []), checks.Run("a", []), checks.Run("b", [])]
        names = [[check.name for check in run.checks] for run in checks.with_series(runs, ["sid", "sid", "bookworm"])]
        self.assertEqual(names, [["Linux and perf of sid"], [], ["Linux and perf of bookworm"]])

    def test_guests_let_everybody_count_before_the_command_begins(self) -> None:
        """Debian's kernels would let root alone."""
        before = image.INIT.read_text().partition("@guest begins")[0]
        self.assertEqual(re.findall(r"^echo (\S+) > /proc/sys/kernel/perf_event_paranoid$", before, re.MULTILINE), ["-1"])


class SharesTest(unittest.TestCase):
    """The judge of the samples of `histogram`."""

    def judged(self, of_interrupts: int, **samples: int) -> str | None:
        return checks.shares(of_interrupts)([f"{number} {name}" for name, number in samples.items()])

    def test_samples_in_their_shares_are_right(self) -> None:
        self.assertIsNone(self.judged(0, sixty=301, thirty=150, ten=50))

    def test_a_share_that_is_off_by_two_is_wrong(self) -> None:
        self.assertIn("60 %", self.judged(0, sixty=303, thirty=148, ten=50))

    def test_too_few_samples_are_wrong(self) -> None:
        self.assertIn("expected 501", self.judged(0, sixty=240, thirty=120, ten=40))

    def test_samples_of_interrupts_are_right_where_they_are_counted(self) -> None:
        samples = {"sixty": 299, "thirty": 150, "ten": 50, "0xffffffff81e00330": 2}
        self.assertIsNone(self.judged(3, **samples))
        self.assertIn("elsewhere", self.judged(0, **samples))


class Steps(unittest.TestCase):
    """The judges of what cores and threads of POWER9 post in steps."""

    def test_what_is_left_over_may_come_with_the_next_run(self) -> None:
        self.assertIsNone(checks.steps(5_000_009)(["4999680", "5000192", "4999680"]))

    def test_a_step_that_is_missing_in_the_end_is_wrong(self) -> None:
        self.assertIn("in steps of 512", checks.steps(5_000_009)(["4999680", "4999680", "4999680"]))

    def test_a_count_between_steps_is_wrong(self) -> None:
        self.assertIn("in steps of 512", checks.steps(5_000_009)(["5000009", "5000009", "5000009"]))

    def test_too_few_runs_are_wrong(self) -> None:
        self.assertIn("three runs", checks.steps(5_000_009)(["4999680"]))

    def test_one_of_the_cores_has_executed_the_program(self) -> None:
        self.assertIsNone(checks.of_cores(5_000_009)(["13312 13700", "5007360 5007734"]))
        self.assertIn("of one core", checks.of_cores(5_000_009)(["13312 13700", "13312 13700"]))

    def test_a_core_that_posts_something_else_than_its_threads_count_is_wrong(self) -> None:
        self.assertIn("the same twice", checks.of_cores(5_000_009)(["5007360 6007734"]))


class Traffic(unittest.TestCase):
    """The judge of what memory does: reads of MCDRAM, lookups in its cache, misses of it, reads of memory, requests."""

    def judged(self, reads: int) -> str | None:
        """What is wrong with these reads, of 1,000 lines."""
        return checks.traffic(1_000)([f"{reads} {reads} 100 100 {reads}"])

    def test_reads_of_all_lines_and_three_quarters_more_are_right(self) -> None:
        """The guest's own are among them."""
        self.assertIsNone(self.judged(1_000))
        self.assertIsNone(self.judged(1_750))

    def test_fewer_reads_than_lines_and_two_of_each_are_wrong(self) -> None:
        """Nothing is lost, or counted twice."""
        self.assertIn("expected 1000 reads", self.judged(999))
        self.assertIn("expected 1000 reads", self.judged(2_000))


class Catalogue(unittest.TestCase):
    """Every event of a part, by perf."""

    def event(self, name: str, *counters: int, live: bool = True, **fields: object) -> catalogue.Event:
        """An event that these counters can count."""
        return catalogue.Event(name, 1, live, counters, **fields)

    def row(self, **fields: object) -> dict:
        """An event as `pmulab list` has it."""
        row = {"name": "A", "unit": "core", "select": 0, "umask": None, "code": None, "counters": [1], "fidelity": "exact", "fixed": False}
        return row | fields

    def part(self, **fields: object) -> catalogue.Part:
        """A part for judging alone."""
        return catalogue.Part(code=None, units=(), smp="1", usual="", rare="", **fields)

    def test_an_event_of_k8_has_its_unit_mask_above_it_and_its_high_bits_above_the_rest(self) -> None:
        """Linux's format is config:0-7,32-35."""
        self.assertEqual(catalogue.k8(self.row(select=0x1E0, umask=7)).config, 0x1_0000_07E0)

    def test_a_mask_that_says_a_part_of_a_request_is_tried_with_the_rest(self) -> None:
        """By itself it counts nothing. This one is from a remote node: requests of a processor to a device of the own node."""
        self.assertEqual(catalogue.k8(self.row(select=0xE9, umask=0x40)).config, 0x64E9)

    def test_a_fixed_event_of_knights_landing_is_that_for_which_linux_takes_the_fixed_counter(self) -> None:
        """The manual's pseudo event is no event for Linux."""
        self.assertEqual(catalogue.knl(self.row(umask=3, fixed=True)).config, 0x300)

    def test_a_request_to_the_mesh_needs_a_second_word(self) -> None:
        """Without one, Linux refuses the event."""
        event = catalogue.knl(self.row(name="OFFCORE_RESP.OFFCORE_RESP_0", select=0xB7, umask=1))
        self.assertEqual((event.config, event.extra), (0x1B7, catalogue.ANY_RESPONSE))

    def test_events_of_an_event_with_unit_masks_are_its_masks(self) -> None:
        """By itself it would count all of them, or none. Other units are left out."""
        rows = [self.row(name="A"), self.row(name="A.B", umask=1), self.row(name="C", select=2), self.row(name="D", select=3, unit="other")]
        part = replace(catalogue.PARTS["k8"], units=("core",))
        self.assertEqual([event.name for event in catalogue.coded(part, rows)], ["A.B", "C"])

    def test_events_count_at_once_if_each_has_a_counter(self) -> None:
        """Those that need a certain one get it, whatever comes before them."""
        groups = catalogue.batches([self.event("any", 1, 2), self.event("first", 1), self.event("second", 2), self.event("other", 1)])
        self.assertEqual([[event.name for event in group.events] for group in groups], [["first", "second"], ["other", "any"]])

    def test_events_that_need_what_the_pmu_has_once_count_one_after_the_other_unless_they_agree(self) -> None:
        """As commands on the bus of the second level. Others are not among them."""
        events = [self.event(name, 1, 2, 3, shares=((catalogue.BUS, bus),)) for name, bus in (("a", 0x80), ("b", 0x82), ("c", 0x80))]
        events.append(self.event("d", 1, 2, 3))
        self.assertEqual([[event.name for event in group.events] for group in catalogue.batches(events)], [["a", "c"], ["b"], ["d"]])

    def test_events_on_a_bus_of_power9_are_a_group_behind_one_in_the_last_counter(self) -> None:
        """Linux refuses them otherwise. One that any counter can count says which does."""
        first, other, any_counter = (catalogue.power9(self.row(code=code, counters=counters)) for code, counters in
                                     ((0x16080, [1]), (0x46080, [4]), (0x8080, [1, 2, 3, 4])))  # fmt: skip
        words = [group.words({first: 1, other: 2, any_counter: 3}) for group in catalogue.batches([first]) + catalogue.batches([other, any_counter])]
        self.assertEqual(words[0], "'{cpu/config=0x46080,name=last/,cpu/config=0x16080,name=n1/}'")
        self.assertEqual(words[1], "'{cpu/config=0x46080,name=n2/,cpu/config=0x18080,name=n3/}'")

    def test_an_event_of_a_threshold_says_what_is_sampled_and_timed(self) -> None:
        """Marked events that say something else do not count with it."""
        event = catalogue.power9(self.row(name="PM_THRESH_MET", code=0x101EC))
        self.assertEqual(event.config, 0x2015_3401_01EC)
        self.assertEqual(len(catalogue.batches([event, catalogue.power9(self.row(code=0x201E2, counters=[2]))])), 2)

    def test_a_marked_event_says_what_is_sampled(self) -> None:
        """An event on the same bits that is not marked does not."""
        marked, other = (catalogue.power9(self.row(name="PM_LSU_FLUSH_LHS", code=code)) for code in (0xD1A0, 0xC8B0))
        self.assertEqual((marked.config, other.config), (0x400_D1A0, 0xC8B0))

    def test_what_another_counter_keeps_is_counted_with_that_counter(self) -> None:
        """Which has cycles of marked loads."""
        event = catalogue.power9(self.row(name="PM_PMC2_SAVED", code=0x10022))
        [group] = catalogue.batches([event])
        self.assertEqual(group.words({event: 5}), "cpu/config=0x10022,name=n5/,cpu/config=0x102c12a,name=beside/")
        self.assertEqual(len(catalogue.batches([event, catalogue.power9(self.row(code=0x300FA, counters=[3]))])), 2)

    def test_events_on_no_bus_need_no_group(self) -> None:
        """perf may count them one after the other."""
        events = [catalogue.knl(self.row(name="OFFCORE_RESP.OFFCORE_RESP_1", select=0xB7, umask=2)), catalogue.k8(self.row(select=0x41))]
        [group] = catalogue.batches([events[0], replace(events[1], counters=(2,))])
        self.assertEqual(group.words({event: n for n, event in enumerate(group.events)}), "cpu/config=0x2b7,config1=0x18000,name=n0/,cpu/config=0x41,name=n1/")

    def test_counts_are_read_by_the_numbers_of_events(self) -> None:
        """perf does not name an event that it cannot program, nor count one that never had a counter."""
        found = catalogue.readings(["== 0", "12,n3,100.00", "<not supported>,n4,100.00", "<not counted>,n5,0.00", "sh: what,n6"])
        self.assertEqual(found, {3: catalogue.Reading(12, True), 4: catalogue.Reading(None, True), 5: catalogue.Reading(0, False)})

    def test_only_live_events_that_have_not_counted_are_tried_again(self) -> None:
        """With programs that take longer. Linux refuses some, and nothing can make others count."""
        names = ("counts", "is 0", "is not live", "hung", "refused", "unreachable")
        listed = [self.event(name, 1, live=name != "is not live") for name in names]
        part = self.part(unreachable={"unreachable": "no such device"})
        found = {number: catalogue.Reading(count, True) for number, count in ((0, 1), (1, 0), (2, 0), (4, None), (5, 0))}
        self.assertEqual([event.name for event in catalogue.again(part, found, listed)], ["is 0", "hung"])

    def test_a_live_event_must_count_and_another_must_not(self) -> None:
        """Unless the kit says why it cannot."""
        part = self.part(unreachable={"GART": "no aperture"}, refused={"BAD": "a list"}, varying={"PAGE": "4 or 64 KiB"})
        judged = lambda name, count, live=True: catalogue.judge(part, self.event(name, 1, live=live), catalogue.Reading(count, True))  # noqa: E731
        right = [("A", 1, True), ("A", 0, False), ("GART", 0, True), ("BAD", None, True), ("PAGE", 0, True), ("PAGE", 1, True)]
        wrong = [("A", 0, True), ("A", 1, False), ("GART", 1, True), ("BAD", 1, True), ("A", None, True)]
        self.assertEqual([judged(*case) is None for case in right + wrong], [True] * 6 + [False] * 5)

    def test_an_event_during_which_the_guest_hung_is_wrong(self) -> None:
        """Nothing was read of it."""
        self.assertIn("hangs", catalogue.judge(self.part(), self.event("A", 1), None))

    def test_a_table_has_names_and_patterns_of_names(self) -> None:
        """A reason can be that of many events."""
        table = {"GART.*": "no aperture", "PM_HV_CYC": "no hypervisor"}
        self.assertEqual([catalogue.reason(table, name) for name in ("GART.MISS", "PM_HV_CYC", "PM_CYC")], ["no aperture", "no hypervisor", None])

    def test_a_guest_whose_cpus_work_at_once_has_the_hosts_clock(self) -> None:
        """A clock that counts instructions lets them take turns."""
        guest = Guest(MACHINES["k8"], None, Path(), Path(), Path(), options=[*checks.COMPANION_TIME, *checks.ICOUNT, "-S"])
        self.assertEqual(catalogue.at_once(guest).options, [*checks.COMPANION_TIME, "-S"])


if __name__ == "__main__":
    unittest.main()
