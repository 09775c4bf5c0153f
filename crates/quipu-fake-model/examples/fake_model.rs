//! Runs a fake model server for manual tests. Prints its base URL, answers until it is killed, and lists the received
//! requests at `GET /received`, oldest first.
//!
//! ```sh
//! cargo run -p quipu-fake-model --example fake_model
//! ```

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener};

use quipu_fake_model::{FakeScript, FakeServer};
use serde_json::json;

fn main() -> std::io::Result<()> {
    let words = |text: &str| text.split_whitespace().count();
    let server = FakeServer::start(FakeScript::making(move |asked| {
        format!("I was told {} words, the last of them: {}", words(asked.last_user()), asked.last_user())
    }))?;
    let shown = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    println!("{} http://{}/received", server.origin(), shown.local_addr()?);
    for stream in shown.incoming() {
        let mut stream = stream?;
        // The request line and headers are read and ignored: every request gets the same response.
        for line in BufReader::new(&stream).lines() {
            if line?.is_empty() {
                break;
            }
        }
        let all: Vec<_> = server
            .received()
            .into_iter()
            .map(|one| json!({"path": one.path, "headers": one.headers, "body": String::from_utf8_lossy(&one.body)}))
            .collect();
        let body = json!(all).to_string();
        write!(
            stream,
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        )?;
    }
    Ok(())
}
