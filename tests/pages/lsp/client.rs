//! An editor, as seen by the protocol.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

/// The maximum waiting time.
const PATIENCE: Duration = Duration::from_secs(120);

/// A running server and its messages so far.
pub struct Client {
    child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    /// Messages received while waiting for others.
    heard: Vec<Value>,
    last_id: i64,
}

/// The URI of a path without characters that need escaping.
pub fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

impl Client {
    /// Starts a server without any message.
    pub fn silent() -> Client {
        let mut child = Command::new(env!("CARGO_BIN_EXE_lgm"))
            .args(["lsp", "--stdio"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let output = child.stdout.take().unwrap();
        let (sender, messages) = channel();
        thread::spawn(move || {
            let mut output = BufReader::new(output);
            while let Some(message) = read(&mut output) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Client {
            input: child.stdin.take(),
            child,
            messages,
            heard: Vec::new(),
            last_id: 0,
        }
    }

    /// Its process id.
    #[allow(dead_code, reason = "the bench alone uses it")]
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// Starts a server with this position encoding, and with a folder open if one is given.
    pub fn start(encoding: &str, folder: Option<&Path>) -> Client {
        Client::start_with(&json!({ "general": { "positionEncodings": [encoding] } }), folder)
    }

    /// The same with capabilities.
    pub fn start_with(capabilities: &Value, folder: Option<&Path>) -> Client {
        let mut client = Client::silent();
        let folders = folder.map(|path| json!([{ "uri": uri(path), "name": "work" }]));
        let params =
            json!({ "processId": null, "rootUri": null, "capabilities": capabilities, "workspaceFolders": folders });
        client.ask("initialize", params).unwrap();
        client.notify("initialized", json!({}));
        client
    }

    /// Sends bytes as they are.
    pub fn send_bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(bytes).unwrap();
        input.flush().unwrap();
    }

    /// Sends a text as a message.
    pub fn send_text(&mut self, text: &str) {
        self.send_bytes(format!("Content-Length: {}\r\n\r\n{text}", text.len()).as_bytes());
    }

    pub fn notify(&mut self, method: &str, params: Value) {
        self.send_text(&json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string());
    }

    /// Sends a request, and returns its id.
    pub fn begin(&mut self, method: &str, params: Value) -> i64 {
        self.last_id += 1;
        let message = json!({ "jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params });
        self.send_text(&message.to_string());
        self.last_id
    }

    /// The response to a request.
    pub fn answer(&mut self, id: i64) -> Result<Value, Value> {
        let message = self.wait(|message| message["id"] == id && message.get("method").is_none());
        match message.get("error") {
            Some(error) => Err(error.clone()),
            None => Ok(message["result"].clone()),
        }
    }

    /// Sends a request and waits for the response.
    pub fn ask(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.begin(method, params);
        self.answer(id)
    }

    /// The first received message that matches; all others remain in the queue.
    pub fn wait(&mut self, is_wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.heard.iter().position(&is_wanted) {
            return self.heard.remove(at);
        }
        loop {
            let message = self.messages.recv_timeout(PATIENCE).expect("the server says nothing");
            if is_wanted(&message) {
                return message;
            }
            self.heard.push(message);
        }
    }

    /// Received messages that indicate a compiler bug: responses, and log lines without diagnostics.
    pub fn faults(&self) -> Vec<&Value> {
        let is_logged = |message: &Value| {
            message["params"]["message"]
                .as_str()
                .is_some_and(|words| words.contains("compiler bug"))
        };
        let is_fault = |message: &&Value| message["error"]["code"] == -32603 || is_logged(message);
        self.heard.iter().filter(is_fault).collect()
    }

    pub fn open(&mut self, uri: &str, text: &str) {
        let document = json!({ "uri": uri, "languageId": "lgm", "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
    }

    pub fn change(&mut self, uri: &str, version: i64, changes: Value) {
        let params = json!({ "textDocument": { "uri": uri, "version": version }, "contentChanges": changes });
        self.notify("textDocument/didChange", params);
    }

    pub fn close(&mut self, uri: &str) {
        self.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    }

    /// The next pushed diagnostics of a text, for a version if one is given.
    pub fn pushed(&mut self, uri: &str, version: Option<i64>) -> Vec<Value> {
        let message = self.wait(|message| {
            message["method"] == "textDocument/publishDiagnostics"
                && message["params"]["uri"] == uri
                && version.is_none_or(|version| message["params"]["version"] == version)
        });
        message["params"]["diagnostics"].as_array().unwrap().clone()
    }

    /// The diagnostics of a text, on request.
    pub fn pulled(&mut self, uri: &str) -> Vec<Value> {
        let report = self.ask("textDocument/diagnostic", json!({ "textDocument": { "uri": uri } }));
        report.unwrap()["items"].as_array().unwrap().clone()
    }

    /// Closes the pipe to the server, and waits for its exit code.
    pub fn left(mut self) -> Option<i32> {
        self.input = None;
        self.child.wait().unwrap().code()
    }

    /// Shuts down according to the protocol.
    pub fn end(mut self) {
        assert_eq!(self.ask("shutdown", Value::Null), Ok(Value::Null));
        self.notify("exit", Value::Null);
        assert_eq!(self.left(), Some(0));
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The codes of diagnostics, sorted.
pub fn codes(diagnostics: &[Value]) -> Vec<&str> {
    let mut codes: Vec<&str> = diagnostics
        .iter()
        .map(|entry| entry["code"].as_str().unwrap())
        .collect();
    codes.sort_unstable();
    codes
}

fn read(output: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if output.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim().strip_prefix("Content-Length: ") {
            Some(number) => length = number.parse().unwrap(),
            None if line.trim().is_empty() => break,
            None => panic!("{line}"),
        }
    }
    let mut bytes = vec![0; length];
    output.read_exact(&mut bytes).ok()?;
    Some(serde_json::from_slice(&bytes).unwrap())
}
