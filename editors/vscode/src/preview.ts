// A pane beside the text: the equations of its model as MathML, and the plot of its experiment. It follows the text.

import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";

/** What the server answers to `lgm/preview`. */
export interface Answer {
  /** The name of the model. */
  title: string;
  /** The equations: HTML with MathML. */
  equations: string;
  /** The plot: SVG; null if there was no run. */
  plot: string | null;
  /** What is to be said beside them: why there is no plot, or no equations. */
  notes: string[];
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
  private readonly listening: vscode.Disposable;

  constructor(private readonly client: () => LanguageClient | undefined) {
    this.listening = vscode.Disposable.from(
      vscode.workspace.onDidChangeTextDocument((change) => this.changed(change.document)),
      vscode.window.onDidChangeActiveTextEditor((editor) => {
        if (editor?.document.languageId === "lgm" && this.panel) {
          if (this.shown?.toString() !== editor.document.uri.toString()) {
            this.model = undefined;
          }
          this.shown = editor.document.uri;
          void this.refresh();
        }
      }),
    );
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.listening.dispose();
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
      this.panel = vscode.window.createWebviewPanel("lgm.preview", "lgm", place, { enableScripts: false });
      this.panel.onDidDispose(() => (this.panel = undefined));
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
      const params = { textDocument: { uri: uri.toString() }, model: this.model };
      const answer = await this.client()?.sendRequest<Answer>("lgm/preview", params);
      // An answer that a later question has overtaken is not shown.
      if (this.panel && answer && turn === this.asked) {
        this.panel.title = answer.title;
        this.panel.webview.html = page(answer, this.part);
      }
    } catch {
      // The text has changed since, and is asked for again; what was shown stays.
    }
  }
}

/** The page of an answer. Nothing in it runs, and nothing is loaded. */
export function page(answer: Answer, part: string): string {
  const escape = (text: string) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const notes = answer.notes.map((note) => `<p class="note">${escape(note)}</p>`).join("\n");
  const plot = answer.plot ? `<div class="plot">${answer.plot}</div>` : "";
  const parts = part === "plot" ? [plot, answer.equations] : [answer.equations, plot];
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:;">
<title>${escape(answer.title)}</title>
<style>
  body { font-family: var(--vscode-font-family); color: var(--vscode-editor-foreground); padding: 0 1em; }
  h2 { font-size: 1.05em; border-bottom: 1px solid var(--vscode-panel-border); }
  .note { color: var(--vscode-descriptionForeground); }
  .plot { background: #fff; border-radius: 4px; margin: 1em 0; }
  .plot svg { max-width: 100%; height: auto; }
</style>
</head>
<body>
${notes}
${parts.join("\n")}
</body>
</html>`;
}
