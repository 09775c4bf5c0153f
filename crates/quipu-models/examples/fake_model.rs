//! A fake model server to try things out with: prints its origin, answers until it is killed, and shows at `GET /received`
//! what it was sent, oldest first.
//!
//! ```sh
//! cargo run -p quipu-models --example fake_model
//! ```

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener};

use quipu_models::fake::{FakeScript, FakeServer};
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
        // The head is read and means nothing: there is only one thing to ask for.
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
