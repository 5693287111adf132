//! Messages over a pair of pipes. Unlike the transport of `lsp_server`, this one answers a malformed message and reads the next one.

use crossbeam_channel::{Receiver, Sender, unbounded};
use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response};
use serde_json::{Value, json};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::thread::{self, JoinHandle};

/// The maximum length of a message in bytes: a text of 64 MiB with every byte escaped.
const LONGEST_MESSAGE: u64 = 512 << 20;

/// The maximum length of a header line in bytes.
const LONGEST_LINE: u64 = 1 << 16;

/// The only relevant header, in lower case.
const LENGTH: &str = "content-length:";

/// The received data.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// A valid message of the protocol.
    Message(Message),
    /// Any other data, with its error.
    Faulty(ErrorCode, String),
}

/// Reads messages on a separate thread until the pipe ends.
pub(crate) fn reader(input: impl Read + Send + 'static) -> io::Result<Receiver<Incoming>> {
    let (sender, receiver) = unbounded();
    thread::Builder::new().name("lgm-reader".to_string()).spawn(move || {
        let mut input = BufReader::new(input);
        while let Ok(Some(incoming)) = read(&mut input) {
            if sender.send(incoming).is_err() {
                return;
            }
        }
    })?;
    Ok(receiver)
}

/// Reads the next message; returns none at the end of the pipe.
fn read(input: &mut impl BufRead) -> io::Result<Option<Incoming>> {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        input.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim();
        // It may be preceded by the text of a message of unknown length, which ends in the same line.
        match line.to_ascii_lowercase().rfind(LENGTH) {
            Some(at) => length = line[at + LENGTH.len()..].trim().parse().ok(),
            None if line.is_empty() => break,
            // Other headers are irrelevant, and lines that are not headers are skipped.
            None => {}
        }
    }
    let Some(length) = length else {
        let reason = "the message has no header `Content-Length: N`";
        return Ok(Some(Incoming::Faulty(ErrorCode::ParseError, reason.to_string())));
    };
    if length > LONGEST_MESSAGE {
        io::copy(&mut input.take(length), &mut io::sink())?;
        let reason = "a message of more than 512 MiB";
        return Ok(Some(Incoming::Faulty(ErrorCode::InvalidRequest, reason.to_string())));
    }
    let mut bytes = Vec::new();
    input.by_ref().take(length).read_to_end(&mut bytes)?;
    Ok(Some(message(&bytes)))
}

/// Parses the bytes of a message.
fn message(bytes: &[u8]) -> Incoming {
    let invalid = |reason: &str| Incoming::Faulty(ErrorCode::InvalidRequest, reason.to_string());
    let mut value: Value = match serde_json::from_slice(bytes) {
        Ok(value) => value,
        Err(error) => return Incoming::Faulty(ErrorCode::ParseError, format!("this is not JSON: {error}")),
    };
    let Some(fields) = value.as_object_mut() else {
        return invalid("a message must be an object");
    };
    let (id, method) = (fields.remove("id"), fields.remove("method"));
    let params = fields.remove("params").unwrap_or_default();
    match (id, method) {
        (None, Some(Value::String(method))) => Incoming::Message(Notification { method, params }.into()),
        (Some(id), Some(Value::String(method))) => match serde_json::from_value::<RequestId>(id) {
            Ok(id) => Incoming::Message(Request { id, method, params }.into()),
            Err(_) => invalid("the id of a request must be a whole number or a string"),
        },
        (Some(id), None) if fields.contains_key("result") || fields.contains_key("error") => {
            match serde_json::from_value(id) {
                Ok(id) => Incoming::Message(Response::new_ok(id, Value::Null).into()),
                Err(_) => invalid("the id of a response must be a whole number or a string"),
            }
        }
        _ => invalid("a message needs a method, or an id and a result"),
    }
}

/// The channel of messages to the editor. Never blocks: an editor that does not read must not stop the server from
/// reading.
#[derive(Clone, Debug)]
pub(crate) struct Out(Sender<Option<Value>>);

/// Writes messages on a separate thread until `Out::end`.
pub(crate) fn writer(mut output: impl Write + Send + 'static) -> io::Result<(Out, JoinHandle<()>)> {
    let (sender, receiver) = unbounded::<Option<Value>>();
    let thread = thread::Builder::new().name("lgm-writer".to_string()).spawn(move || {
        while let Ok(Some(message)) = receiver.recv() {
            let text = message.to_string();
            let written = write!(output, "Content-Length: {}\r\n\r\n{text}", text.len());
            if written.and_then(|()| output.flush()).is_err() {
                return;
            }
        }
    })?;
    Ok((Out(sender), thread))
}

