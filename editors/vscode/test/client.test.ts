// The extension with its real client and the real server; the editor alone is replaced, by test/vscode.cjs.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { after, before, test } from "node:test";
import * as vscode from "vscode";
import { activate, type Api, deactivate } from "../src/extension";
import { pageOf } from "../src/commands";
import { page } from "../src/preview";
import { find } from "../src/program";

const state = (vscode as unknown as { state: any }).state;
const root = path.resolve(process.cwd(), "../..");
const lgm = process.env["LGM"] ?? path.join(root, "target/debug/lgm");
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "lgm-vscode-"));
let api: Api;

/** A text as the editor has it open. */
async function opened(name: string, text: string) {
  const uri = vscode.Uri.file(path.join(folder, name));
  const document = { uri, languageId: "lgm", version: 1, fileName: uri.fsPath, isClosed: false, getText: () => text };
  // As the editor does: the tab first, then the text.
  state.tabs.push(uri);
  await state.fire("tabs", { opened: [{}], closed: [], changed: [] });
  state.documents.push(document);
  await state.fire("open", document);
  return document;
}

/** Waits until something is so; a server that says nothing fails the test. */
async function until<T>(what: string, look: () => T | undefined | false): Promise<T> {
  for (let turn = 0; turn < 500; turn++) {
    const found = look();
    if (found) {
      return found;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return assert.fail(`nothing came: ${what}\n${state.faults.join("\n")}`);
}

function faults(uri: vscode.Uri): any[] | undefined {
  return state.collections.map((each: any) => each.get(uri)).find((list: any) => list?.length);
}

before(async () => {
  state.settings["lgm.path"] = lgm;
  api = await activate({ subscriptions: [] } as unknown as vscode.ExtensionContext);
});

after(async () => {
  await deactivate();
  fs.rmSync(folder, { recursive: true });
});

test("the server is started, and is this project's", () => {
  const server = api.client()?.initializeResult?.serverInfo;
  assert.deepEqual(state.messages, []);
  assert.equal(server?.name, "lgm");
});

test("a fault is shown where the terminal has it, as it is typed", async () => {
  const text = "model M {\n  node a : electrical;\n  s : VoltageSource(1) a -> gnd;\n  t : VoltageSource(2) a -> gnd;\n}\n";
  const document = await opened("conflict.lgm", text);
  const found = await until("diagnostics", () => faults(document.uri));
  fs.writeFileSync(document.uri.fsPath, text);
  let printed: any[] = [];
  try {
    execFileSync(lgm, ["check", "--format", "json", document.uri.fsPath]);
  } catch (error) {
    printed = JSON.parse(String((error as { stdout: Buffer }).stdout)).diagnostics;
  }
  assert.ok(printed.length > 0);
  const code = (fault: any) => String(typeof fault.code === "object" ? fault.code.value : fault.code);
  assert.deepEqual(found.map(code).sort(), printed.map(code).sort());
});

test("an edit is checked", async () => {
  const text = "model M {\n  node a : electrical;\n  r : Resistor(1) a -> gnd;\n  c : Capacitor(1) a -> gnd\n}\n";
  const document = await opened("edited.lgm", text);
  await until("diagnostics", () => faults(document.uri));
  const range = new vscode.Range(3, 27, 3, 27);
  const mended = { ...document, version: 2, getText: () => text.replace("gnd\n}", "gnd;\n}") };
  state.documents[state.documents.indexOf(document)] = mended;
  await state.fire("change", { document: mended, contentChanges: [{ range, rangeOffset: 0, rangeLength: 0, text: ";" }] });
  await until("no diagnostics", () => !faults(document.uri));
});

test("texts of the standard library can be read", async () => {
  const provider = state.providers.get("lgm-library");
  const text = await provider.provideTextDocumentContent(vscode.Uri.parse("lgm-library:/stdlib/electrical.lgm"));
  assert.match(text, /element Resistor/);
});

test("the code of a fault leads to its page", async () => {
  const document = await opened("linked.lgm", "model M {\n  node tank : fluid;\n  leak : FluidResistor(2e6) tnk -> gnd;\n}\n");
  const found = await until("diagnostics", () => faults(document.uri));
  const { value, target } = found[0].code;
  assert.equal(value, "LGM0111");
  assert.equal(target.toString(), "lgm-library:/docs/codes/LGM0111.md");
  const page = await state.providers.get(target.scheme).provideTextDocumentContent(target);
  assert.equal(page, fs.readFileSync(path.join(root, "docs/codes/LGM0111.md"), "utf8"));
});

test("the preview has equations as MathML and the plot of the experiment", async () => {
  const text = fs.readFileSync(path.join(root, "examples/oscillator.lgm"), "utf8");
  const document = await opened("oscillator.lgm", text);
  await state.commands.get("lgm.preview")(document.uri.toString());
  const panel = state.panels.at(-1);
  assert.match(panel.webview.html, /<math/);
  assert.match(panel.webview.html, /<svg/);
  assert.equal(panel.title, "Oscillator");
});

test("a tab of the preview draws the graph, and a slider runs the model anew", async () => {
  const text = fs.readFileSync(path.join(root, "examples/oscillator.lgm"), "utf8");
  const document = await opened("drawn.lgm", text);
  await state.commands.get("lgm.preview")(document.uri.toString());
  const { webview } = state.panels.at(-1);
  const plot = (html: string) => /<div class="plot">[^]*?<\/svg>/.exec(html)?.[0];
  const before = plot(webview.html);
  assert.ok(before && webview.html.includes('data-set="m"'), webview.html);
  await webview.say({ name: "m", value: 8 });
  await until("another run", () => plot(webview.html) !== before && plot(webview.html));
  for (const tab of ["linear", "bonds"]) {
    await webview.say({ tab });
    await until(tab, () => webview.html.includes(`data-tab="${tab}" class="chosen"`));
    assert.match(webview.html, /<g class="[^"]*" data-name="mass">/);
    assert.doesNotMatch(webview.html, /<math/);
  }
});

test("a half-written line leaves the preview as it was, greyed", async () => {
  const text = fs.readFileSync(path.join(root, "examples/oscillator.lgm"), "utf8");
  const lines = text.split("\n");
  const at = lines.findIndex((line) => line.includes("Damper("));
  const document = await opened("half.lgm", text);
  await state.commands.get("lgm.preview")(document.uri.toString());
  const half = text.replace(lines[at] ?? "", `  extra : Rot\n${lines[at]}`);
  const written = { ...document, version: 2, getText: () => half };
  state.documents[state.documents.indexOf(document)] = written;
  const range = new vscode.Range(at, 0, at, 0);
  const change = { range, rangeOffset: 0, rangeLength: 0, text: "  extra : Rot\n" };
  await state.fire("change", { document: written, contentChanges: [change] });
  const { webview } = state.panels.at(-1);
  await until("a greyed page", () => webview.html.includes('<main class="held">'));
  assert.match(webview.html, /<math/);
  assert.match(webview.html, new RegExp(`line ${at + 1} is incomplete`));
});

test("the preview of a faulty text says why there is nothing", async () => {
  const document = await opened("faulty.lgm", "model M { node a }");
  await state.commands.get("lgm.preview")(document.uri.toString());
  const { html } = state.panels.at(-1).webview;
  assert.doesNotMatch(html, /<math/);
  assert.match(html, /class="note"/);
});

test("notes are text in the page, whatever they hold", () => {
  const html = page({ title: "<b>", equations: "", plot: null, notes: ["a < b & <script>"] }, "equations");
  assert.match(html, /a &lt; b &amp; &lt;script&gt;/);
  assert.match(html, /<title>&lt;b&gt;<\/title>/);
  assert.match(html, /default-src 'none'/);
});

test("a new model is made of the kind that was picked, and opened", async () => {
  state.folders = [{ uri: vscode.Uri.file(folder), name: "work", index: 0 }];
  let kinds: vscode.QuickPickItem[] = [];
  state.picks = (list: vscode.QuickPickItem[]) => {
    kinds = list;
    return list.find((kind) => kind.label === "bond-graph");
  };
  state.types = () => "drive";
  await state.commands.get("lgm.new")();
  assert.ok(kinds.length >= 9 && kinds.every((kind) => kind.description), JSON.stringify(kinds));
  const file = path.join(folder, "drive.lgm");
  assert.deepEqual(state.shown, [file]);
  assert.match(fs.readFileSync(file, "utf8"), /model Drive \{/);
});

test("models that are not open are checked on request", async () => {
  fs.writeFileSync(path.join(folder, "closed.lgm"), "model M { node a : electrical; r : Resistor(nowhere) a -> gnd; }\n");
  state.folders = [{ uri: vscode.Uri.file(folder), name: "folder", index: 0 }];
  await api.client()?.sendNotification("workspace/didChangeWorkspaceFolders", {
    event: { added: [{ uri: vscode.Uri.file(folder).toString(), name: "folder" }], removed: [] },
  });
  await state.commands.get("lgm.checkFolder")();
  const uri = vscode.Uri.file(path.join(folder, "closed.lgm"));
  const found = await until("faults of a closed file", () => faults(uri));
  assert.match(found[0].message, /nowhere/);
});

test("a program is looked for once, and the folders are named", () => {
  const missing = find("no-such-program", ["/first", "/second"].join(path.delimiter));
  assert.ok(typeof missing === "object" && missing.words.includes("/first, /second"), JSON.stringify(missing));
  assert.equal(find(path.basename(lgm), `/first${path.delimiter}${path.dirname(lgm)}`), lgm);
  assert.equal(pageOf("301"), "lgm-library:/docs/codes/LGM0301.md");
  assert.equal(pageOf("LGM12345"), undefined);
});

test("a program that is not there is reported with its name", async () => {
  await deactivate();
  state.settings["lgm.path"] = path.join(folder, "no-such-program");
  await state.commands.get("lgm.restart")();
  await until("a message", () => state.messages.some((words: string) => words.includes("no-such-program")));
});
