//! Files of other programs, as streams and as files with a name.

use std::collections::BTreeSet;
use std::io::Cursor;

use quipu_core::limit;
use quipu_engine::Error;
use quipu_engine::import::{self, Batch, DateOrder, ImportFormat, ReadError, ReadOptions, Report};

/// An import: the first byte selects the format and the options, the rest is the input.
///
/// The byte modulo the number of formats is the format, in the order of [`ImportFormat::ALL`]; what remains is one bit for each option: a time
/// zone, an order of dates, its direction, and whether conversations are read that are marked not to be remembered.
///
/// Every source passes [`Source::check`](quipu_core::source::Source::check) and has the id of its content, and no id
/// occurs twice in a batch.
pub fn import(data: &[u8]) {
    let Some((choice, input)) = data.split_first() else { return };
    let choice = usize::from(*choice);
    let format = ImportFormat::ALL[choice % ImportFormat::ALL.len()];
    let chosen = |bit: usize| (choice / ImportFormat::ALL.len()) >> bit & 1 == 1;
    let order = if chosen(2) { DateOrder::DayFirst } else { DateOrder::MonthFirst };
    let options = ReadOptions {
        timezone: chosen(0).then(|| "America/New_York".parse().ok()).flatten(),
        date_order: chosen(1).then_some(order),
        do_not_remember: chosen(3),
    };
    let mut report = Report::default();
    let mut seen = 0;
    let outcome = import::read_with(format, &mut Cursor::new(input), "fuzz", &options, &mut report, &mut |batch| {
        seen += check_batch(&batch)?;
        Ok::<_, String>(())
    });
    if let Err(ReadError::Caller(refusal)) = outcome {
        panic!("a source was handed on that no memory takes: {refusal}");
    }
    assert_eq!(seen, report.sources, "the report counts something else");
    assert!(report.notices.len() <= limit::IMPORT_NOTICES_MAX);
}

/// Checks what an importer hands on, and returns the number of sources.
///
/// # Errors
/// The reason why no memory takes a source.
pub fn check_batch(batch: &Batch) -> Result<u64, String> {
    let mut ids = BTreeSet::new();
    assert!(!batch.sources.is_empty(), "an empty batch");
    for source in &batch.sources {
        source.check().map_err(|refusal| refusal.to_string())?;
        assert_eq!(source.id, source.content_id());
        assert!(ids.insert(source.id), "{} twice in a batch", source.id);
    }
    Ok(batch.sources.len() as u64)
}

/// A file of unknown format: the first line is its name, the rest its content, which may be an archive.
///
/// If the format is told, its inputs are found and read as [`import()`] reads them.
pub fn import_file(data: &[u8]) {
    let Some(end) = data.iter().position(|byte| *byte == b'\n') else { return };
    let name = String::from_utf8_lossy(&data[..end]);
    let content = &data[end + 1..];
    let told = import::detect(&name, Cursor::new(content));
    // The formats of archives are read even if the file is not recognised, as when a person names the format.
    let formats = match told {
        Some(format) if format.document().is_some() => return,
        Some(format) => vec![format],
        None => vec![ImportFormat::ChatGpt, ImportFormat::Claude],
    };
    for format in formats {
        let mut report = Report::default();
        let outcome = import::each_given(format, (&name, content), &mut report.clone(), &mut |input| {
            let read =
                import::read(format, input.stream, input.name, &mut report, &mut |batch| check_batch(&batch).map(drop));
            match read {
                Err(ReadError::Caller(refusal)) => panic!("a source was handed on that no memory takes: {refusal}"),
                Err(ReadError::Fault(_)) | Ok(()) => Ok(()),
            }
        });
        if let Err(Error::Bug(bug)) = outcome {
            panic!("{format}: {bug}");
        }
    }
}
