// The page: open texts, their compiler, and the results.
import { Client, Unanswered, type Diagnostic } from "./client.js";
import { byId, download, make } from "./dom.js";
import { Editor, type Edit, type Location } from "./editor.js";
import { lg2ss, type Form, type Matrices } from "./lg2ss.js";
import { opened, packed, type Shared } from "./link.js";
import { Runs, type Parameter, type Result } from "./run.js";
import { point, refuse, VIEWS, type View } from "./views.js";

declare const FIRST: { name: string; text: string };
/** In the single-file page: the worker's script, and the module, compressed by gzip and encoded in base64. Otherwise empty. */
declare const INLINE: { worker: string; module: string; examples: string } | undefined;

interface Example {
  name: string;
  group: string;
  about: string;
  text: string;
}

/** A compilation older than this, in milliseconds, is ended when the text changes. */
const PATIENCE = 1500;

/** Kinds of names and hints are shown when the text has not changed for this time, in milliseconds. */
const PAUSE = 150;

/** The Stop button appears after this time, in milliseconds. */
const BUSY = 600;

async function loaded(): Promise<WebAssembly.Module> {
  if (INLINE) {
    const body = await fetchless(INLINE.module);
    return WebAssembly.compile(body);
  }
  const address = new URL("lgm.wasm", document.baseURI);
  try {
    return await WebAssembly.compileStreaming(fetch(address));
  } catch {
    // The server does not send the MIME type of the file.
    return WebAssembly.compile(await (await fetch(address)).arrayBuffer());
  }
}

