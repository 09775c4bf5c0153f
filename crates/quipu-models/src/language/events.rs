//! Parses server-sent events from bytes that arrive in pieces.

/// Splits bytes into events and yields the data of each, in order.
#[derive(Debug, Default)]
pub(super) struct Events {
    line: Vec<u8>,
    data: String,
}

impl Events {
    /// Takes the next bytes and calls `each` for every event they complete. An empty line ends an event.
    pub(super) fn push<E>(&mut self, bytes: &[u8], each: &mut dyn FnMut(&str) -> Result<(), E>) -> Result<(), E> {
        for &byte in bytes {
            if byte != b'\n' {
                self.line.push(byte);
                continue;
            }
            let line = std::mem::take(&mut self.line);
            // Lines are complete, so no character is split here. Invalid bytes become the replacement character.
            let line = String::from_utf8_lossy(&line);
            let line = line.trim_end_matches('\r');
            if let Some(data) = line.strip_prefix("data:") {
                if !self.data.is_empty() {
                    self.data.push('\n');
                }
                self.data.push_str(data.strip_prefix(' ').unwrap_or(data));
            } else if line.is_empty() && !self.data.is_empty() {
                let data = std::mem::take(&mut self.data);
                each(&data)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Events;

    #[test]
    fn events_are_the_same_however_the_bytes_come() {
        let text = ": hi\n\nevent: x\ndata: {\"a\":\r\ndata: \"\u{fc}\"}\r\n\r\ndata:[DONE]\n\ndata: cut";
        for size in 1..text.len() {
            let mut found = Vec::new();
            let mut events = Events::default();
            for piece in text.as_bytes().chunks(size) {
                let told: Result<(), ()> = events.push(piece, &mut |data| {
                    found.push(data.to_owned());
                    Ok(())
                });
                assert_eq!(told, Ok(()));
            }
            assert_eq!(found, ["{\"a\":\n\"\u{fc}\"}", "[DONE]"], "in pieces of {size}");
        }
    }
}
