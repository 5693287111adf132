//! Start and shutdown, malformed or unknown messages, cancellation.

use super::client::{Client, codes, uri};
use crate::support::program::example;
use serde_json::{Value, json};
use std::fmt::Write;

const URI: &str = "untitled:Untitled-1";
const MODEL: &str =
    "model M { node x : translational; m : Mass(1) x -> gnd; s : Spring(2) x -> gnd; output v = across(m); }\n";

fn code(answer: Result<Value, Value>) -> i64 {
    answer.unwrap_err()["code"].as_i64().unwrap()
}

fn encoding(offered: Value) -> String {
    let mut client = Client::silent();
    let params =
        json!({ "processId": null, "rootUri": null, "capabilities": { "general": { "positionEncodings": offered } } });
    let result = client.ask("initialize", params).unwrap();
    assert_eq!(result["serverInfo"]["name"], "lgm");
    client.notify("initialized", json!({}));
    client.end();
    result["capabilities"]["positionEncoding"].as_str().unwrap().to_string()
}

#[test]
fn the_first_known_encoding_is_agreed_upon() {
    assert_eq!(encoding(json!(["utf-8", "utf-16"])), "utf-8");
    assert_eq!(encoding(json!(["utf-7", "utf-32", "utf-8"])), "utf-32");
    assert_eq!(encoding(json!(["utf-16"])), "utf-16");
    assert_eq!(encoding(Value::Null), "utf-16");
    assert_eq!(encoding(json!(["utf-7"])), "utf-16");
}

#[test]
fn what_is_advertised_is_answered() {
    let mut client = Client::silent();
    let params = json!({ "processId": null, "rootUri": null, "capabilities": {} });
    let capabilities = client.ask("initialize", params).unwrap()["capabilities"].clone();
    client.notify("initialized", json!({}));
    client.open(URI, MODEL);
    let (document, position) = (json!({ "uri": URI }), json!({ "line": 0, "character": 6 }));
    let range = json!({ "start": position, "end": position });
    let requests = [
        ("hoverProvider", "textDocument/hover"),
        ("completionProvider", "textDocument/completion"),
        ("signatureHelpProvider", "textDocument/signatureHelp"),
        ("definitionProvider", "textDocument/definition"),
        ("referencesProvider", "textDocument/references"),
        ("documentHighlightProvider", "textDocument/documentHighlight"),
        ("documentSymbolProvider", "textDocument/documentSymbol"),
        ("workspaceSymbolProvider", "workspace/symbol"),
        ("foldingRangeProvider", "textDocument/foldingRange"),
        ("selectionRangeProvider", "textDocument/selectionRange"),
        ("semanticTokensProvider", "textDocument/semanticTokens/full"),
        ("inlayHintProvider", "textDocument/inlayHint"),
        ("codeActionProvider", "textDocument/codeAction"),
        ("documentFormattingProvider", "textDocument/formatting"),
        ("documentRangeFormattingProvider", "textDocument/rangeFormatting"),
        ("documentOnTypeFormattingProvider", "textDocument/onTypeFormatting"),
        ("documentLinkProvider", "textDocument/documentLink"),
        ("codeLensProvider", "textDocument/codeLens"),
    ];
    for (capability, method) in requests {
        assert!(!capabilities[capability].is_null(), "{capability} in {capabilities}");
        let params = json!({ "textDocument": document, "position": position, "range": range, "positions": [position],
            "query": "", "context": { "includeDeclaration": true, "diagnostics": [], "triggerKind": 1, "isRetrigger": false }, "ch": ";", "options": { "tabSize": 2, "insertSpaces": true } });
        client
            .ask(method, params)
            .unwrap_or_else(|error| panic!("{method}: {error}"));
    }
    // A name that cannot be changed is rejected with a message, not as an unknown method.
    assert_eq!(capabilities["renameProvider"]["prepareProvider"], true);
    for method in ["textDocument/prepareRename", "textDocument/rename"] {
        let nowhere = json!({ "line": 0, "character": 0 });
        let params = json!({ "textDocument": document, "position": nowhere, "newName": "N" });
        assert_eq!(code(client.ask(method, params)), -32803);
    }
    let known: Vec<&str> = requests.iter().map(|entry| entry.0).collect();
    for (name, value) in capabilities.as_object().unwrap() {
        let others = ["positionEncoding", "textDocumentSync", "renameProvider", "workspace"];
        assert!(
            value.is_null() || known.contains(&name.as_str()) || others.contains(&name.as_str()),
            "{name}"
        );
    }
    client.end();
}

