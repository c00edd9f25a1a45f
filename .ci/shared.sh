# What the programs of this folder share.

step() { printf '\n== %s (at %d s)\n' "$*" "$SECONDS"; }

# The crates that are published.
published="--package vm-pmu-arch --package vm-pmu --package vm-pmu-capi"

# install PACKAGES...: one that is there already costs nothing. What is listed can be older than what is installed.
install() {
    local as_root=""
    [ "$(id -u)" = 0 ] || as_root="sudo"
    $as_root apt-get install --yes --no-install-recommends "$@" >/dev/null || {
        $as_root apt-get update >/dev/null
        $as_root apt-get install --yes --no-install-recommends "$@" >/dev/null
    }
}

# What the kit for QEMU needs.
install_kit() {
    install ninja-build pkg-config dpkg-dev patch bison flex python3-venv \
        libglib2.0-dev libfdt-dev zlib1g-dev binutils gcc gcc-powerpc64le-linux-gnu libc6-dev-ppc64el-cross zstd
}