impl Out {
    fn send(&self, message: Value) {
        // If the writer has ended, the editor is gone.
        let _ = self.0.send(Some(message));
    }

    /// Ends the writer after all previous messages are written.
    pub(crate) fn end(&self) {
        let _ = self.0.send(None);
    }

    /// Answers a request.
    pub(crate) fn respond(&self, id: &RequestId, result: Result<Value, (ErrorCode, String)>) {
        self.send(match result {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            // The only error after which an editor repeats the request.
            Err((code @ ErrorCode::ServerCancelled, message)) => json!({ "jsonrpc": "2.0", "id": id, "error":
                { "code": code as i32, "message": message, "data": { "retriggerRequest": true } } }),
            Err((code, message)) => {
                json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code as i32, "message": message } })
            }
        });
    }

    /// Answers a message without a readable id.
    pub(crate) fn refuse(&self, code: ErrorCode, message: &str) {
        self.send(json!({ "jsonrpc": "2.0", "id": null, "error": { "code": code as i32, "message": message } }));
    }

    /// Sends the editor a notification.
    pub(crate) fn notify(&self, method: &str, params: Value) {
        self.send(json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends the editor a request whose answer is ignored.
    pub(crate) fn request(&self, id: &str, method: &str, params: Value) {
        self.send(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
    }

    /// Writes an error into the editor's log.
    pub(crate) fn log_error(&self, message: &str) {
        self.notify("window/logMessage", json!({ "type": 1, "message": message }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_message_is_skipped_and_the_next_one_read() {
        let mut input: &[u8] = b"Content-Length: 3\r\n\r\n{,}Nonsense\r\n\r\nContent-Length: 4\r\n\r\n[{}]\
            content-length:37\r\nContent-Type: x\r\n\r\n{\"jsonrpc\":\"2.0\",\"method\":\"initialize\"}";
        let faulty = |incoming: Option<Incoming>| match incoming {
            Some(Incoming::Faulty(code, _)) => code as i32,
            other => panic!("{other:?}"),
        };
        assert_eq!(faulty(read(&mut input).unwrap()), -32700);
        assert_eq!(faulty(read(&mut input).unwrap()), -32700);
        assert_eq!(faulty(read(&mut input).unwrap()), -32600);
        // One byte short, so that the last brace is missing.
        assert_eq!(faulty(read(&mut input).unwrap()), -32700);
        let mut rest: &[u8] = b"";
        assert!(read(&mut rest).unwrap().is_none());
    }

    #[test]
    fn a_length_that_is_no_number_loses_its_own_message_alone() {
        let wrong = r#"{"jsonrpc":"2.0","id":1,"method":"shutdown"}"#;
        let right = r#"{"jsonrpc":"2.0","id":2,"method":"shutdown"}"#;
        let text = format!(
            "Content-Length: abc\r\n\r\n{wrong}Content-Length: {}\r\n\r\n{right}",
            right.len()
        );
        let mut input = text.as_bytes();
        assert!(matches!(
            read(&mut input).unwrap(),
            Some(Incoming::Faulty(ErrorCode::ParseError, _))
        ));
        match read(&mut input).unwrap() {
            Some(Incoming::Message(Message::Request(request))) => assert_eq!(request.id, 2.into()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn messages_are_distinguished() {
        let kind = |text: &str| match message(text.as_bytes()) {
            Incoming::Message(Message::Request(_)) => "request",
            Incoming::Message(Message::Response(_)) => "response",
            Incoming::Message(Message::Notification(_)) => "notification",
            Incoming::Faulty(..) => "faulty",
        };
        assert_eq!(kind(r#"{"id": 1, "method": "shutdown"}"#), "request");
        assert_eq!(kind(r#"{"id": "a", "method": "shutdown", "params": null}"#), "request");
        assert_eq!(kind(r#"{"id": 1.5, "method": "shutdown"}"#), "faulty");
        assert_eq!(kind(r#"{"id": null, "method": "shutdown"}"#), "faulty");
        assert_eq!(kind(r#"{"method": "exit"}"#), "notification");
        assert_eq!(kind(r#"{"id": 1, "result": null}"#), "response");
        assert_eq!(kind(r#"{"id": 1}"#), "faulty");
    }
}