#[test]
fn requests_of_this_server_are_answered() {
    let mut client = Client::start("utf-16", None);
    client.open(URI, MODEL);
    let equations = client
        .ask("lgm/equations", json!({ "textDocument": { "uri": URI } }))
        .unwrap();
    assert!(equations.get("text").is_some(), "{equations}");
    for module in ["rotational", "distributed"] {
        let uri = format!("lgm-library:/stdlib/{module}.lgm");
        let text = client.ask("lgm/libraryText", json!({ "uri": uri })).unwrap();
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("stdlib/{module}.lgm"));
        assert_eq!(text["text"], std::fs::read_to_string(path).unwrap());
    }
    for code in ["LGM0001", "LGM0301"] {
        let uri = format!("lgm-library:/docs/codes/{code}.md");
        let text = client.ask("lgm/libraryText", json!({ "uri": uri })).unwrap();
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("docs/codes/{code}.md"));
        assert_eq!(text["text"], std::fs::read_to_string(path).unwrap());
    }
    for uri in [
        "lgm-library:/docs/codes/301.md",
        "lgm-library:/docs/codes/LGM9999.md",
        "lgm-library:/docs/codes/../README.md",
        "lgm-library:/stdlib/../Cargo.toml",
        "lgm-library:/stdlib/nothing.lgm",
        "file:///etc/passwd",
    ] {
        assert_eq!(
            code(client.ask("lgm/libraryText", json!({ "uri": uri }))),
            -32602,
            "{uri}"
        );
    }
    client.end();
}

