// The editor, with services of the compiler: colours, diagnostics, hover, completion, navigation, rename and fixes.
import { acceptCompletion, autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap, snippet, type Completion, type CompletionContext, type CompletionResult } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, indentOnInput } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics, type Action as LintAction, type Diagnostic as LintDiagnostic } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, Prec, StateEffect, StateField, type Extension, type Text } from "@codemirror/state";
import { Decoration, drawSelection, EditorView, highlightActiveLine, hoverTooltip, keymap, lineNumbers, WidgetType, type DecorationSet } from "@codemirror/view";
import { make, markdown } from "./dom.js";
import { language } from "./language.js";

/** A change of one of the open texts, in units of UTF-16. */
export interface Edit {
  file: string;
  from: number;
  to: number;
  insert: string;
}

/** A location in an open text, or in a text of the library, which is included. */
export interface Location {
  file: string;
  from: number;
  to: number;
  text?: string;
}

interface Problem {
  from: number;
  to: number;
  severity: "error" | "warning" | "info" | "hint";
  code: string | null;
  message: string;
  unused: boolean;
  related: (Location & { message: string })[];
}

interface OfferedAction {
  title: string;
  code: string | null;
  fix: boolean;
  edits: Edit[];
}

/** The interface of the page for the editor. */
export interface Owner {
  /** Sends a request about the current text to the compiler. */
  ask(question: string, given?: object): Promise<any>;
  changed(text: string): void;
  apply(edits: Edit[]): void;
  open(place: Location): void;
  /** Prompts the user for a line of text. */
  prompt(label: string, value: string): Promise<string | undefined>;
  /** Lets the user choose from a list. */
  choose<T extends { title: string }>(label: string, list: T[]): Promise<T | undefined>;
  say(message: string): void;
  pointed(offset: number): void;
}

