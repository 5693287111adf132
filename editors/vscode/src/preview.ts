// A pane beside the text: the equations of its model as MathML, the plot of its experiment, and its drawings. It follows the text.

import { randomBytes } from "node:crypto";
import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import { type Answer, page, TABS, tabOf } from "./page";

export { type Answer, page };

/** A message of the page. */
interface Said {
  /** The tab that was chosen. */
  tab?: string;
  /** The element that is pointed at; null if there is none. */
  over?: string | null;
  /** The element whose line is wanted. */
  open?: string;
  /** A parameter that was set, and its value. */
  name?: string;
  value?: number;
  /** True if all values are to be those of the text again. */
  reset?: boolean;
}

/** How long after the last keystroke the pane is made anew. */
const QUIET = 400;

export class Preview implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private shown: vscode.Uri | undefined;
  private part = "equations";
  /** The model of the text that is shown; without a name the last one. */
  private model: string | undefined;
  private timer: NodeJS.Timeout | undefined;
  private asked = 0;
  /** Values of parameters that were set in the pane. */
  private set: Record<string, number> = {};
  private places: Record<string, number> = {};
  private readonly mark = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor("editor.wordHighlightBackground"),
  });
  private readonly listening: vscode.Disposable;

  constructor(private readonly client: () => LanguageClient | undefined) {
    this.listening = vscode.Disposable.from(
      vscode.workspace.onDidChangeTextDocument((change) => this.changed(change.document)),
      vscode.window.onDidChangeActiveTextEditor((editor) => {
        if (editor?.document.languageId === "lgm" && this.panel) {
          if (this.shown?.toString() !== editor.document.uri.toString()) {
            this.model = undefined;
            this.set = {};
          }
          this.shown = editor.document.uri;
          void this.refresh();
        }
      }),
      vscode.window.onDidChangeTextEditorSelection((change) => this.pointed(change.textEditor)),
    );
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.listening.dispose();
    this.mark.dispose();
    this.panel?.dispose();
  }

  /** Opens the pane for a text, or for that of the active editor; `part` is what stands first, and `model` the one that is meant. */
  async show(uri?: string | vscode.Uri, part?: string, model?: string): Promise<void> {
    const active = vscode.window.activeTextEditor?.document;
    const given = typeof uri === "string" ? vscode.Uri.parse(uri) : uri;
    this.shown = given ?? (active?.languageId === "lgm" ? active.uri : this.shown);
    if (!this.shown) {
      void vscode.window.showInformationMessage("Open a model first: a file that ends in `.lgm`.");
      return;
    }
    this.part = part ?? "equations";
    this.model = typeof model === "string" ? model : undefined;
    if (!this.panel) {
      const place = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true };
      this.panel = vscode.window.createWebviewPanel("lgm.preview", "lgm", place, { enableScripts: true, localResourceRoots: [] });
      this.panel.onDidDispose(() => (this.panel = undefined));
      this.panel.webview.onDidReceiveMessage((said: Said) => this.said(said));
    }
    await this.refresh();
  }

  private changed(document: vscode.TextDocument): void {
    if (this.panel && document.languageId === "lgm") {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => void this.refresh(), QUIET);
    }
  }

  private async refresh(): Promise<void> {
    const [uri, turn] = [this.shown, ++this.asked];
    if (!uri) {
      return;
    }
    try {
      const parts = TABS[tabOf(this.part)]?.parts;
      const params = { textDocument: { uri: uri.toString() }, model: this.model, parts, set: this.set };
      const answer = await this.client()?.sendRequest<Answer>("lgm/preview", params);
      // An answer that a later question has overtaken is not shown.
      if (this.panel && answer && turn === this.asked) {
        this.panel.title = answer.title;
        this.places = answer.places ?? {};
        this.panel.webview.html = page(answer, this.part, randomBytes(16).toString("hex"), this.set);
      }
    } catch {
      // The text has changed since, and is asked for again; what was shown stays.
    }
  }

  private said(said: Said): void {
    if (said.tab !== undefined) {
      this.part = said.tab;
      void this.refresh();
    } else if (said.name !== undefined && typeof said.value === "number") {
      this.set[said.name] = said.value;
      void this.refresh();
    } else if (said.reset) {
      this.set = {};
      void this.refresh();
    } else if (said.over !== undefined) {
      this.markLine(said.over === null ? undefined : this.places[said.over]);
    } else if (said.open !== undefined) {
      void this.open(this.places[said.open]);
    }
  }

  private editor(): vscode.TextEditor | undefined {
    const uri = this.shown?.toString();
    return vscode.window.visibleTextEditors.find((editor) => editor.document.uri.toString() === uri);
  }

  /** Marks the line of an element in the text; without one, no line. */
  private markLine(line: number | undefined): void {
    const ranges = line === undefined ? [] : [new vscode.Range(line, 0, line, 0)];
    this.editor()?.setDecorations(this.mark, ranges);
  }

  private async open(line: number | undefined): Promise<void> {
    if (line === undefined || !this.shown) {
      return;
    }
    const place = new vscode.Range(line, 0, line, 0);
    await vscode.window.showTextDocument(this.shown, { selection: place, viewColumn: vscode.ViewColumn.One });
  }

  /** Marks the elements of the line in which the pointer of the text stands. */
  private pointed(editor: vscode.TextEditor): void {
    if (this.panel && editor.document.uri.toString() === this.shown?.toString()) {
      const line = editor.selection.active.line;
      const lit = Object.keys(this.places).filter((name) => this.places[name] === line);
      void this.panel.webview.postMessage({ lit });
    }
  }
}