#[test]
fn malformed_messages_are_answered_and_the_next_one_is_read() {
    let mut client = Client::start("utf-16", None);
    let refused = |client: &mut Client| client.wait(|message| message["id"].is_null() && !message["error"].is_null());
    for (text, code) in [
        ("{", -32700),
        ("[]", -32600),
        ("\u{1}", -32700),
        (r#"{"jsonrpc":"2.0","id":{},"method":"shutdown"}"#, -32600),
        (r#"{"jsonrpc":"2.0"}"#, -32600),
    ] {
        client.send_text(text);
        assert_eq!(refused(&mut client)["error"]["code"], code, "{text}");
    }
    client.send_bytes(b"Content-Length: 2\r\n\r\n\xff\xff");
    assert_eq!(refused(&mut client)["error"]["code"], -32700);
    client.send_bytes(b"no header\r\n\r\n");
    assert_eq!(refused(&mut client)["error"]["code"], -32700);
    client.send_text(&"[".repeat(100_000));
    assert_eq!(refused(&mut client)["error"]["code"], -32700);

    assert_eq!(code(client.ask("textDocument/unheardOf", json!({}))), -32601);
    assert_eq!(code(client.ask("initialize", json!({}))), -32600);
    assert_eq!(
        code(client.ask("textDocument/hover", json!({ "textDocument": 3 }))),
        -32602
    );
    assert_eq!(code(client.ask("textDocument/hover", Value::Null)), -32602);
    let closed = json!({ "textDocument": { "uri": "file:///closed.lgm" }, "position": { "line": 0, "character": 0 } });
    assert_eq!(code(client.ask("textDocument/hover", closed)), -32602);
    // Notifications have no response.
    client.notify("$/unheardOf", json!({}));
    client.notify("textDocument/didOpen", json!({ "textDocument": [] }));
    client.notify(
        "textDocument/didChange",
        json!({ "textDocument": { "uri": "file:///closed.lgm", "version": 2 }, "contentChanges": [] }),
    );
    client.notify("$/cancelRequest", json!({ "id": 12345 }));
    let log = client.wait(|message| message["method"] == "window/logMessage");
    assert!(log["params"]["message"].as_str().unwrap().contains("didOpen"), "{log}");
    client.end();
}

#[test]
fn positions_beyond_the_text_are_its_end() {
    let mut client = Client::start("utf-16", None);
    client.open(URI, MODEL);
    for (line, character) in [(0, u32::MAX), (u32::MAX, 0), (1, 0), (77, 77)] {
        let params = json!({ "textDocument": { "uri": URI }, "position": { "line": line, "character": character } });
        client.ask("textDocument/hover", params).unwrap();
    }
    let beyond = json!({ "start": { "line": 9, "character": 9 }, "end": { "line": 2, "character": 2 } });
    client.change(URI, 2, json!([{ "range": beyond, "text": "nonsense" }]));
    assert!(!client.pushed(URI, Some(2)).is_empty());
    client.end();
}

#[test]
fn the_order_of_beginning_and_end_is_kept() {
    let mut client = Client::silent();
    assert_eq!(code(client.ask("textDocument/hover", json!({}))), -32002);
    assert_eq!(code(client.ask("shutdown", Value::Null)), -32002);
    client.open(URI, MODEL);
    client.notify("exit", Value::Null);
    assert_eq!(client.left(), Some(1));

    let client = Client::start("utf-16", None);
    assert_eq!(client.left(), Some(1), "the pipe ended");

    let mut client = Client::start("utf-16", None);
    client.notify("exit", Value::Null);
    assert_eq!(client.left(), Some(1));

    let mut client = Client::start("utf-16", None);
    client.ask("shutdown", Value::Null).unwrap();
    assert_eq!(code(client.ask("textDocument/hover", json!({}))), -32600);
    assert_eq!(client.left(), Some(0));
}

/// A chain of masses and springs that takes some time.
fn long_model(count: usize) -> String {
    let mut text = "model Long {\n".to_string();
    for at in 0..count {
        let next = if at + 1 == count {
            "gnd".to_string()
        } else {
            format!("x{}", at + 1)
        };
        let _ = write!(
            text,
            "node x{at} : translational;\nm{at} : Mass(1) x{at} -> gnd;\ns{at} : Spring(2) x{at} -> {next};\n"
        );
    }
    text + "output v = across(m0);\n}\n"
}

#[test]
fn a_preview_has_equations_and_the_run() {
    let mut client = Client::start("utf-16", None);
    let example = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/oscillator.lgm");
    client.open(URI, &std::fs::read_to_string(example).unwrap());
    let params = json!({ "textDocument": { "uri": URI } });
    let shown = client.ask("lgm/preview", params.clone()).unwrap();
    assert_eq!(shown["title"], "Oscillator");
    assert!(shown["equations"].as_str().unwrap().contains("<math"), "{shown}");
    assert!(shown["plot"].as_str().unwrap().starts_with("<svg"), "{shown}");
    assert_eq!(shown["notes"], json!([]));
    // Without a signal there is no run, and the reason is shown; the equations still are.
    let text = "model M { node a : electrical; input u [V]; s : VoltageSource(u) a -> gnd; r : Resistor(2) a -> gnd; \
        output i = through(r); experiment { stop = 1 [s]; } }";
    client.change(URI, 2, json!([{ "text": text }]));
    let shown = client.ask("lgm/preview", params.clone()).unwrap();
    assert!(
        shown["plot"].is_null() && shown["notes"][0].as_str().unwrap().contains("LGM0912"),
        "{shown}"
    );
    assert!(shown["equations"].as_str().unwrap().contains("<math"), "{shown}");
    // An error replaces the equations.
    client.change(URI, 3, json!([{ "text": "model M { node a }" }]));
    let shown = client.ask("lgm/preview", params.clone()).unwrap();
    assert_eq!((&shown["equations"], &shown["plot"]), (&json!(""), &Value::Null));
    assert!(!shown["notes"].as_array().unwrap().is_empty(), "{shown}");
    // A run that takes too long is stopped, with a message.
    let text = "model M { node a : translational; m : Mass(1) a -> gnd, start = 1; s : Spring(1e8) a -> gnd; \
        output v = across(m); experiment { stop = 2e3 [s]; method = tsit45; } }";
    client.change(URI, 4, json!([{ "text": text }]));
    let shown = client.ask("lgm/preview", params).unwrap();
    assert!(shown["notes"][0].as_str().unwrap().contains("lgm simulate"), "{shown}");
    client.end();
}

#[test]
fn each_model_of_a_text_can_be_shown() {
    let text = "model A { node x : translational; m : Mass(1) x -> gnd, start = 1; output v = across(m); experiment { stop = 1 [s]; } }\n\
                model B { node x : translational; n : Mass(1) x -> gnd; output v = across(n); }\n";
    let mut client = Client::start("utf-16", None);
    client.notify(
        "workspace/didChangeConfiguration",
        json!({ "settings": { "lgm": { "codeLenses": true } } }),
    );
    client.open(URI, text);
    let lenses = json!({ "textDocument": { "uri": URI } });
    let lenses = client.ask("textDocument/codeLens", lenses).unwrap();
    let models = lenses
        .as_array()
        .unwrap()
        .iter()
        .map(|lens| lens["command"]["arguments"][2].clone());
    assert_eq!(models.collect::<Vec<_>>(), ["A", "A", "B", "B"]);
    for (model, state, has_run) in [("A", "m.v", true), ("B", "n.v", false)] {
        let params = json!({ "textDocument": { "uri": URI }, "model": model });
        let shown = client.ask("lgm/preview", params.clone()).unwrap();
        assert_eq!(
            (&shown["title"], shown["plot"].is_string()),
            (&json!(model), has_run),
            "{shown}"
        );
        let equations = client.ask("lgm/equations", params).unwrap();
        let equations = equations["text"].as_str().unwrap();
        assert!(equations.contains(&format!("der({state})")), "{equations}");
    }
    // Without a name, and for a model that does not exist.
    let shown = client
        .ask("lgm/preview", json!({ "textDocument": { "uri": URI } }))
        .unwrap();
    assert_eq!(shown["title"], "B");
    let gone = json!({ "textDocument": { "uri": URI }, "model": "C" });
    let shown = client.ask("lgm/preview", gone).unwrap();
    assert!(!shown["notes"].as_array().unwrap().is_empty(), "{shown}");
    client.end();
}

#[test]
fn hints_and_lenses_are_what_was_chosen() {
    let mut client = Client::start("utf-16", None);
    client.open(URI, MODEL);
    let document = json!({ "uri": URI });
    let everywhere = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 100, "character": 0 } });
    let hints = json!({ "textDocument": document, "range": everywhere });
    let lenses = json!({ "textDocument": document });
    assert!(
        !client
            .ask("textDocument/inlayHint", hints.clone())
            .unwrap()
            .as_array()
            .unwrap()
            .is_empty()
    );
    assert!(client.ask("textDocument/codeLens", lenses.clone()).unwrap().is_null());
    let chosen = json!({ "inlayHints": { "causality": false, "values": false, "domains": false }, "codeLenses": true });
    client.notify(
        "workspace/didChangeConfiguration",
        json!({ "settings": { "lgm": chosen } }),
    );
    assert_eq!(client.ask("textDocument/inlayHint", hints).unwrap(), json!([]));
    let found = client.ask("textDocument/codeLens", lenses.clone()).unwrap();
    let titles: Vec<_> = found
        .as_array()
        .unwrap()
        .iter()
        .map(|lens| lens["command"]["title"].clone())
        .collect();
    assert_eq!(titles, ["equations", "simulate"]);
    assert_eq!(found[0]["command"]["arguments"], json!([URI, "equations", "M"]));
    // An invalid value changes nothing, and is reported.
    let wrong = json!({ "inlayHints": { "causality": "yes" }, "codeLenses": 0 });
    client.notify(
        "workspace/didChangeConfiguration",
        json!({ "settings": { "lgm": wrong } }),
    );
    let log = client.wait(|message| message["method"] == "window/logMessage");
    assert_eq!(
        log["params"]["message"],
        "the setting `inlayHints.causality` is `\"yes\"`, and must be `true` or `false`; it stays `false`"
    );
    assert_eq!(
        client
            .ask("textDocument/codeLens", lenses)
            .unwrap()
            .as_array()
            .unwrap()
            .len(),
        2
    );
    client.end();
}

