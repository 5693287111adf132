//! A run in a separate process: its processor time and memory peak.

use std::path::Path;
use std::process::{Command, Stdio};

/// The cost of one run.
#[derive(Clone, Copy)]
pub struct Run {
    /// Seconds of processor time, user and system.
    pub seconds: f64,
    /// The largest resident set, in bytes.
    pub peak: u64,
}

/// Runs `lgm` with arguments and discards its output; an error if it fails.
pub fn lgm(arguments: &[&str]) -> Result<Run, String> {
    run(Path::new(env!("CARGO_BIN_EXE_lgm")), arguments)
}

/// The same for any program; child processes for which it waits are included.
pub fn run(program: &Path, arguments: &[&str]) -> Result<Run, String> {
    let child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|fault| format!("{} does not start: {fault}", program.display()))?;
    let (mut status, mut usage) = (0, std::mem::MaybeUninit::<libc::rusage>::zeroed());
    // SAFETY: both pointers are valid for the call, and zeroes are a valid rusage. Only this call waits for the child.
    let usage = unsafe {
        let waited = libc::wait4(child.id() as libc::pid_t, &mut status, 0, usage.as_mut_ptr());
        if waited < 0 {
            return Err(std::io::Error::last_os_error().to_string());
        }
        usage.assume_init()
    };
    if status != 0 {
        let words = arguments.join(" ");
        return Err(format!("`{} {words}` ends with status {status}", program.display()));
    }
    Ok(Run {
        seconds: seconds(usage.ru_utime) + seconds(usage.ru_stime),
        // Linux counts in units of 1024 bytes, macOS in bytes.
        peak: usage.ru_maxrss as u64 * if cfg!(target_os = "macos") { 1 } else { 1024 },
    })
}

fn seconds(time: libc::timeval) -> f64 {
    time.tv_sec as f64 + time.tv_usec as f64 * 1e-6
}

/// Processor time of this process, in seconds.
pub fn own_seconds() -> f64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is valid for the call, and zeroes are a valid rusage.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
        usage.assume_init()
    };
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

/// Current resident memory of this process, in bytes; 0 if the system does not report it.
pub fn own_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kibibytes = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    kibibytes.unwrap_or(0) * 1024
}
