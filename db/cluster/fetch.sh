#!/bin/sh
# Sees to it that there is a PostgreSQL 15 or newer to run: uses the machine's, else the one it fetched
# before, else fetches the distribution's packages into a cache folder, without installing anything and
# without being root. Called by make; the program itself never fetches.
#
#   BANKGRAPH_POSTGRES  a folder with postgres and initdb: then there is nothing to do
#   BANKGRAPH_FETCH=1   fetch although the machine has one (for trying this script)
#
# Prints the folder of the binaries. cluster.findBinaries looks in the same places.
#
# fetch.sh pgbouncer does the same for the pooler that the tests go through; cluster.FindPooler looks where it puts it.
set -eu

oldest=15
say() { echo "$*" >&2; }

if [ "$(id -u)" = 0 ]; then
	cache=/var/cache/bankgraph # the server runs as another user, who cannot enter root's home
elif [ "$(uname)" = Darwin ]; then
	cache=$HOME/Library/Caches/bankgraph
else
	cache=${XDG_CACHE_HOME:-$HOME/.cache}/bankgraph
fi
want=${1:-postgresql}
cache=$cache/$want

# The libraries beside unpacked packages, as cluster.librariesOf finds them.
libraries() {
	found=
	for folder in "$1"/usr/lib/*-linux-gnu* "$1"/lib/*-linux-gnu*; do
		[ -d "$folder" ] && found=${found:+$found:}$folder
	done
	printf %s "$found"
}

# fits FOLDER [LD_LIBRARY_PATH]: a complete PostgreSQL that runs here and is new enough.
fits() {
	[ -x "$1/postgres" ] && [ -x "$1/initdb" ] || return 1
	version=$(LD_LIBRARY_PATH=${2:-} "$1/postgres" --version 2>/dev/null) || return 1
	version=${version#*"(PostgreSQL) "}
	version=${version%%[!0-9]*}
	[ "${version:-0}" -ge "$oldest" ] || return 1
	echo "$1"
}

# fits_pooler PROGRAM [LD_LIBRARY_PATH]
fits_pooler() { [ -x "$1" ] && LD_LIBRARY_PATH=${2:-} "$1" --version >/dev/null 2>&1 && dirname "$1"; }
if [ "$want" = pgbouncer ]; then
	if [ -z "${BANKGRAPH_FETCH:-}" ]; then
		for program in "$(command -v pgbouncer || true)" /usr/sbin/pgbouncer; do
			fits_pooler "$program" && exit
		done
	fi
	fits_pooler "$cache/usr/sbin/pgbouncer" "$(libraries "$cache")" && exit
	if ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then
		say "No PgBouncer found: the tests that go through one are left out. Install it to run them."
		exit
	fi
elif [ -n "${BANKGRAPH_POSTGRES:-}" ]; then
	fits "$BANKGRAPH_POSTGRES" && exit
	say "BANKGRAPH_POSTGRES=$BANKGRAPH_POSTGRES has no PostgreSQL $oldest or newer that runs"
	exit 1
fi
if [ "$want" = postgresql ] && [ -z "${BANKGRAPH_FETCH:-}" ]; then
	on_path=$(command -v postgres || true)
	for folder in ${on_path:+"$(dirname "$(readlink -f "$on_path")")"} /usr/lib/postgresql/*/bin /usr/pgsql-*/bin \
		/opt/homebrew/opt/postgresql*/bin /usr/local/opt/postgresql*/bin \
		/Applications/Postgres.app/Contents/Versions/*/bin /usr/local/pgsql/bin; do
		fits "$folder" && exit
	done
fi
for folder in "$cache"/usr/lib/postgresql/*/bin; do
	fits "$folder" "$(libraries "$cache")" && exit
done

if ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then
	say "No PostgreSQL $oldest or newer found. Install it (macOS: brew install postgresql@17; Fedora: dnf install postgresql-server),"
	say "or name a folder with postgres and initdb: BANKGRAPH_POSTGRES=/path/to/bin"
	exit 1
fi

if [ "$want" = pgbouncer ]; then
	say "No PgBouncer here, which tests go through: fetching the distribution's into $cache (nothing is installed)"
else
	say "No PostgreSQL $oldest or newer here: fetching the distribution's packages into $cache (nothing is installed)"
fi
mkdir -p "$cache"
work=$(mktemp -d "$cache/fetching.XXXXXX") # beside the goal, so that the rename at the end is one step
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
mkdir -p "$work/lists/partial" "$work/archives/partial" "$work/packages" "$work/root"

# apt as this user, with lists and a cache of its own; sources, keys and signatures are the system's.
apt() {
	tool=$1
	shift
	"$tool" -q -o "Dir::State::Lists=$work/lists" -o "Dir::Cache=$work" -o "Dir::Cache::Archives=$work/archives" \
		-o Debug::NoLocking=1 -o APT::Sandbox::User=root -o Dpkg::Use-Pty=0 "$@"
}
not_fetched() {
	cat "$work/log" >&2
	say "The packages could not be fetched. See to the network, or install them (apt-get install $want)."
	exit 1
}
apt apt-get update >"$work/log" 2>&1 || not_fetched
# Without a network apt only warns, and goes on with the lists that it has.
listed() { ! grep -q '^[WE]: ' "$work/log" || not_fetched; }
# What an installation would add: the libraries that are lacking, and what else is named.
missing_for() {
	apt apt-get -s --no-install-recommends install "$1" | sed -n 's/^Inst \([^ ]*\) .*/\1/p' | grep -E "^($2|lib.*)$" |
		grep -v -E -- '-perl$|^libperl|^libllvm|^libz3|^libc6$|^libgcc' || true
}
if [ "$want" = pgbouncer ]; then
	packages=$(missing_for pgbouncer pgbouncer)
	case " $(echo $packages) " in
	*" pgbouncer "*) ;;
	*) listed && packages=pgbouncer ;;
	esac
