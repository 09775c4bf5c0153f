//! What this process uses, as the operating system counts it (Linux only; `None` elsewhere).

/// Resident memory in bytes.
pub(super) fn resident_bytes() -> Option<u64> {
    Some(line("/proc/self/status", "VmRSS:")? * 1024)
}

/// The most that the resident memory was, in bytes, since the start or since [`forget_peak`].
pub(super) fn peak_bytes() -> Option<u64> {
    Some(line("/proc/self/status", "VmHWM:")? * 1024)
}

/// Counts the peak of the resident memory from now on. Returns whether the operating system does so.
pub(super) fn forget_peak() -> bool {
    std::fs::write("/proc/self/clear_refs", "5").is_ok()
}

/// Open file handles.
pub(super) fn file_handles() -> Option<usize> {
    Some(std::fs::read_dir("/proc/self/fd").ok()?.count())
}

/// Bytes that this process has caused to be written to disks since it started.
pub(super) fn written_bytes() -> Option<u64> {
    line("/proc/self/io", "write_bytes:")
}

/// The number after a name at the start of a line.
fn line(file: &str, name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(file).ok()?;
    text.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().next()?.parse().ok()
}
