//! Reads the body of a form: fields, and a file if the form uploads one.

use std::convert::Infallible;

use axum::body::Body;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::request::Parts;
use bytes::{Bytes, BytesMut};
use futures_util::stream;
use http_body_util::BodyExt;
use multer::{Multipart, parse_boundary};

use super::fields::Fields;
use super::shown;
use crate::app::App;
use crate::http::{Fault, collect_up_to};

/// Bytes of a form around its file.
const AROUND: usize = 64 << 10;
/// Most bytes that are read and dropped, so that the browser gets the answer: it shows none if its upload is cut off.
const DROPPED_MAX: usize = 4 << 30;
/// Most characters of a file's name.
const NAME_CHARS_MAX: usize = 120;

/// A form as received.
#[derive(Debug, Default)]
pub(super) struct ReceivedForm {
    pub(super) fields: Fields,
    pub(super) file: Option<ReceivedFile>,
}

/// A file of a form.
#[derive(Debug)]
pub(super) struct ReceivedFile {
    /// Its name without folders.
    pub(super) name: String,
    pub(super) content: Bytes,
}

impl ReceivedForm {
    /// Reads a form without a file.
    pub(super) async fn read(app: &App, parts: &Parts, body: Body) -> Result<Self, Fault> {
        let bounds = &app.options.bounds;
        let sent = collect_up_to(parts, body, bounds.api_body_bytes_max, bounds.body_within).await?;
        Ok(Self { fields: Fields::read(&sent), file: None })
    }

    /// Reads a form that may have a file (`multipart/form-data`).
    pub(super) async fn read_upload(app: &App, parts: &Parts, body: Body) -> Result<Self, Fault> {
        let kind = parts.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let Ok(boundary) = parse_boundary(kind) else { return Self::read(app, parts, body).await };
        let bounds = &app.options.bounds;
        let _place = app.uploads.receiving.try_acquire().map_err(|_| Fault::busy(bounds.verb_waits))?;
        let sent = tokio::time::timeout(bounds.upload_within, whole(app, parts, body)).await;
        let sent = sent.map_err(|_| Fault::too_slow())??;
        let broken = |_: multer::Error| {
            Fault::invalid("the upload is incomplete, and nothing of it was kept: send the file once more")
        };
        let mut form = Multipart::new(stream::iter([Ok::<_, Infallible>(sent)]), boundary);
        let (mut fields, mut file) = (Vec::new(), None);
        while let Some(part) = form.next_field().await.map_err(broken)? {
            let name = part.name().unwrap_or_default().to_owned();
            match part.file_name().map(plain) {
                Some(called) => {
                    let content = part.bytes().await.map_err(broken)?;
                    // A form without a chosen file sends an empty one without a name.
                    if !(called.is_empty() && content.is_empty()) {
                        file = Some(ReceivedFile { name: called, content });
                    }
                }
                None => fields.push((name, part.text().await.map_err(broken)?)),
            }
        }
        Ok(Self { fields: Fields::of(fields), file })
    }
}

/// The whole body. Of one that is too large, nothing is kept.
async fn whole(app: &App, parts: &Parts, mut body: Body) -> Result<Bytes, Fault> {
    let most = app.options.bounds.upload_bytes_max;
    let too_large = || {
        Fault::too_large(most).saying(format!(
            "the file is larger than {}, the most that can be uploaded here, and nothing of it was kept. Upload the \
             conversations.json of the export by itself, or use `quipu import` on the machine of the server",
            shown::bytes(most as u64)
        ))
    };
    let named = parts.headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    if named.is_some_and(|named| named > DROPPED_MAX) {
        return Err(too_large());
    }
    let (mut kept, mut size) = (BytesMut::with_capacity(named.unwrap_or_default().min(most + AROUND)), 0usize);
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| {
            Fault::broken_body().saying("the upload broke off, and nothing of it was kept: send the file once more")
        })?;
        let Ok(piece) = frame.into_data() else { continue };
        size = size.saturating_add(piece.len());
        match size {
            size if size <= most + AROUND => kept.extend_from_slice(&piece),
            size if size > DROPPED_MAX => return Err(too_large()),
            _ => kept = BytesMut::new(),
        }
    }
    if size > most + AROUND { Err(too_large()) } else { Ok(kept.freeze()) }
}

/// The name of a file without folders and control characters.
fn plain(name: &str) -> String {
    let own = name.rsplit(['/', '\\']).next().unwrap_or_default();
    own.chars().filter(|letter| !letter.is_control()).take(NAME_CHARS_MAX).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_no_path() {
        let names = ["../../etc/passwd", "C:\\x\\chat.zip", "a\r\nb", " x ", "", "/"].map(plain);
        assert_eq!(names, ["passwd", "chat.zip", "ab", "x", "", ""]);
        assert_eq!(plain(&"n".repeat(500)).len(), NAME_CHARS_MAX);
    }
}