else
	major=$(apt apt-cache pkgnames postgresql- | sed -n 's/^postgresql-\([0-9]*\)$/\1/p' | sort -n | tail -n 1)
	if [ "${major:-0}" -lt "$oldest" ]; then
		listed
		say "This distribution's newest PostgreSQL is ${major:-none}; $oldest or newer is needed. Its makers' own package source has it."
		exit 1
	fi
	# Less what only maintains or speeds up (jit is off) a system's cluster.
	packages=$(missing_for "postgresql-$major" "postgresql-$major|postgresql-client-$major|tzdata")
	case " $(echo $packages) " in
	*" postgresql-$major "*) ;;
	*) packages="$packages postgresql-$major postgresql-client-$major libpq5" ;; # installed, yet it does not run
	esac
fi
# shellcheck disable=SC2086 # one word per package
(cd "$work/packages" && apt apt-get download $packages >>"$work/log" 2>&1) || not_fetched
for package in "$work"/packages/*.deb; do
	dpkg-deb -x "$package" "$work/root"
done

runs() {
	if [ "$want" = pgbouncer ]; then
		fits_pooler "$1/usr/sbin/pgbouncer" "$(libraries "$1")"
	else
		fits "$1/usr/lib/postgresql/$major/bin" "$(libraries "$1")"
	fi
}
runs "$work/root" >/dev/null || {
	say "The fetched $want does not run:"
	LD_LIBRARY_PATH=$(libraries "$work/root") ldd "$work"/root/usr/sbin/pgbouncer "$work"/root/usr/lib/postgresql/*/bin/postgres 2>/dev/null |
		grep 'not found' >&2
	exit 1
}
# Documentation, translations, jit: not needed to run.
rm -rf "$work"/root/usr/share/doc "$work"/root/usr/share/man "$work"/root/usr/share/locale "$work"/root/usr/lib/postgresql/*/lib/bitcode
for part in "$work"/root/*; do
	rm -rf "${cache:?}/$(basename "$part")"
	mv "$part" "$cache/"
done
# Root's server runs as another user: all may read and enter.
chmod 755 "$cache" && [ "$(id -u)" != 0 ] || chmod 755 "$(dirname "$cache")"
say "Fetched $want"
runs "$cache"
