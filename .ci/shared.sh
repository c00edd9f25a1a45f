# What the programs of this folder share.

# limit SECONDS SCRIPT [ARGUMENTS...]: runs the script again under a limit, with all that it starts. It then ends as a failed step does.
limit() {
    [ -z "${RUN_LIMIT:-}" ] || return 0
    local seconds="$1"
    shift
    RUN_LIMIT="$seconds" exec timeout --kill-after=30 "$seconds" bash "$@"
}

# step NAME: begins a step, and says how long the one before took.
steps=() step_name="" step_begun=0
step() {
    end_step
    step_name="$*" step_begun="$SECONDS"
    printf '\n== %s (at %d s)\n' "$*" "$SECONDS"
}
end_step() {
    [ -n "$step_name" ] || return 0
    local took=$((SECONDS - step_begun))
    steps+=("$(printf '%6d s  %s' "$took" "$step_name")")
    printf -- '-- %d s\n' "$took"
    step_name=""
}

# What the end of a run says: where it failed, and what took longest.
finish() {
    local status=$?
    trap '' TERM
    if [ "$status" = 143 ]; then
        printf '\nended in this step, by the limit of %s s or from outside: %s\n' "${RUN_LIMIT:-no}" "$step_name"
    elif [ "$status" != 0 ]; then
        printf '\nthis step failed: %s\n' "$step_name"
    fi
    end_step
    printf '\n%d s in all, of which the longest steps took\n' "$SECONDS"
    printf '%s\n' "${steps[@]}" | sort -rn | head -n 8
}
trap finish EXIT
trap 'exit 143' TERM

# The crates that are published.
published="--package vm-pmu-arch --package vm-pmu-companion --package vm-pmu --package vm-pmu-capi"

# modules NAME...: the filters for these modules of the device's tests. A name that fits no test would pass.
modules() {
    local module
    for module in "$@"; do
        [ -f "device/tests/all/$module.rs" ] || { echo "device/tests/all has no $module.rs: name the module that has its tests" >&2; return 1; }
        echo "$module::"
    done
}

# quick COMMAND...: optimises release builds little. What they run here takes less time than optimising them would.
quick() { CARGO_PROFILE_RELEASE_OPT_LEVEL=1 "$@"; }

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
