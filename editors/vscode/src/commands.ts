// Commands that run the `lgm` program once.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import * as path from "node:path";
import * as vscode from "vscode";

const run = promisify(execFile);

/** What the program says of a failure. */
function reason(error: unknown): string {
  if (error && typeof error === "object" && "stderr" in error && error.stderr) {
    return String(error.stderr).trim();
  }
  return error instanceof Error ? error.message : String(error);
}

/** Shows the page of a code; the code under the pointer is offered. */
export async function explain(): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  const here = editor?.selection.active;
  const faults = editor && here ? vscode.languages.getDiagnostics(editor.document.uri) : [];
  const fault = faults.find((fault) => here && fault.range.contains(here));
  const known = typeof fault?.code === "object" ? fault.code.value : fault?.code;
  const code = await vscode.window.showInputBox({
    prompt: "A diagnostic code",
    placeHolder: "LGM0301",
    value: known ? String(known) : "",
  });
  if (!code) {
    return;
  }
  const page = pageOf(code);
  if (!page) {
    void vscode.window.showErrorMessage(`\`${code}\` is no code: one is \`LGM\` and up to four digits.`);
    return;
  }
  // Rendered, and nothing that could be saved.
  await vscode.commands.executeCommand("markdown.showPreviewToSide", vscode.Uri.parse(page));
}

/** The text that the server has of a code, as `LGM0301`, `lgm301` or `301`. */
export function pageOf(code: string): string | undefined {
  const number = /^(?:lgm)?(\d{1,4})$/i.exec(code.trim())?.[1];
  return number && `lgm-library:/docs/codes/LGM${number.padStart(4, "0")}.md`;
}

/** Kinds of models that `lgm new` has. */
async function kinds(program: string): Promise<vscode.QuickPickItem[]> {
  const { stdout } = await run(program, ["new", "--list"]);
  const lines = stdout.split("\n").filter((line) => line.includes("\t"));
  return lines.map((line) => {
    const [label = "", description = ""] = line.split("\t");
    return { label, description };
  });
}

/** Makes a new model in the first folder of the workspace, and opens it. */
export async function newModel(program: string): Promise<void> {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  if (!folder) {
    void vscode.window.showErrorMessage("Open a folder first: the new model is a file in it.");
    return;
  }
  try {
    const kind = await vscode.window.showQuickPick(await kinds(program), { placeHolder: "What kind of model?" });
    const name = kind && (await vscode.window.showInputBox({ prompt: "The name of the file", value: "model" }));
    if (!name) {
      return;
    }
    await run(program, ["new", name, "--kind", kind.label], { cwd: folder });
    const file = vscode.Uri.file(path.join(folder, name.endsWith(".lgm") ? name : `${name}.lgm`));
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(file));
  } catch (error) {
    void vscode.window.showErrorMessage(reason(error));
  }
}
