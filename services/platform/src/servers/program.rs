//! Where the servers' programs are, and how a person gets them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The oldest PostgreSQL the hub runs on.
const POSTGRES_MAJOR_MIN: u32 = 15;
/// Where distributions keep one directory per major version of PostgreSQL, with `bin` in it.
const POSTGRES_PARENTS: [&str; 4] = [
    "/usr/lib/postgresql",
    "/usr/local/lib/postgresql",
    "/usr/pgsql",
    "/opt/homebrew/opt",
];
/// Where programs are that a bare `PATH` does not name.
const OTHER_DIRECTORIES: [&str; 4] = [
    "/usr/sbin",
    "/usr/local/bin",
    "/opt/homebrew/bin",
    "/usr/local/sbin",
];

/// A program that is not installed.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{program} is not installed, install it with: {command}")]
pub struct Missing {
    /// Its name.
    pub program: &'static str,
    /// The command that installs it here.
    pub command: String,
}

/// The directory of `postgres` and `initdb`, of the newest version there is.
pub fn find_postgres() -> Result<PathBuf, Missing> {
    let versioned = POSTGRES_PARENTS
        .iter()
        .flat_map(|parent| versions(Path::new(parent)));
    let newest = versioned.filter(|(major, _)| *major >= POSTGRES_MAJOR_MIN).max();
    let in_path = || find_in_path("postgres")?.parent().map(Path::to_owned);
    newest
        .map(|(_, bin)| bin)
        .or_else(in_path)
        .ok_or_else(|| Missing {
            program: "postgresql",
            command: install_command(&PackageNames {
                debian: "postgresql",
                fedora: "postgresql-server",
                alpine: "postgresql",
                arch: "postgresql",
                homebrew: "postgresql@17",
            }),
        })
}

/// The program `nats-server`.
pub fn find_nats() -> Result<PathBuf, Missing> {
    find_in_path("nats-server").ok_or_else(|| Missing {
        program: "nats-server",
        command: install_command(&PackageNames {
            debian: "nats-server",
            fedora: "nats-server",
            alpine: "nats-server",
            arch: "nats-server",
            homebrew: "nats-server",
        }),
    })
}

/// A program by its name.
pub(super) fn find_in_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let directories = std::env::split_paths(&path).chain(OTHER_DIRECTORIES.map(PathBuf::from));
    directories
        .map(|directory| directory.join(name))
        .find(|program| is_program(program))
}

/// `15` and `postgresql@17` alike, with their `bin`.
fn versions(parent: &Path) -> Vec<(u32, PathBuf)> {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    let found = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let major = name.strip_prefix("postgresql@").unwrap_or(&name).parse().ok()?;
        let bin = entry.path().join("bin");
        (is_program(&bin.join("postgres")) && is_program(&bin.join("initdb"))).then_some((major, bin))
    });
    found.collect()
}

fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

struct PackageNames {
    debian: &'static str,
    fedora: &'static str,
    alpine: &'static str,
    arch: &'static str,
    homebrew: &'static str,
}

fn install_command(names: &PackageNames) -> String {
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    command_for(&release, names)
}

fn command_for(release: &str, names: &PackageNames) -> String {
    let ids = release
        .lines()
        .filter_map(|line| line.strip_prefix("ID=").or(line.strip_prefix("ID_LIKE=")));
    let ids: Vec<_> = ids.flat_map(|ids| ids.trim_matches('"').split(' ')).collect();
    let is = |id: &str| ids.contains(&id);
    if is("debian") || is("ubuntu") {
        format!("apt-get install -y {}", names.debian)
    } else if is("fedora") || is("rhel") {
        format!("dnf install -y {}", names.fedora)
    } else if is("alpine") {
        format!("apk add {}", names.alpine)
    } else if is("arch") {
        format!("pacman -S --noconfirm {}", names.arch)
    } else {
        format!("brew install {}", names.homebrew)
    }
}

#[cfg(test)]
mod tests {
    use super::{PackageNames, command_for};

    #[test]
    fn the_command_is_the_machines_own() {
        let names = PackageNames {
            debian: "d",
            fedora: "f",
            alpine: "a",
            arch: "r",
            homebrew: "h",
        };
        let command = |release| command_for(release, &names);
        assert_eq!(command("NAME=\"Debian\"\nID=debian\n"), "apt-get install -y d");
        assert_eq!(
            command("ID=pop\nID_LIKE=\"ubuntu debian\"\n"),
            "apt-get install -y d"
        );
        assert_eq!(
            command("ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n"),
            "dnf install -y f"
        );
        assert_eq!(command(""), "brew install h");
    }
}