#[test]
fn codes_lead_to_their_pages_where_the_editor_opens_them() {
    let faulty = "model M { node x : translational; m : Mas(1) x -> gnd; }\n";
    let mut client = Client::start("utf-16", None);
    client.open(URI, faulty);
    let plain = client.pushed(URI, Some(1));
    assert_eq!(codes(&plain), ["LGM0149"]);
    assert!(plain[0].get("codeDescription").is_none(), "{plain:?}");
    // Enabling code links refreshes the diagnostics.
    client.notify(
        "workspace/didChangeConfiguration",
        json!({ "settings": { "lgm": { "codeLinks": true } } }),
    );
    let linked = client.pushed(URI, Some(1));
    let page = linked[0]["codeDescription"]["href"].clone();
    assert_eq!(page, "lgm-library:/docs/codes/LGM0149.md");
    let text = client.ask("lgm/libraryText", json!({ "uri": page })).unwrap();
    assert!(text["text"].as_str().unwrap().starts_with("# LGM0149: "), "{text}");
    client.end();
}

#[test]
fn what_is_offered_is_described_once_it_is_looked_at() {
    let text = "model M {\n  node x : translational;\n  mass : Mass(1) x -> gnd;\n  s : Spring(2) x -> gnd;\n  \n}\n";
    let at = json!({ "textDocument": { "uri": URI }, "position": { "line": 4, "character": 2 } });
    let offered = |client: &mut Client| {
        let list = client.ask("textDocument/completion", at.clone()).unwrap();
        let list = list.as_array().expect("a whole list").clone();
        list.into_iter().find(|item| item["label"] == "mass").unwrap()
    };
    // An editor without lazy resolution gets the text immediately.
    let mut client = Client::start("utf-16", None);
    client.open(URI, text);
    let item = offered(&mut client);
    let words = item["documentation"]["value"].clone();
    assert!(words.as_str().unwrap().contains("state `mass.v`"), "{item}");
    client.end();

    let capabilities = json!({ "textDocument": { "completion": { "completionItem":
        { "resolveSupport": { "properties": ["documentation", "detail"] } } } } });
    let mut client = Client::start_with(&capabilities, None);
    client.open(URI, text);
    let item = offered(&mut client);
    assert!(item.get("documentation").is_none(), "{item}");
    let whole = client.ask("completionItem/resolve", item.clone()).unwrap();
    assert_eq!(whole["documentation"]["value"], words);
    assert_eq!(whole["textEdit"], item["textEdit"]);
    // If the location has changed meanwhile, or the text is closed, it stays unchanged.
    client.change(URI, 2, json!([{ "text": text.replace("mass", "load") }]));
    assert_eq!(client.ask("completionItem/resolve", item.clone()).unwrap(), item);
    client.close(URI);
    assert_eq!(client.ask("completionItem/resolve", item.clone()).unwrap(), item);
    // A long list is truncated, with a message.
    client.open(URI, &long_model(1000));
    let at = json!({ "textDocument": { "uri": URI }, "position": { "line": 2, "character": 0 } });
    let list = client.ask("textDocument/completion", at).unwrap();
    assert_eq!(
        (&list["isIncomplete"], list["items"].as_array().map(Vec::len)),
        (&json!(true), Some(250))
    );
    client.end();
}

