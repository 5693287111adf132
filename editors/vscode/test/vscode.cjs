// The editor's API as far as the extension and the client of the protocol use it. What is not here is made up on demand: classes
// that hold nothing, functions that give things to dispose of. This is the one edge at which the editor is replaced.

"use strict";
const path = require("node:path");

class Disposable {
  constructor(run) {
    this.run = run;
  }
  dispose() {
    this.run?.();
  }
  static from(...list) {
    return new Disposable(() => list.forEach((each) => each.dispose()));
  }
}

class EventEmitter {
  #listeners = new Set();
  event = (listener, self) => {
    const bound = self ? listener.bind(self) : listener;
    this.#listeners.add(bound);
    return new Disposable(() => this.#listeners.delete(bound));
  };
  fire(value) {
    return Promise.all([...this.#listeners].map((listener) => listener(value)));
  }
  dispose() {
    this.#listeners.clear();
  }
}

class Uri {
  constructor(scheme, where) {
    this.scheme = scheme;
    this.path = where;
    this.authority = this.query = this.fragment = "";
  }
  get fsPath() {
    return this.path;
  }
  toString() {
    return this.scheme === "file" ? `file://${this.path}` : `${this.scheme}:${this.path}`;
  }
  static file(where) {
    return new Uri("file", path.resolve(where));
  }
  static parse(text) {
    const [, scheme, where] = /^([\w-]+):(?:\/\/)?(.*)$/.exec(text);
    return new Uri(scheme, where);
  }
}

class ThemeColor {
  constructor(id) {
    this.id = id;
  }
}

class Position {
  constructor(line, character) {
    Object.assign(this, { line, character });
  }
}

class Range {
  constructor(a, b, c, d) {
    [this.start, this.end] = typeof a === "number" ? [new Position(a, b), new Position(c, d)] : [a, b];
  }
}

class Diagnostic {
  constructor(range, message, severity) {
    Object.assign(this, { range, message, severity });
  }
}

class CodeActionKind {
  constructor(value) {
    this.value = value;
  }
  append(part) {
    return new CodeActionKind(this.value ? `${this.value}.${part}` : part);
  }
  static Empty = new CodeActionKind("");
  static QuickFix = new CodeActionKind("quickfix");
  static Refactor = new CodeActionKind("refactor");
  static RefactorRewrite = new CodeActionKind("refactor.rewrite");
}

class CancellationTokenSource {
  token = { isCancellationRequested: false, onCancellationRequested: () => new Disposable() };
  cancel() {}
  dispose() {}
}

class TabInputText {
  constructor(uri) {
    this.uri = uri;
  }
}

/** Anything that is not written down here: a class without content, whose static members are undefined. */
const madeUp = (name) => ({ [name]: class {} })[name];

/** A part of the API: what is given, and functions that give something to dispose of. */
const part = (given) =>
  new Proxy(given, { get: (known, name) => (name in known ? known[name] : () => new Disposable()) });

const events = {};
const event = (name) => (events[name] ??= new EventEmitter()).event;

/** What the tests look at and change. */
const state = {
  settings: {},
  messages: [],
  faults: [],
  commands: new Map(),
  collections: [],
  panels: [],
  documents: [],
  tabs: [],
  providers: new Map(),
  folders: undefined,
  shown: [],
  picks: () => undefined,
  types: () => undefined,
  fire: (name, value) => (events[name] ??= new EventEmitter()).fire(value),
};

const configuration = (section) => ({
  get: (name, other) => state.settings[section ? `${section}.${name}` : name] ?? other,
  inspect: () => undefined,
});

const log = new Proxy(
  {},
  {
    get: (_, name) => {
      if (name === "logLevel") {
        return 0;
      }
      return (...words) => {
        if (name === "error") {
          state.faults.push(words.map(String).join(" "));
        }
        return new Disposable();
      };
    },
  },
);

const api = {
  ProgressLocation: { SourceControl: 1, Window: 10, Notification: 15 },
  version: "1.91.0",
  state,
  Disposable,
  EventEmitter,
  Uri,
  Position,
  ThemeColor,
  Range,
  Diagnostic,
  CancellationTokenSource,
  CodeActionKind,
  TabInputText,
  DiagnosticSeverity: { Error: 0, Warning: 1, Information: 2, Hint: 3 },
  ViewColumn: { Beside: -2 },
  LogLevel: { Off: 0, Trace: 1, Debug: 2, Info: 3, Warning: 4, Error: 5 },
  env: part({ language: "en", appName: "test", isTelemetryEnabled: false }),
  workspace: part({
    getConfiguration: configuration,
    get textDocuments() {
      return state.documents;
    },
    notebookDocuments: [],
    get workspaceFolders() {
      return state.folders;
    },
    openTextDocument: async (uri) => ({ uri }),
    fs: part({}),
    onDidOpenTextDocument: event("open"),
    onDidChangeTextDocument: event("change"),
    onDidCloseTextDocument: event("close"),
    onDidChangeConfiguration: event("configuration"),
    registerTextDocumentContentProvider: (scheme, provider) => {
      state.providers.set(scheme, provider);
      return new Disposable();
    },
    createFileSystemWatcher: () => part({}),
  }),
  window: part({
    activeTextEditor: undefined,
    visibleTextEditors: [],
    tabGroups: {
      get all() {
        return [{ tabs: state.tabs.map((uri) => ({ input: new TabInputText(uri) })) }];
      },
      onDidChangeTabs: event("tabs"),
      onDidChangeTabGroups: () => new Disposable(),
    },
    createOutputChannel: () => log,
    withProgress: (_, task) => task({ report() {} }, new CancellationTokenSource().token),
    showQuickPick: async (list) => state.picks(await list),
    showInputBox: async (options) => state.types(options),
    showTextDocument: async (document) => void state.shown.push(document.uri.fsPath),
    showErrorMessage: async (words) => void state.messages.push(words),
    showInformationMessage: async (words) => void state.messages.push(words),
    showWarningMessage: async (words) => void state.messages.push(words),
    createWebviewPanel: (_, title) => {
      const said = new EventEmitter();
      const webview = { html: "", onDidReceiveMessage: said.event, say: (words) => said.fire(words), postMessage() {} };
      const panel = { title, webview, onDidDispose: () => new Disposable(), dispose() {} };
      state.panels.push(panel);
      return panel;
    },
  }),
  languages: part({
    match: (selector, document) => [selector].flat().some((each) => each.language === document.languageId) * 10,
    createDiagnosticCollection: (name) => {
      const entries = new Map();
      const collection = {
        name,
        entries,
        set: (uri, list) => void entries.set(uri.toString(), list ?? []),
        delete: (uri) => void entries.delete(uri.toString()),
        clear: () => entries.clear(),
        get: (uri) => entries.get(uri.toString()),
        has: (uri) => entries.has(uri.toString()),
        forEach: (visit) => entries.forEach((list, uri) => visit(Uri.parse(uri), list)),
        dispose() {},
      };
      state.collections.push(collection);
      return collection;
    },
  }),
  commands: part({
    registerCommand: (name, run) => {
      state.commands.set(name, run);
      return new Disposable();
    },
    executeCommand: async () => undefined,
  }),
};

module.exports = new Proxy(api, {
  get: (known, name) => (name in known ? known[name] : (known[name] = madeUp(String(name)))),
  has: () => true,
});