const recolor = StateEffect.define<DecorationSet>();
const colorField = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(set, transaction) {
    for (const effect of transaction.effects) if (effect.is(recolor)) return effect.value;
    return set.map(transaction.changes);
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** A hint of the compiler after a word, such as the state of an element. */
class Hint extends WidgetType {
  readonly text: string;
  readonly tooltip: string;

  constructor(text: string, tooltip: string) {
    super();
    this.text = text;
    this.tooltip = tooltip;
  }

  override eq(other: Hint): boolean {
    return other.text === this.text && other.tooltip === this.tooltip;
  }

  override toDOM(): HTMLElement {
    return make("span", { className: "hint", title: this.tooltip.replace(/`/g, "") }, ` ${this.text}`);
  }
}

/** The maximum number of errors for which fixes are requested at once. */
const MOST_FIXED = 8;

export class Editor {
  readonly view: EditorView;
  #owner: Owner;
  #readOnly = new Compartment();
  /** True while the page itself replaces the text. */
  #isReplacing = false;

  constructor(parent: HTMLElement, owner: Owner, readOnly: boolean) {
    this.#owner = owner;
    // The policy of the page allows no style elements. CodeMirror adopts a style sheet instead where a root has no head, as in a shadow tree.
    Object.defineProperty(document, "head", { value: null, configurable: true });
    this.view = new EditorView({ parent, state: this.#state("", readOnly) });
    Reflect.deleteProperty(document, "head");
  }

  #state(text: string, readOnly: boolean): EditorState {
    return EditorState.create({ doc: text, extensions: [this.#extensions(), this.#readOnly.of(EditorState.readOnly.of(readOnly))] });
  }

  #extensions(): Extension {
    const owner = this.#owner;
    return [
      lineNumbers(),
      history(),
      drawSelection(),
      indentOnInput(),
      bracketMatching(),
      closeBrackets(),
      highlightActiveLine(),
      highlightSelectionMatches(),
      lintGutter(),
      language,
      colorField,
      autocompletion({ override: [(context) => this.#complete(context)] }),
      hoverTooltip((_view, at) => this.#hover(at)),
      EditorView.contentAttributes.of({ "aria-label": "model text", spellcheck: "false" }),
      EditorView.updateListener.of((update) => {
        if (update.docChanged && !this.#isReplacing) owner.changed(update.state.doc.toString());
        if (update.selectionSet || update.docChanged) owner.pointed(update.state.selection.main.head);
      }),
      EditorView.domEventHandlers({
        mousedown: (event, view) => {
          if (!(event.ctrlKey || event.metaKey)) return false;
          const at = view.posAtCoords({ x: event.clientX, y: event.clientY });
          if (at !== null) void this.#goTo(at);
          return at !== null;
        },
      }),
      Prec.high(keymap.of([
        { key: "F12", run: (view) => (void this.#goTo(view.state.selection.main.head), true) },
        { key: "F2", run: (view) => (void this.#rename(view.state.selection.main.head), true) },
        { key: "Mod-.", run: () => (void this.fix(), true) },
        { key: "Shift-Alt-f", run: () => (void this.format(), true) },
        { key: "Tab", run: acceptCompletion },
      ])),
      // Escape followed by Tab leaves the editor, as usual in CodeMirror.
      keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap, indentWithTab]),
    ];
  }

  text(): string {
    return this.view.state.doc.toString();
  }

  /** Shows another text with a separate undo history. */
  show(text: string, readOnly: boolean) {
    this.view.setState(this.#state(text, readOnly));
  }

  /** Replaces the text; undo returns to the old one. */
  replace(text: string) {
    this.#isReplacing = true;
    this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text } });
    this.#isReplacing = false;
  }

  select(from: number, to: number) {
    const length = this.view.state.doc.length;
    const range = { anchor: Math.min(from, length), head: Math.min(to, length) };
    this.view.dispatch({ selection: range, effects: EditorView.scrollIntoView(range.anchor, { y: "center" }) });
  }

  /** Shows the diagnostics of this text; the fixes of the first errors follow. */
  async problems(list: Problem[]) {
    const { view } = this;
    const doc = view.state.doc;
    const shown = list.map((problem) => this.#shown(problem));
    view.dispatch(setDiagnostics(view.state, shown));
    const faulty = list.map((problem, at) => ({ problem, at })).filter(({ problem }) => problem.severity !== "info").slice(0, MOST_FIXED);
    let found = false;
    for (const { problem, at } of faulty) {
      const { from, to } = problem;
      const actions: OfferedAction[] = await this.#owner.ask("actions", { from, to }).catch(() => []);
      if (view.state.doc !== doc) return;
      const own = actions.filter((action) => action.fix && (!action.code || !problem.code || action.code === problem.code));
      shown[at]!.actions = own.map((action): LintAction => ({ name: action.title, apply: () => this.#apply(doc, action.edits) }));
      found ||= own.length > 0;
    }
    if (found) view.dispatch(setDiagnostics(view.state, shown));
  }

  #shown(problem: Problem): LintDiagnostic {
    const length = this.view.state.doc.length;
    const clamp = (at: number) => Math.min(at, length);
    const related = problem.related.filter((place) => place.message);
    return {
      from: clamp(problem.from),
      to: clamp(Math.max(problem.to, problem.from)),
      severity: problem.severity,
      source: problem.code ?? undefined,
      message: problem.message,
      markClass: problem.unused ? "unused" : undefined,
      renderMessage: () => {
        const body = make("div", {}, make("div", { className: "message" }, problem.message));
        for (const place of related) {
          const button = make("button", { type: "button", className: "plain" }, place.message);
          button.addEventListener("click", () => this.#owner.open(place));
          body.append(button);
        }
        return body;
      },
    };
  }

  /** Shows the kinds of names, and hints after words. */
  decorate(list: [number, number, string, boolean][], hints: { at: number; text: string; tooltip: string }[]) {
    const length = this.view.state.doc.length;
    const fitting = list.filter(([from, to]) => from < to && to <= length);
    const marks = fitting.map(([from, to, kind]) => Decoration.mark({ class: `name-${kind}` }).range(from, to));
    const behind = hints.filter(({ at }) => at <= length).map(({ at, text, tooltip }) => Decoration.widget({ widget: new Hint(text, tooltip), side: 1 }).range(at));
    this.view.dispatch({ effects: recolor.of(Decoration.set([...marks, ...behind], true)) });
  }

  async #hover(at: number) {
    const found = await this.#owner.ask("hover", { at }).catch(() => null);
    if (!found) return null;
    return { pos: found.from, end: found.to, above: true, create: () => ({ dom: markdown(found.markdown) }) };
  }

  async #complete(context: CompletionContext): Promise<CompletionResult | null> {
    const word = context.matchBefore(/[A-Za-z_][A-Za-z0-9_]*/);
    const before = context.state.sliceDoc(context.pos - 1, context.pos);
    if (!word && !context.explicit && !/[.:([]/.test(before)) return null;
    const found = await this.#owner.ask("complete", { at: context.pos }).catch(() => null);
    if (!found || context.aborted || found.list.length === 0) return null;
    const options = found.list.map((entry: any): Completion => ({
      label: entry.label,
      type: entry.kind,
      detail: entry.detail ?? undefined,
      info: entry.documentation ? () => markdown(entry.documentation) : undefined,
      apply: (view, completion, from, to) => {
        snippet(entry.insert.replace(/\$0$/, "${}"))(view, completion, from, to);
        if (entry.import) this.#owner.apply([entry.import]);
      },
    }));
    const from = Math.min(...found.list.map((entry: any) => entry.from));
    return { from, options, validFor: found.incomplete ? undefined : /^[A-Za-z0-9_]*$/ };
  }

  async #goTo(at: number) {
    const found: Location | null = await this.#owner.ask("definition", { at }).catch(() => null);
    if (found) this.#owner.open(found);
  }

  async #rename(at: number) {
    const { doc } = this.view.state;
    const own = await this.#owner.ask("rename", { at, name: "" }).catch(() => null);
    if (!own || own.reason) return this.#owner.say(own?.reason ?? "this cannot be renamed");
    const old = this.view.state.sliceDoc(own.from, own.to);
    const name = await this.#owner.prompt(`New name of ${old}`, old);
    if (!name || name === old) return;
    const edits = await this.#owner.ask("rename", { at, name }).catch((error) => ({ reason: String(error.message) }));
    if (edits.reason) this.#owner.say(edits.reason);
    else this.#apply(doc, edits);
    this.view.focus();
  }

  /** Applies edits that were asked for when the text was `doc`. A text that has changed since keeps its words: the places are not its own. */
  #apply(doc: Text, edits: Edit[]) {
    if (this.view.state.doc === doc) this.#owner.apply(edits);
    else this.#owner.say("the text has changed meanwhile");
  }

  /** Offers the changes of the selected part. */
  async fix() {
    const { doc } = this.view.state;
    const { from, to } = this.view.state.selection.main;
    const line = this.view.state.doc.lineAt(from);
    const asked = async (from: number, to: number): Promise<OfferedAction[]> => this.#owner.ask("actions", { from, to }).catch(() => []);
    let list = await asked(from, to);
    if (list.length === 0) list = await asked(line.from, line.to);
    if (list.length === 0) return this.#owner.say("there is nothing to fix here");
    const chosen = await this.#owner.choose("Change the text", list);
    if (chosen) this.#apply(doc, chosen.edits);
    this.view.focus();
  }

  async format() {
    const { doc } = this.view.state;
    const text = await this.#owner.ask("format").catch(() => null);
    if (this.view.state.doc !== doc) return this.#owner.say("the text has changed meanwhile");
    if (typeof text !== "string") return this.#owner.say("a text with syntax errors cannot be formatted");
    if (text === this.text()) return;
    // Only the part that differs is replaced, so that the cursor stays in place.
    const old = this.text();
    let from = 0;
    while (from < old.length && old[from] === text[from]) from += 1;
    let behind = 0;
    while (behind < Math.min(old.length, text.length) - from && old[old.length - 1 - behind] === text[text.length - 1 - behind]) behind += 1;
    this.view.dispatch({ changes: { from, to: old.length - behind, insert: text.slice(from, text.length - behind) } });
  }
}
