//! The lines of a conversation over standard input and output. A line that is no JSON is answered here, since the
//! protocol library passes over it and a client would wait for an answer.

use std::io;
use std::sync::Arc;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream, duplex};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

use super::unreadable;

/// Bytes that may wait between the process and the protocol library.
const WAITING_BYTES: usize = 64 << 10;
/// Longest message, in bytes; as long as the protocol library takes.
const MESSAGE_BYTES_MAX: u64 = 16 << 20;

/// The two ends for the protocol library, and a task that ends when everything has been written.
pub(super) struct Lines {
    pub(super) input: DuplexStream,
    pub(super) output: DuplexStream,
    pub(super) written: JoinHandle<io::Result<()>>,
}

impl Lines {
    pub(super) fn between<I, O>(input: I, output: O) -> Self
    where
        I: AsyncRead + Unpin + Send + 'static,
        O: AsyncWrite + Unpin + Send + 'static,
    {
        let (to_peer, peer_input) = duplex(WAITING_BYTES);
        let (peer_output, from_peer) = duplex(WAITING_BYTES);
        let output = Arc::new(Mutex::new(output));
        // It ends with the input, or when nothing reads on.
        tokio::spawn(pass_in(input, to_peer, output.clone()));
        Self { input: peer_input, output: peer_output, written: tokio::spawn(pass_out(from_peer, output)) }
    }
}

async fn pass_in<I, O>(input: I, mut to: DuplexStream, output: Arc<Mutex<O>>) -> io::Result<()>
where
    I: AsyncRead + Unpin,
    O: AsyncWrite + Unpin,
{
    let mut input = BufReader::new(input);
    let (mut line, mut is_first, mut is_rest) = (Vec::new(), true, false);
    while (&mut input).take(MESSAGE_BYTES_MAX + 1).read_until(b'\n', &mut line).await? > 0 {
        let is_cut = line.len() as u64 > MESSAGE_BYTES_MAX && !line.ends_with(b"\n");
        // Some programs begin what they write with a byte order mark.
        let mark: &[u8] = if std::mem::take(&mut is_first) { "\u{feff}".as_bytes() } else { b"" };
        let message = line.strip_prefix(mark).unwrap_or(&line).trim_ascii();
        let refused = match is_cut {
            _ if message.is_empty() || is_rest => None,
            true => Some(unreadable::too_long(MESSAGE_BYTES_MAX)),
            false => unreadable::answer("the line", message),
        };
        if let Some(refused) = refused {
            write(&output, refused.to_string().as_bytes()).await?;
        } else if !message.is_empty() && !is_rest {
            to.write_all(message).await?;
            to.write_all(b"\n").await?;
        }
        is_rest = is_cut;
        line.clear();
    }
    Ok(())
}

async fn pass_out<O: AsyncWrite + Unpin>(from: DuplexStream, output: Arc<Mutex<O>>) -> io::Result<()> {
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line).await? > 0 {
        write(&output, line.trim_ascii_end()).await?;
        line.clear();
    }
    Ok(())
}

async fn write<O: AsyncWrite + Unpin>(output: &Mutex<O>, message: &[u8]) -> io::Result<()> {
    let mut output = output.lock().await;
    output.write_all(message).await?;
    output.write_all(b"\n").await?;
    output.flush().await
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]
mod tests {
    use serde_json::Value;

    use super::*;

    #[tokio::test]
    async fn lines_that_are_no_json_are_answered_and_the_others_passed_on() {
        let (mut output, theirs) = duplex(WAITING_BYTES);
        let mut lines = Lines::between(&b"\xef\xbb\xbf{\"id\": 1}\n\nnot json\n{\"id\":\n {\"id\": 2}"[..], theirs);
        let mut passed = String::new();
        lines.input.read_to_string(&mut passed).await.unwrap();
        assert_eq!(passed, "{\"id\": 1}\n{\"id\": 2}\n");
        lines.output.write_all(b"{\"answer\": 1}\n").await.unwrap();
        drop(lines.output);
        lines.written.await.unwrap().unwrap();
        let mut told = String::new();
        output.read_to_string(&mut told).await.unwrap();
        let told: Vec<Value> = told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let codes: Vec<_> = told.iter().filter_map(|line| line["error"]["code"].as_i64()).collect();
        assert_eq!((told.len(), codes), (3, vec![-32700, -32700]));
    }
}
