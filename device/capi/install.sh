#!/bin/sh
# Installs the header, the shared and the static library and the pkg-config file. After
#     cargo build --release -p vm-pmu-capi
# run
#     device/capi/install.sh --from target/release --prefix /usr/local
# Those that `cargo build --profile dist` makes, which are smaller, are in target/dist. The header declares every function, whatever the
# features that the libraries were built with.
# With --strip the libraries are installed without debugging information.
# DESTDIR, if it is set, is put in front of where files go, and not written into them.
set -eu

from=target/release
prefix=/usr/local
strip=
while [ $# -gt 0 ]; do
    case "$1" in
        --from) from="${2:?--from needs the folder where cargo left the libraries}"; shift 2 ;;
        --prefix) prefix="${2:?--prefix needs the folder to install into}"; shift 2 ;;
        --strip) strip=yes; shift ;;
        *) echo "unknown option $1: there are --from FOLDER, --prefix FOLDER and --strip" >&2; exit 2 ;;
    esac
done
case "$prefix" in
    /*) ;;
    *) echo "the prefix is $prefix: it must begin with /, as it is written into vm_pmu.pc" >&2; exit 2 ;;
esac

here="$(cd "$(dirname "$0")" && pwd)"
root="${DESTDIR:-}$prefix"
for library in libvm_pmu_capi.so libvm_pmu_capi.a; do
    [ -f "$from/$library" ] || { echo "there is no $from/$library: build it with cargo build -p vm-pmu-capi, with --release for target/release" >&2; exit 1; }
done
# The workspace has the version, the interface its number.
version="$(sed -n 's/^version = "\(.*\)"$/\1/p' "$here/Cargo.toml" "$here/../../Cargo.toml" 2>/dev/null | head -n 1)"
abi="$(sed -n 's/^#define VM_PMU_ABI \([0-9]*\)$/\1/p' "$here/include/vm_pmu.h")"

mkdir -p "$root/include" "$root/lib/pkgconfig"
# Each file is whole before it has its name: whoever links meanwhile finds the old one or the new one.
trap 'rm -f "$root"/include/*.$$ "$root"/lib/*.$$ "$root"/lib/pkgconfig/*.$$' EXIT
place() {
    mv -f "$1.$$" "$1"
}
for header in "$here"/include/*.h; do cp "$header" "$root/include/$(basename "$header").$$"; done
cp "$from/libvm_pmu_capi.a" "$root/lib/libvm_pmu.a.$$"
cp "$from/libvm_pmu_capi.so" "$root/lib/libvm_pmu.so.$version.$$"
if [ -n "$strip" ]; then
    strip --strip-debug "$root/lib/libvm_pmu.a.$$" "$root/lib/libvm_pmu.so.$version.$$"
fi
ln -sf "libvm_pmu.so.$version" "$root/lib/libvm_pmu.so.$abi.$$"
ln -sf "libvm_pmu.so.$abi" "$root/lib/libvm_pmu.so.$$"
sed -e "s|@PREFIX@|$prefix|" -e "s|@VERSION@|$version|" "$here/vm_pmu.pc.in" >"$root/lib/pkgconfig/vm_pmu.pc.$$"
for header in "$here"/include/*.h; do place "$root/include/$(basename "$header")"; done
place "$root/lib/libvm_pmu.a"
place "$root/lib/libvm_pmu.so.$version"
place "$root/lib/libvm_pmu.so.$abi"
place "$root/lib/libvm_pmu.so"
place "$root/lib/pkgconfig/vm_pmu.pc"
echo "vm_pmu $version is in $root"
