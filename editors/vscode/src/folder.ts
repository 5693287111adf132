// Checks all models of the folders that are open, on request.

import * as vscode from "vscode";
import { type LanguageClient } from "vscode-languageclient/node";

/** What the server answers to `workspace/diagnostic`. */
interface Report {
  items: { uri: string; version: number | null; items: Parameters<LanguageClient["protocol2CodeConverter"]["asDiagnostics"]>[0] }[];
}

/** The faults of models that are not open. A text that is opened has those that the server finds in it as it is typed. */
export class FolderCheck implements vscode.Disposable {
  private readonly found = vscode.languages.createDiagnosticCollection("lgm folder");
  private readonly opening = vscode.workspace.onDidOpenTextDocument((document) => this.found.delete(document.uri));

  constructor(private readonly client: () => LanguageClient | undefined) {}

  async run(): Promise<void> {
    const client = this.client();
    if (!client) {
      return;
    }
    const task = () => client.sendRequest<Report>("workspace/diagnostic", { previousResultIds: [] });
    const shown = { location: vscode.ProgressLocation.Window, title: "lgm: checking the folder" };
    let report: Report;
    try {
      report = await vscode.window.withProgress(shown, task);
    } catch (error) {
      void vscode.window.showErrorMessage(error instanceof Error ? error.message : String(error));
      return;
    }
    this.found.clear();
    let faults = 0;
    for (const { uri, version, items } of report.items) {
      faults += items.length;
      if (version === null && items.length > 0) {
        this.found.set(vscode.Uri.parse(uri), await client.protocol2CodeConverter.asDiagnostics(items));
      }
    }
    const models = report.items.length === 1 ? "1 file" : `${report.items.length} files`;
    void vscode.window.setStatusBarMessage(`lgm: ${models} checked, ${faults === 0 ? "no problems" : `problems: ${faults}`}`, 8000);
    if (faults > 0) {
      await vscode.commands.executeCommand("workbench.actions.view.problems");
    }
  }

  dispose(): void {
    this.opening.dispose();
    this.found.dispose();
  }
}