#[test]
fn long_work_shows_its_progress() {
    let mut client = Client::start_with(&json!({ "window": { "workDoneProgress": true } }), None);
    client.open(URI, MODEL);
    let quick = client.pushed(URI, Some(1));
    assert_eq!(quick, Vec::<Value>::new());
    client.change(URI, 2, json!([{ "text": long_model(30_000) }]));
    let asked = client.wait(|message| message["method"] == "window/workDoneProgress/create");
    let token = asked["params"]["token"].clone();
    assert!(
        token.as_str().is_some_and(|token| token.starts_with("lgm-work-")),
        "{token}"
    );
    for kind in ["begin", "end"] {
        let shown = client.wait(|message| message["method"] == "$/progress");
        assert_eq!(
            (&shown["params"]["token"], &shown["params"]["value"]["kind"]),
            (&token, &json!(kind))
        );
    }
    client.end();
}

#[test]
fn what_nobody_waits_for_ends_early() {
    let mut client = Client::start("utf-16", None);
    client.open(URI, &long_model(2000));
    let params = json!({ "textDocument": { "uri": URI } });
    let (first, second) = (
        client.begin("textDocument/diagnostic", params.clone()),
        client.begin("lgm/equations", params.clone()),
    );
    client.notify("$/cancelRequest", json!({ "id": second }));
    client.notify("$/cancelRequest", json!({ "id": first }));
    assert_eq!(code(client.answer(first)), -32800);
    assert_eq!(code(client.answer(second)), -32800);
    // An edit overtakes requests for the previous text.
    let symbols = client.begin("textDocument/documentSymbol", params.clone());
    let pull = client.begin("textDocument/diagnostic", params);
    client.change(URI, 2, json!([{ "text": MODEL }]));
    let overtaken = client.answer(pull).unwrap_err();
    assert_eq!(overtaken["code"], -32802);
    assert_eq!(overtaken["data"]["retriggerRequest"], true);
    if let Err(error) = client.answer(symbols) {
        assert_eq!(error["code"], -32801);
    }
    assert_eq!(client.pushed(URI, Some(2)), Vec::<Value>::new());
    client.end();
}

