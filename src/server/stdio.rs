//! Reads and writes the messages of the protocol over standard input and output. The implementation in `lsp_server`
//! ends without an error message if the input is not a message, and allocates memory for any length.

use crossbeam_channel::bounded;
use lsp_server::{Connection, Message};
use std::io::{self, BufRead, Read};
use std::sync::{Arc, OnceLock};

/// Maximum size of a message in bytes.
const LARGEST: u64 = 256 << 20;
/// Maximum length of a header line in bytes.
const LONGEST_LINE: u64 = 8 << 10;

/// Returns a connection, and a cell for the error that ends its input.
pub(super) fn connect() -> (Connection, Arc<OnceLock<String>>) {
    let (sender, outgoing) = bounded(0);
    let (incoming, receiver) = bounded(0);
    let failure = Arc::new(OnceLock::new());
    let reason = Arc::clone(&failure);
    // The threads are not joined, since the writer would block forever if the editor did not read.
    std::thread::spawn(move || {
        let mut input = io::stdin().lock();
        loop {
            match read(&mut input) {
                Ok(Some(message)) => {
                    let is_last = matches!(&message, Message::Notification(last) if last.method == "exit");
                    if incoming.send(message).is_err() || is_last {
                        break;
                    }
                }
                Ok(None) => break,
                // The input ends here: without this message, the texts could differ from those in the editor.
                Err(error) => {
                    let _ = reason.set(error);
                    break;
                }
            }
        }
    });
    std::thread::spawn(move || {
        let mut output = io::stdout().lock();
        outgoing
            .into_iter()
            .try_for_each(|message: Message| message.write(&mut output))
    });
    (Connection { sender, receiver }, failure)
}

/// Reads the next message, or returns `None` at the end of the input.
fn read(input: &mut impl BufRead) -> Result<Option<Message>, String> {
    let cannot_be_read = |why: &dyn std::fmt::Display| format!("a message from the editor cannot be read: {why}");
    let mut size = None;
    let mut is_first = true;
    loop {
        let mut line = Vec::new();
        let mut bounded = input.by_ref().take(LONGEST_LINE);
        bounded
            .read_until(b'\n', &mut line)
            .map_err(|error| cannot_be_read(&error))?;
        if line.is_empty() && is_first {
            return Ok(None);
        }
        is_first = false;
        let Some(line) = line.strip_suffix(b"\n") else {
            return Err(cannot_be_read(&"its header is too long or incomplete"));
        };
        let line = String::from_utf8_lossy(line);
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            size = value.trim().parse::<u64>().ok();
        }
    }
    let size = size.ok_or_else(|| cannot_be_read(&"its header has no `Content-Length` in bytes"))?;
    if size > LARGEST {
        return Err(cannot_be_read(&format!(
            "its {size} bytes exceed the maximum of {LARGEST}"
        )));
    }
    let mut body = Vec::new();
    let read = input.take(size).read_to_end(&mut body);
    read.map_err(|error| cannot_be_read(&error))?;
    if (body.len() as u64) < size {
        return Err(cannot_be_read(&format!("it ends after {} of {size} bytes", body.len())));
    }
    serde_json::from_slice(&body)
        .map(Some)
        .map_err(|error| cannot_be_read(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn framed(body: &str) -> Vec<u8> {
        format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
    }

    #[test]
    fn messages_are_read_in_order() {
        let mut bytes = framed("{\"jsonrpc\":\"2.0\",\"method\":\"initialized\",\"params\":{}}");
        let other = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"shutdown\"}";
        let header = "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\ncontent-length:";
        bytes.extend(format!("{header}{}\r\n\r\n{other}", other.len()).bytes());
        let mut input = &*bytes;
        assert!(matches!(read(&mut input), Ok(Some(Message::Notification(_)))));
        assert!(matches!(read(&mut input), Ok(Some(Message::Request(_)))));
        assert!(matches!(read(&mut input), Ok(None)));
    }

    #[test]
    fn invalid_message_is_rejected_with_a_reason() {
        for (bytes, why) in [
            (
                framed("{\"method\":\"a\",\"params\":{\"text\":\"\\ud83d\"}}"),
                "hex escape",
            ),
            (framed("{\"method\":"), "EOF while parsing"),
            (framed("[1, 2]"), "did not match"),
            (
                b"Content-Length: 9999999999999\r\n\r\n{}".to_vec(),
                "exceed the maximum of 268435456",
            ),
            (
                b"Content-Length: 99999999999999999999999\r\n\r\n{}".to_vec(),
                "no `Content-Length`",
            ),
            (b"Content-Length: -1\r\n\r\n{}".to_vec(), "no `Content-Length`"),
            (b"Content-Length: 4\r\n\r\n{}".to_vec(), "it ends after 2 of 4 bytes"),
            (b"{}".to_vec(), "its header is too long or incomplete"),
            (vec![b'a'; 10_000], "its header is too long or incomplete"),
        ] {
            let error = read(&mut &*bytes).expect_err(why);
            assert!(error.contains(why), "{error}");
        }
    }
}