function fetchless(base64: string): Promise<ArrayBuffer> {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

let workerAddress: string | undefined;
function createWorker(): Worker {
  if (INLINE) workerAddress ??= URL.createObjectURL(new Blob([INLINE.worker], { type: "text/javascript" }));
  return new Worker(workerAddress ?? new URL("worker.js", document.baseURI));
}

class Page {
  files: Record<string, string> = { [FIRST.name]: FIRST.text };
  root = FIRST.name;
  model: string | undefined;
  /** Open library texts, which are not passed to the compiler. */
  #shown: Record<string, string> = {};
  #view = "equations";
  #module = loaded();
  #compiler = new Client(this.#module, createWorker);
  #runs = new Runs(new Client(this.#module, createWorker), () => this.#opening());
  #editor: Editor;
  #panels = new Map<string, HTMLElement>();
  /** The version of the text, that of the compiler, and those of the views. */
  #version = 1;
  #sent = 0;
  #current = new Map<string, number>();
  #pause = 0;
  #isUpdating = false;
  #isReadOnly = new URLSearchParams(location.search).has("embed");

  constructor() {
    const host = byId("editor");
    host.replaceChildren();
    this.#editor = new Editor(host, {
      ask: (question, given) => this.ask(question, given),
      changed: (text) => this.#changed(text),
      apply: (edits) => this.apply(edits),
      open: (place) => this.#openPlace(place),
      prompt: (label, value) => prompt(label, value),
      choose: (label, list) => choose(label, list),
      say: (message) => this.say(message),
      pointed: (offset) => this.#pointed(offset),
    }, this.#isReadOnly);
    document.body.classList.toggle("embedded", this.#isReadOnly);
    this.#compiler.onReplaced = () => (this.#sent = 0);
    this.#compiler.onBusy = (busy) => {
      const shown = () => (byId("stop").hidden = !this.#compiler.busySince || performance.now() - this.#compiler.busySince < BUSY);
      setTimeout(shown, busy ? BUSY : 0);
    };
    this.#runs.onValues = () => {};
    this.#makeViews();
    this.#makeCommands();
    this.#show();
    void this.#openFragment();
    addEventListener("hashchange", () => void this.#openFragment());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => (this.#current.clear(), this.#update()));
    let timer = 0;
    addEventListener("resize", () => {
      clearTimeout(timer);
      timer = window.setTimeout(() => (this.#current.delete("run"), this.#current.delete("poles"), this.#update()), 200);
    });
  }

  say(message: string) {
    byId("status").textContent = message;
  }

  #opening(): object {
    return { files: this.files, root: this.root, model: this.model };
  }

  /** Sends a request about the current text to the compiler. */
  async ask(question: string, given: object = {}): Promise<any> {
    if (this.#sent !== this.#version) {
      const busy = this.#compiler.busySince;
      if (busy && performance.now() - busy > PATIENCE) this.#compiler.stop("superseded");
      this.#sent = this.#version;
      void this.#compiler.ask("open", this.#opening()).catch(() => {});
    }
    return this.#compiler.ask(question, given);
  }

  /** Like `ask`, but repeats the request if the compiler was ended because of another text. */
  async askSurely(question: string, given: object = {}): Promise<any> {
    for (;;) {
      try {
        return await this.ask(question, given);
      } catch (error) {
        if (!(error instanceof Unanswered && error.isStopped && error.message === "superseded")) throw error;
      }
    }
  }

  get text(): string {
    return this.files[this.root] ?? "";
  }

  setText(text: string) {
    this.files[this.root] = text;
    if (this.#shown[this.root] === undefined) this.#editor.replace(text);
    this.#touch();
  }

  #changed(text: string) {
    this.files[this.root] = text;
    this.#touch();
  }

  #touch() {
    this.#version += 1;
    this.#runs.changed();
    this.#update();
  }

  /** Updates the diagnostics and the visible view, once for any number of changes. */
  #update() {
    if (this.#isUpdating) {
      const busy = this.#compiler.busySince;
      if (busy && performance.now() - busy > PATIENCE && this.#sent !== this.#version) this.#compiler.stop("superseded");
      return;
    }
    this.#isUpdating = true;
    void this.#updates().finally(() => (this.#isUpdating = false));
  }

  async #updates() {
    while (this.#isStale()) {
      const [version, shown] = [this.#version, this.#view];
      try {
        if (this.#current.get("diagnostics") !== version) {
          // The worker answers in order: what the view shows comes first.
          const view = this.#updateView(version);
          const list = await this.ask("problems");
          if (version === this.#version) {
            void this.#editor.problems(list);
            this.#count(list);
          }
          clearTimeout(this.#pause);
          this.#pause = window.setTimeout(() => void this.#decorate(version), PAUSE);
          await view;
          this.#current.set("diagnostics", version);
          void this.#updateModels();
        } else {
          await this.#updateView(version);
        }
      } catch (error) {
        if (error instanceof Unanswered && error.message === "superseded") continue;
        this.say(error instanceof Error ? error.message : String(error));
        // The same text would fail again. Meanwhile the user may have selected another view.
        this.#current.set("diagnostics", version);
        this.#current.set(shown, version);
      }
    }
  }

  /** Shows the kinds of names, and hints, if the text is still the same. */
  async #decorate(version: number) {
    if (version !== this.#version) return;
    const answers = await Promise.all([this.ask("colors"), this.ask("hints")]).catch(() => undefined);
    if (answers && version === this.#version) this.#editor.decorate(...answers);
  }

  #isStale(): boolean {
    return ["diagnostics", this.#view].some((part) => this.#current.get(part) !== this.#version);
  }

  async #updateView(version: number) {
    const [id, panel] = [this.#view, this.#panels.get(this.#view)];
    if (!panel || this.#current.get(id) === version) return;
    try {
      if (id === "run") {
        const parameters: Parameter[] = await this.ask("parameters");
        // A run may take a long time; typing does not wait for it.
        void this.#runs.update(panel, parameters).catch((error) => refuse(panel, error));
      } else {
        await VIEWS.find((view) => view.id === id)?.update(panel, this.#owner());
      }
    } catch (error) {
      if (error instanceof Unanswered && error.message === "superseded") throw error;
      refuse(panel, error);
    }
    this.#current.set(id, version);
  }

  #owner() {
    return {
      ask: (question: string, given?: object) => this.ask(question, given),
      select: (from: number, to: number) => this.#editor.select(from, to),
      say: (message: string) => this.say(message),
      name: () => this.root.replace(/\.lgm$/, ""),
    };
  }

  #count(list: { severity: string }[]) {
    const count = (severity: string, word: string) => {
      const number = list.filter((entry) => entry.severity === severity).length;
      return number > 0 ? `${number} ${word}${number > 1 ? "s" : ""}` : "";
    };
    this.say([count("error", "error"), count("warning", "warning")].filter(Boolean).join(", ") || "no errors");
  }

  async #updateModels() {
    const models: string[] = await this.ask("models").catch(() => []);
    const select = byId<HTMLSelectElement>("model");
    select.hidden = models.length < 2;
    const chosen = this.model && models.includes(this.model) ? this.model : models.at(-1);
    select.replaceChildren(...models.map((name) => make("option", { value: name, selected: name === chosen }, name)));
  }

  #pointed(offset: number) {
    const panel = this.#panels.get(this.#view);
    if (panel) point(panel, offset);
  }

  /** Changes the open texts. */
  apply(edits: Edit[]) {
    const byFile = new Map<string, Edit[]>();
    for (const edit of edits) byFile.set(edit.file, [...(byFile.get(edit.file) ?? []), edit]);
    for (const [file, list] of byFile) {
      if (file === this.root) {
        this.#editor.view.dispatch({ changes: list.map(({ from, to, insert }) => ({ from, to, insert })) });
        continue;
      }
      let text = this.files[file];
      if (text === undefined) continue;
      for (const { from, to, insert } of [...list].sort((a, b) => b.from - a.from)) text = text.slice(0, from) + insert + text.slice(to);
      this.files[file] = text;
      this.#touch();
    }
  }

  #openPlace(place: Location) {
    if (place.file !== this.root) {
      if (place.text !== undefined) this.#shown[place.file] = place.text;
      this.select(place.file);
    }
    this.#editor.select(place.from, place.to);
    this.#editor.view.focus();
  }

  /** Shows another open text. */
  select(file: string) {
    const text = this.#shown[file] ?? this.files[file];
    if (text === undefined) return;
    this.#editor.show(text, this.#isReadOnly || this.#shown[file] !== undefined);
    if (this.#shown[file] === undefined && this.root !== file) {
      this.root = file;
      this.model = undefined;
      this.#touch();
    }
    this.#showTabs(file);
  }

  /** Replaces all open texts. */
  open(shared: Shared) {
    this.files = { ...shared.files };
    this.root = shared.root;
    this.model = shared.model;
    this.#shown = {};
    this.#runs.values = { ...shared.parameters };
    this.#show();
    this.#touch();
    if (shared.view) this.showView(shared.view);
  }

  #show() {
    this.#editor.show(this.text, this.#isReadOnly);
    this.#showTabs(this.root);
  }

  #showTabs(selected: string) {
    const names = [...Object.keys(this.files), ...Object.keys(this.#shown)];
    const tabs = names.map((name) => {
      const tab = make("button", { type: "button", role: "tab", "aria-selected": name === selected, tabIndex: name === selected ? 0 : -1 }, name);
      tab.addEventListener("click", () => this.select(name));
      tab.addEventListener("dblclick", () => void this.#renameFile(name));
      return tab;
    });
    const add = make("button", { type: "button", title: "a new text", "aria-label": "new text" }, "+");
    add.addEventListener("click", () => void this.#addFile());
    const close = make("button", { type: "button", title: `close ${selected}`, "aria-label": `close ${selected}` }, "\u00d7");
    close.addEventListener("click", () => this.#closeFile(selected));
    const select = make("select", { id: "model", hidden: true, "aria-label": "model" });
    select.addEventListener("change", () => {
      this.model = select.value;
      this.#touch();
    });
    byId("files").replaceChildren(...tabs, ...(this.#isReadOnly ? [] : [add, ...(names.length > 1 ? [close] : [])]), select);
  }

  async #addFile() {
    const name = await prompt("Name of the new text", "parts.lgm");
    if (!name) return;
    if (this.files[name] === undefined) this.files[name] = "";
    this.select(name);
  }

  async #renameFile(name: string) {
    if (this.files[name] === undefined || this.#isReadOnly) return;
    const other = await prompt("Name of the text", name);
    if (!other || other === name || this.files[other] !== undefined) return;
    this.files = Object.fromEntries(Object.entries(this.files).map(([key, text]) => [key === name ? other : key, text]));
    if (this.root === name) this.root = other;
    this.#showTabs(this.root);
    this.#touch();
  }

  #closeFile(name: string) {
    if (this.#shown[name] !== undefined) delete this.#shown[name];
    else if (Object.keys(this.files).length > 1) delete this.files[name];
    const next = Object.keys(this.files)[0]!;
    if (this.files[this.root] === undefined) this.root = "";
    if (this.root) this.#show();
    else this.select(next);
  }

  #makeViews() {
    const list: (View | { id: string; title: string })[] = [...VIEWS.slice(0, 5), { id: "run", title: "Run" }, ...VIEWS.slice(5), { id: "lg2ss", title: "LG2ss" }];
    const tabs = list.map(({ id, title }) => {
      const tab = make("button", { type: "button", role: "tab", id: `tab-${id}`, "aria-controls": `panel-${id}` }, title);
      tab.addEventListener("click", () => this.showView(id));
      let panel = document.getElementById(`panel-${id}`);
      panel ??= make("div", { className: "panel", id: `panel-${id}`, role: "tabpanel", hidden: true, "aria-labelledby": `tab-${id}` });
      this.#panels.set(id, panel);
      byId("panels").append(panel);
      return tab;
    });
    const views = byId("views");
    views.replaceChildren(...tabs);
    for (const host of [views, byId("files")]) host.addEventListener("keydown", (event) => moveInTabs(host, event));
    this.showView(this.#view);
  }

  showView(id: string) {
    if (!this.#panels.has(id)) return;
    this.#view = id;
    for (const [name, panel] of this.#panels) {
      panel.hidden = name !== id;
      const tab = byId(`tab-${name}`);
      tab.setAttribute("aria-selected", String(name === id));
      tab.tabIndex = name === id ? 0 : -1;
    }
    const panel = this.#panels.get(id)!;
    if (id === "lg2ss") {
      if (panel.childElementCount === 0) lg2ss(panel, (form) => this.lg2ss(form), (text) => this.#continue(text));
      this.#current.set(id, this.#version);
      return;
    }
    this.#update();
  }

  lg2ss(form: Form): Promise<Matrices> {
    return this.askSurely("lg2ss", form);
  }

  #continue(text: string) {
    let name = "imported.lgm";
    for (let count = 2; this.files[name] !== undefined; count += 1) name = `imported${count}.lgm`;
    this.files[name] = text;
    this.select(name);
    this.showView("equations");
  }

  #makeCommands() {
    const on = (id: string, run: () => void) => byId(id).addEventListener("click", run);
    on("examples", () => void this.#chooseExample());
    on("open", () => byId("file").click());
    on("save", () => download(this.root, this.text));
    on("format", () => void this.#editor.format());
    on("fix", () => void this.#editor.fix());
    on("stop", () => {
      this.#compiler.stop("superseded");
      this.#current.set("diagnostics", this.#version);
      this.#current.set(this.#view, this.#version);
      this.say("stopped; the next change compiles again");
    });
    on("link", async () => {
      const link = await this.link();
      history.replaceState(null, "", link);
      await navigator.clipboard?.writeText(link).then(() => this.say("link copied"), () => this.say("the link is in the address bar"));
    });
    const file = byId<HTMLInputElement>("file");
    file.addEventListener("change", async () => {
      const texts = await Promise.all([...(file.files ?? [])].map(async (entry) => [entry.name, await entry.text()] as const));
      file.value = "";
      const last = texts.at(-1);
      if (!last) return;
      Object.assign(this.files, Object.fromEntries(texts.slice(0, -1)));
      this.files[last[0]] = last[1];
      if (this.root === last[0]) this.root = "";
      this.select(last[0]);
    });
  }

  async #examples(): Promise<Example[]> {
    if (INLINE) return JSON.parse(INLINE.examples);
    return (await fetch(new URL("examples.json", document.baseURI))).json();
  }

  async #chooseExample() {
    const list = await this.#examples().catch(() => []);
    const chosen = await choose("Open an example", list.map((example) => ({ title: example.name, about: example.about, group: example.group, example })));
    if (chosen) this.#openExample(chosen.example);
  }

  #openExample({ name, text }: Example, view?: string) {
    const file = `${name.split("/").at(-1)}.lgm`;
    this.open({ files: { [file]: text }, root: file, view });
  }

  async #openFragment() {
    if (location.hash.length < 2) return this.#update();
    try {
      const found = await opened(location.hash);
      if (!found) return;
      if (!("example" in found)) return this.open(found);
      const example = (await this.#examples()).find((entry) => entry.name === found.example || entry.name.endsWith(`/${found.example}`));
      if (example) this.#openExample(example, found.view);
      else this.say(`no example is called ${found.example}`);
    } catch (error) {
      this.say(`the link cannot be read: ${error instanceof Error ? error.message : error}`);
      this.#update();
    }
  }

  async link(): Promise<string> {
    const parameters = this.#runs.values;
    const fragment = await packed({ files: this.files, root: this.root, view: this.#view, model: this.model, parameters });
    return `${location.href.replace(/#.*/, "")}#${fragment}`;
  }

  ready(): Promise<void> {
    return this.askSurely("models").then(() => {});
  }

  async diagnostics(): Promise<{ diagnostics: Diagnostic[] }> {
    return this.askSurely("check");
  }

  async simulate(given: object): Promise<Result> {
    for (;;) {
      try {
        return await this.#runs.ask(given);
      } catch (error) {
        if (!(error instanceof Unanswered && error.message === "superseded")) throw error;
      }
    }
  }
}

/** Moves the focus among tabs. */
function moveInTabs(host: HTMLElement, event: KeyboardEvent) {
  const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!by) return;
  const tabs = [...host.querySelectorAll<HTMLElement>("[role=tab]")];
  const at = tabs.indexOf(document.activeElement as HTMLElement);
  if (at < 0) return;
  const next = tabs[(at + by + tabs.length) % tabs.length]!;
  event.preventDefault();
  next.click();
  const again = [...host.querySelectorAll<HTMLElement>("[role=tab]")].find((tab) => tab.textContent === next.textContent);
  again?.focus();
}

/** Opens the dialog with this content; returns its return value on closing. */
function dialogue(...content: (Node | string)[]): Promise<string> {
  const dialog = byId<HTMLDialogElement>("dialog");
  dialog.replaceChildren(...content);
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => dialog.addEventListener("close", () => resolve(dialog.returnValue), { once: true }));
}

async function prompt(label: string, value: string): Promise<string | undefined> {
  const field = make("input", { value, "aria-label": label });
  const form = make("form", { method: "dialog" }, make("label", {}, label, field), make("div", { className: "bar" }, make("button", { value: "ok" }, "OK"), make("button", { value: "", formNoValidate: true }, "Cancel")));
  queueMicrotask(() => field.select());
  return (await dialogue(form)) === "ok" ? field.value.trim() : undefined;
}

interface Choosable {
  title: string;
  about?: string;
  group?: string;
}

async function choose<T extends Choosable>(label: string, list: T[]): Promise<T | undefined> {
  const form = make("form", { method: "dialog" }, make("h2", {}, label));
  let group = "";
  list.forEach((entry, at) => {
    if (entry.group && entry.group !== group) form.append(make("h3", {}, (group = entry.group)));
    form.append(make("button", { className: "choice", value: String(at + 1) }, make("strong", {}, entry.title), entry.about ? make("span", {}, entry.about) : ""));
  });
  form.append(make("div", { className: "bar" }, make("button", { value: "" }, "Cancel")));
  return list[Number(await dialogue(form)) - 1];
}

const page = new Page();

/** For tests and embedding: each promise settles with the answer for the current text. */
const api = {
  ready: () => page.ready(),
  setText: async (text: string) => {
    page.setText(text);
    await page.askSurely("models");
  },
  text: async () => page.text,
  diagnostics: () => page.diagnostics(),
  equations: ({ numeric = false } = {}) => page.askSurely("equations", { numeric }),
  simulate: (given: object = {}) => page.simulate(given),
  lg2ss: (form: Form) => page.lg2ss(form),
  link: () => page.link(),
  /** Replaces all open texts: `{files: {name: text}, root: name}`. */
  open: async (shared: Shared) => {
    page.open(shared);
    await page.askSurely("models");
  },
  /** Any other request of web/src/page.rs, such as `poles`. */
  ask: (question: string, given: object = {}) => page.askSurely(question, given),
};
Object.assign(window, { lgm: api });

if (!INLINE && "serviceWorker" in navigator && location.protocol.startsWith("http")) {
  void navigator.serviceWorker.register(new URL("service.js", document.baseURI)).catch(() => {});
}