#[test]
fn an_editor_that_asks_for_diagnostics_is_not_pushed_any() {
    let folder = tempfile::tempdir().unwrap();
    let capabilities = json!({ "textDocument": { "diagnostic": {} }, "workspace": { "diagnostics": { "refreshSupport": true },
        "didChangeWatchedFiles": { "dynamicRegistration": true } } });
    let mut client = Client::start_with(&capabilities, Some(folder.path()));
    let watch = client.wait(|message| message["method"] == "client/registerCapability");
    assert_eq!(
        watch["params"]["registrations"][0]["method"],
        "workspace/didChangeWatchedFiles"
    );
    let (main, part) = (
        uri(&folder.path().join("main.lgm")),
        uri(&folder.path().join("part.lgm")),
    );
    client.open(&main, "import \"part.lgm\";\nmodel M { node x : translational; p : Part() (a = x); m : Mass(1) x -> gnd; output v = across(m); }\n");
    assert_eq!(codes(&client.pulled(&main)), ["LGM0101"]);
    client.open(
        &part,
        "component Part { port a : translational; s : Spring(2) a -> gnd; }\n",
    );
    // The other text is now valid, and the editor is asked to request its diagnostics again.
    client.wait(|message| message["method"] == "workspace/diagnostic/refresh");
    let found = client.pulled(&main);
    assert_eq!(found, Vec::<Value>::new());
    client.change(
        &part,
        2,
        json!([{ "text": "component Part { port a : translational; s : Sprin(2) a -> gnd; }\n" }]),
    );
    assert!(!client.pulled(&part).is_empty());
    client.end();
}

#[test]
fn an_example_without_faults_has_no_diagnostics() {
    let path = example("oscillator.lgm");
    let mut client = Client::start("utf-16", None);
    client.open(&uri(&path), &std::fs::read_to_string(&path).unwrap());
    assert_eq!(client.pushed(&uri(&path), Some(1)), Vec::<Value>::new());
    client.close(&uri(&path));
    client.end();
}
