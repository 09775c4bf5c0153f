//! Functions with the names of those of the C library, which the linker prefers to them.

#![expect(unsafe_code, reason = "takes the place of functions of the C library; only test binaries contain it")]

use std::ffi::{CStr, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::MutexGuard;

use libc::{c_char, c_int, c_long, c_uint, c_void, mode_t, off_t, size_t, ssize_t};

use crate::recorder::{CallFault, State, active};
use crate::step::{CallKind, Step};

type Held = MutexGuard<'static, Option<State>>;

/// Sets `errno` and returns the value that stands for an error.
fn failed(fault: CallFault) -> c_long {
    let errno = match fault {
        CallFault::Io | CallFault::Short => libc::EIO,
        CallFault::Full => libc::ENOSPC,
        CallFault::Interrupted => libc::EINTR,
        CallFault::TooManyFiles => libc::EMFILE,
    };
    // SAFETY: the address is that of this thread's `errno`.
    unsafe { *libc::__errno_location() = errno };
    -1
}

/// The path that an open descriptor was opened with, or has got since.
fn path_of(descriptor: c_int) -> Option<PathBuf> {
    let link = format!("/proc/self/fd/{descriptor}\0");
    let mut buffer = [0_u8; 4096];
    // SAFETY: the link ends with a zero, and the length is that of the buffer.
    let length = unsafe { libc::readlink(link.as_ptr().cast(), buffer.as_mut_ptr().cast(), buffer.len()) };
    let bytes = buffer.get(..usize::try_from(length).ok()?)?;
    let bytes = bytes.strip_suffix(b" (deleted)").unwrap_or(bytes);
    Some(PathBuf::from(OsStr::from_bytes(bytes)))
}

/// The absolute path that a call names; `None` for a path relative to the working folder, which no test records.
///
/// # Safety
/// `path` must be a string that ends with a zero.
unsafe fn absolute(folder: c_int, path: *const c_char) -> Option<PathBuf> {
    if path.is_null() {
        return None;
    }
    // SAFETY: the caller vouches for it.
    let name = Path::new(OsStr::from_bytes(unsafe { CStr::from_ptr(path) }.to_bytes()));
    if name.is_absolute() {
        return Some(name.to_owned());
    }
    if folder == libc::AT_FDCWD { None } else { Some(path_of(folder)?.join(name)) }
}

/// The recording, if there is one and the path is in its folder; and the path relative to it.
fn recorded(path: Option<PathBuf>) -> Option<(Held, PathBuf)> {
    let held = active()?;
    let path = held.as_ref()?.relative(&path?)?;
    Some((held, path))
}

fn is_on() -> bool {
    active().is_some()
}

/// Inode and type of an open file.
fn look(descriptor: c_int) -> (u64, bool) {
    let mut found = std::mem::MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: the call fills the structure, which is zero otherwise.
    let found = unsafe {
        libc::fstat(descriptor, found.as_mut_ptr());
        found.assume_init()
    };
    (found.st_ino, found.st_mode & libc::S_IFMT == libc::S_IFDIR)
}

/// Inode of a path, without following a link.
///
/// # Safety
/// As for [`absolute`].
unsafe fn inode_at(folder: c_int, path: *const c_char) -> Option<u64> {
    let mut found = std::mem::MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: the caller vouches for the path; the structure is filled or zero.
    let (done, found) = unsafe {
        let done = libc::fstatat(folder, path, found.as_mut_ptr(), libc::AT_SYMLINK_NOFOLLOW);
        (done, found.assume_init())
    };
    (done == 0).then_some(found.st_ino)
}

/// # Safety
/// As for `openat` of the C library.
unsafe fn open_at(folder: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    // SAFETY: the arguments of the caller are passed on.
    let real = || unsafe { libc::syscall(libc::SYS_openat, folder, path, flags, c_uint::from(mode)) };
    // SAFETY: as above.
    let place = if is_on() { unsafe { absolute(folder, path) } } else { None };
    let Some((mut held, below)) = recorded(place) else { return real() as c_int };
    let Some(state) = held.as_mut() else { return real() as c_int };
    if let Some(fault) = state.call(CallKind::Open, &below) {
        return failed(fault) as c_int;
    }
    // SAFETY: as above.
    let was_there = unsafe { inode_at(folder, path) }.is_some();
    let opened = real() as c_int;
    if opened < 0 {
        return opened;
    }
    let (inode, is_folder) = look(opened);
    if flags & libc::O_CREAT != 0 && !was_there {
        let file = state.new_file(inode);
        state.push(Step::Create(below, file));
    } else if flags & libc::O_TRUNC != 0 && !is_folder {
        let file = state.file(inode);
        state.push(Step::Truncate(file, 0));
    }
    opened
}

/// Opens a file. The mode is an ellipsis in C; on the systems this runs on, it is passed as an ordinary argument is.
#[unsafe(no_mangle)]
unsafe extern "C" fn open(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    // SAFETY: the caller's arguments.
    unsafe { open_at(libc::AT_FDCWD, path, flags, mode) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn open64(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    // SAFETY: the caller's arguments.
    unsafe { open_at(libc::AT_FDCWD, path, flags, mode) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn openat(folder: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    // SAFETY: the caller's arguments.
    unsafe { open_at(folder, path, flags, mode) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn openat64(folder: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    // SAFETY: the caller's arguments.
    unsafe { open_at(folder, path, flags, mode) }
}

/// The recording and the path of an open file below its folder.
fn file_of(descriptor: c_int) -> Option<(Held, PathBuf)> {
    if is_on() { recorded(path_of(descriptor)) } else { None }
}

/// # Safety
/// `bytes` must be readable for `length` bytes.
unsafe fn write_at(descriptor: c_int, bytes: *const c_void, length: size_t, at: Option<off_t>) -> ssize_t {
    // SAFETY: the arguments of the caller are passed on.
    let real = |length: size_t| unsafe {
        match at {
            Some(at) => libc::syscall(libc::SYS_pwrite64, descriptor, bytes, length, at),
            None => libc::syscall(libc::SYS_write, descriptor, bytes, length),
        }
    };
    let Some((mut held, below)) = file_of(descriptor) else { return real(length) as ssize_t };
    let Some(state) = held.as_mut() else { return real(length) as ssize_t };
    let length = match state.call(CallKind::Write, &below) {
        Some(CallFault::Short) if length > 1 => length / 2,
        Some(fault) => return failed(fault) as ssize_t,
        None => length,
    };
    let done = real(length);
    if let (Ok(written), true) = (usize::try_from(done), done > 0) {
        // SAFETY: seeking nowhere has no effect; the bytes are those that were just written.
        let (end, bytes) = unsafe {
            let end = at.map_or_else(|| libc::lseek(descriptor, 0, libc::SEEK_CUR), |at| at + done as off_t);
            (end, std::slice::from_raw_parts(bytes.cast::<u8>(), written))
        };
        let file = state.file(look(descriptor).0);
        let start = u64::try_from(end).unwrap_or(0).saturating_sub(written as u64);
        state.push(Step::Write(file, start, bytes.into()));
    }
    done as ssize_t
}

#[unsafe(no_mangle)]
unsafe extern "C" fn write(descriptor: c_int, bytes: *const c_void, length: size_t) -> ssize_t {
    // SAFETY: the caller's arguments.
    unsafe { write_at(descriptor, bytes, length, None) }
}

/// Writes the first part only, which callers must expect.
#[unsafe(no_mangle)]
unsafe extern "C" fn writev(descriptor: c_int, parts: *const libc::iovec, count: c_int) -> ssize_t {
    if !is_on() {
        // SAFETY: the caller's arguments.
        return unsafe { libc::syscall(libc::SYS_writev, descriptor, parts, count) as ssize_t };
    }
    // SAFETY: the caller vouches for `count` parts.
    unsafe {
        for number in 0..usize::try_from(count).unwrap_or(0) {
            let part = &*parts.add(number);
            if part.iov_len > 0 {
                return write_at(descriptor, part.iov_base, part.iov_len, None);
            }
        }
    }
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pwrite(descriptor: c_int, bytes: *const c_void, length: size_t, at: off_t) -> ssize_t {
    // SAFETY: the caller's arguments.
    unsafe { write_at(descriptor, bytes, length, Some(at)) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pwrite64(descriptor: c_int, bytes: *const c_void, length: size_t, at: off_t) -> ssize_t {
    // SAFETY: the caller's arguments.
    unsafe { write_at(descriptor, bytes, length, Some(at)) }
}

/// # Safety
/// `bytes` must be writable for `length` bytes.
unsafe fn read_at(descriptor: c_int, bytes: *mut c_void, length: size_t, at: Option<off_t>) -> ssize_t {
    // SAFETY: the arguments of the caller are passed on.
    let real = |length: size_t| unsafe {
        match at {
            Some(at) => libc::syscall(libc::SYS_pread64, descriptor, bytes, length, at),
            None => libc::syscall(libc::SYS_read, descriptor, bytes, length),
        }
    };
    let Some((mut held, below)) = file_of(descriptor) else { return real(length) as ssize_t };
    match held.as_mut().and_then(|state| state.call(CallKind::Read, &below)) {
        Some(CallFault::Short) if length > 1 => real(length / 2) as ssize_t,
        Some(fault) => failed(fault) as ssize_t,
        None => real(length) as ssize_t,
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn read(descriptor: c_int, bytes: *mut c_void, length: size_t) -> ssize_t {
    // SAFETY: the caller's arguments.
    unsafe { read_at(descriptor, bytes, length, None) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pread(descriptor: c_int, bytes: *mut c_void, length: size_t, at: off_t) -> ssize_t {
    // SAFETY: the caller's arguments.
    unsafe { read_at(descriptor, bytes, length, Some(at)) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pread64(descriptor: c_int, bytes: *mut c_void, length: size_t, at: off_t) -> ssize_t {
    // SAFETY: the caller's arguments.
    unsafe { read_at(descriptor, bytes, length, Some(at)) }
}

/// # Safety
/// None beyond that of a system call on any descriptor.
unsafe fn resize(descriptor: c_int, length: off_t) -> c_int {
    // SAFETY: no memory is passed.
    let real = || unsafe { libc::syscall(libc::SYS_ftruncate, descriptor, length) as c_int };
    let Some((mut held, below)) = file_of(descriptor) else { return real() };
    let Some(state) = held.as_mut() else { return real() };
    if let Some(fault) = state.call(CallKind::Truncate, &below) {
        return failed(fault) as c_int;
    }
    let done = real();
    if done == 0 {
        let file = state.file(look(descriptor).0);
        state.push(Step::Truncate(file, u64::try_from(length).unwrap_or(0)));
    }
    done
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ftruncate(descriptor: c_int, length: off_t) -> c_int {
    // SAFETY: the caller's arguments.
    unsafe { resize(descriptor, length) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ftruncate64(descriptor: c_int, length: off_t) -> c_int {
    // SAFETY: the caller's arguments.
    unsafe { resize(descriptor, length) }
}

/// Syncs a file or a folder by the system call with this number.
fn sync_by(number: c_long, descriptor: c_int) -> c_int {
    // SAFETY: no memory is passed.
    let real = || unsafe { libc::syscall(number, descriptor) as c_int };
    let Some((mut held, below)) = file_of(descriptor) else { return real() };
    let Some(state) = held.as_mut() else { return real() };
    let fault = state.call(CallKind::Sync, &below);
    let done = if fault.is_some() { -1 } else { real() };
    let (inode, is_folder) = look(descriptor);
    let file = if is_folder { 0 } else { state.file(inode) };
    match (number == libc::SYS_syncfs, is_folder, done == 0) {
        (true, _, true) => state.push(Step::SyncAll),
        (_, true, true) => state.push(Step::SyncFolder(below)),
        (_, false, true) => state.push(Step::Sync(file)),
        // If the sync of a folder fails, its names are only not durable yet.
        (_, true, false) => {}
        (_, false, false) => state.push(Step::FailedSync(file)),
    }
    if let Some(fault) = fault { failed(fault) as c_int } else { done }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fsync(descriptor: c_int) -> c_int {
    sync_by(libc::SYS_fsync, descriptor)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fdatasync(descriptor: c_int) -> c_int {
    sync_by(libc::SYS_fdatasync, descriptor)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn syncfs(descriptor: c_int) -> c_int {
    sync_by(libc::SYS_syncfs, descriptor)
}

/// A second name for a file, in the place of the first or beside it.
///
/// # Safety
/// Both paths must be strings that end with a zero.
unsafe fn name_anew(number: c_long, from: (c_int, *const c_char), to: (c_int, *const c_char)) -> c_int {
    // SAFETY: the arguments of the caller are passed on. Neither call needs flags.
    let real = || unsafe { libc::syscall(number, from.0, from.1, to.0, to.1, 0) as c_int };
    // SAFETY: as above.
    let place = if is_on() { unsafe { absolute(to.0, to.1) } } else { None };
    let Some((mut held, new)) = recorded(place) else { return real() };
    let Some(state) = held.as_mut() else { return real() };
    if let Some(fault) = state.call(CallKind::Rename, &new) {
        return failed(fault) as c_int;
    }
    // SAFETY: as above.
    let (inode, old) = unsafe { (inode_at(from.0, from.1), absolute(from.0, from.1)) };
    let done = real();
    if let (0, Some(inode), Some(old)) = (done, inode, old.and_then(|old| state.relative(&old))) {
        let file = state.file(inode);
        state.push(if number == libc::SYS_linkat { Step::Link(new, file) } else { Step::Rename(old, new, file) });
    }
    done
}

#[unsafe(no_mangle)]
unsafe extern "C" fn rename(from: *const c_char, to: *const c_char) -> c_int {
    // SAFETY: the caller's arguments.
    unsafe { name_anew(libc::SYS_renameat2, (libc::AT_FDCWD, from), (libc::AT_FDCWD, to)) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn renameat(above: c_int, from: *const c_char, target: c_int, to: *const c_char) -> c_int {
    // SAFETY: the caller's arguments.
    unsafe { name_anew(libc::SYS_renameat2, (above, from), (target, to)) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn link(from: *const c_char, to: *const c_char) -> c_int {
    // SAFETY: the caller's arguments.
    unsafe { name_anew(libc::SYS_linkat, (libc::AT_FDCWD, from), (libc::AT_FDCWD, to)) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn linkat(above: c_int, from: *const c_char, target: c_int, to: *const c_char, _: c_int) -> c_int {
    // SAFETY: the caller's arguments.
    unsafe { name_anew(libc::SYS_linkat, (above, from), (target, to)) }
}

/// # Safety
/// The path must be a string that ends with a zero.
unsafe fn remove_at(folder: c_int, path: *const c_char, flags: c_int) -> c_int {
    // SAFETY: the arguments of the caller are passed on.
    let real = || unsafe { libc::syscall(libc::SYS_unlinkat, folder, path, flags) as c_int };
    // SAFETY: as above.
    let place = if is_on() { unsafe { absolute(folder, path) } } else { None };
    let Some((mut held, below)) = recorded(place) else { return real() };
    let Some(state) = held.as_mut() else { return real() };
    if let Some(fault) = state.call(CallKind::Remove, &below) {
        return failed(fault) as c_int;
    }
    let done = real();
    if done == 0 {
        state.push(Step::Remove(below));
    }
    done
}

#[unsafe(no_mangle)]
unsafe extern "C" fn unlink(path: *const c_char) -> c_int {
    // SAFETY: the caller's arguments.
    unsafe { remove_at(libc::AT_FDCWD, path, 0) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn rmdir(path: *const c_char) -> c_int {
    // SAFETY: the caller's arguments.
    unsafe { remove_at(libc::AT_FDCWD, path, libc::AT_REMOVEDIR) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn unlinkat(folder: c_int, path: *const c_char, flags: c_int) -> c_int {
    // SAFETY: the caller's arguments.
    unsafe { remove_at(folder, path, flags) }
}

/// # Safety
/// The path must be a string that ends with a zero.
unsafe fn make_folder(folder: c_int, path: *const c_char, mode: mode_t) -> c_int {
    // SAFETY: the arguments of the caller are passed on.
    let real = || unsafe { libc::syscall(libc::SYS_mkdirat, folder, path, c_uint::from(mode)) as c_int };
    // SAFETY: as above.
    let place = if is_on() { unsafe { absolute(folder, path) } } else { None };
    let Some((mut held, below)) = recorded(place) else { return real() };
    let Some(state) = held.as_mut() else { return real() };
    if let Some(fault) = state.call(CallKind::CreateFolder, &below) {
        return failed(fault) as c_int;
    }
    let done = real();
    if done == 0 {
        state.push(Step::CreateFolder(below));
    }
    done
}

#[unsafe(no_mangle)]
unsafe extern "C" fn mkdir(path: *const c_char, mode: mode_t) -> c_int {
    // SAFETY: the caller's arguments.
    unsafe { make_folder(libc::AT_FDCWD, path, mode) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn mkdirat(folder: c_int, path: *const c_char, mode: mode_t) -> c_int {
    // SAFETY: the caller's arguments.
    unsafe { make_folder(folder, path, mode) }
}
