//! Reads entries of a zip archive within size limits. Names in an archive only select entries and are never used as
//! paths.

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::rc::Rc;

use quipu_core::limit::{
    IMPORT_ARCHIVE_LIST_BYTES_MAX, IMPORT_FILES_MAX, IMPORT_UNPACKED_BYTES_MAX, IMPORT_UNPACKED_FREE_BYTES,
    IMPORT_UNPACKED_RATIO_MAX,
};
use zip::{CompressionMethod, ZipArchive};

use super::fault::Fault;

/// An open zip archive that is read within limits: of its list, of each file and of all files together.
pub struct Archive<F: Read + Seek> {
    zip: ZipArchive<BufReader<Budgeted<F>>>,
    /// Size of the archive in bytes.
    bytes: u64,
    /// Bytes that entries may still unpack to.
    left: Rc<Cell<u64>>,
}

impl<F: Read + Seek> Archive<F> {
    /// Returns true if the file starts like an archive. Leaves the file at its start.
    pub(super) fn is_one(file: &mut F) -> io::Result<bool> {
        let mut head = Vec::new();
        (&mut *file).take(4).read_to_end(&mut head)?;
        file.rewind()?;
        Ok(matches!(head.as_slice(), b"PK\x03\x04" | b"PK\x05\x06"))
    }

    /// Reads the list of entries.
    ///
    /// # Errors
    /// The archive is damaged or truncated, or lists more than the limits allow.
    pub fn open(mut file: F) -> Result<Self, Fault> {
        let unreadable = |error| Fault::unreadable("the archive", error);
        let bytes = file.seek(SeekFrom::End(0)).map_err(unreadable)?;
        file.rewind().map_err(unreadable)?;
        let budget = Rc::new(Cell::new(IMPORT_ARCHIVE_LIST_BYTES_MAX));
        let zip = ZipArchive::new(BufReader::new(Budgeted { file, left: budget.clone() })).map_err(|error| {
            let reason = format!("it is not a zip archive that can be read ({error}); is it cut? Get it again");
            Fault::invalid("the archive", reason)
        })?;
        budget.set(u64::MAX);
        if zip.len() > IMPORT_FILES_MAX {
            let reason = format!("it holds more than {IMPORT_FILES_MAX} files; unpack it and import what is needed");
            return Err(Fault::invalid("the archive", reason));
        }
        Ok(Self { zip, bytes, left: Rc::new(Cell::new(IMPORT_UNPACKED_BYTES_MAX)) })
    }

    /// Indices and names of its files. Unreadable names are left out.
    pub fn names(&self) -> Vec<(usize, String)> {
        let name = |index| self.zip.name_for_index(index)?.ok().map(|name| (index, name.into_owned()));
        (0..self.zip.len()).filter_map(name).filter(|(_, name)| !name.ends_with('/')).collect()
    }

    /// Opens the entry at this index.
    ///
    /// # Errors
    /// The entry is encrypted or uses an unknown compression.
    pub fn entry(&mut self, index: usize) -> Result<impl BufRead, Fault> {
        let unknown = |reason: String| {
            Fault::invalid(
                "the archive",
                format!("the file in it cannot be read ({reason}); unpack it and import that"),
            )
        };
        let entry = self.zip.by_index(index).map_err(|error| unknown(error.to_string()))?;
        let method = entry.compression();
        if !matches!(method, CompressionMethod::Stored | CompressionMethod::Deflated) {
            return Err(unknown(format!("it is packed with {method}")));
        }
        let packed = entry.compressed_size().min(self.bytes);
        let own = IMPORT_UNPACKED_FREE_BYTES.max(packed.saturating_mul(IMPORT_UNPACKED_RATIO_MAX));
        Ok(BufReader::new(Unpacked { entry, own, all: self.left.clone() }))
    }
}

/// A file with a limit on the bytes that can be read.
struct Budgeted<F> {
    file: F,
    left: Rc<Cell<u64>>,
}

impl<F: Read> Read for Budgeted<F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        match self.left.get().checked_sub(read as u64) {
            Some(left) => self.left.set(left),
            None => return Err(io::Error::new(io::ErrorKind::FileTooLarge, "its list of files is too long")),
        }
        Ok(read)
    }
}

impl<F: Seek> Seek for Budgeted<F> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// An entry that fails if it unpacks to too many bytes.
struct Unpacked<R> {
    entry: R,
    own: u64,
    all: Rc<Cell<u64>>,
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.entry.read(buffer)?;
        match (self.own.checked_sub(read as u64), self.all.get().checked_sub(read as u64)) {
            (Some(own), Some(all)) => {
                self.own = own;
                self.all.set(all);
                Ok(read)
            }
            _ => {
                let reason =
                    "it unpacks to far more than such a file should; if it is yours, unpack it and import that";
                Err(io::Error::new(io::ErrorKind::FileTooLarge, reason))
            }
        }
    }
}
