// The extension starts `lgm lsp` and hands the editor's questions to it; what it adds is a pane for equations and runs.

import * as vscode from "vscode";
import { LanguageClient, type LanguageClientOptions, type ServerOptions, State, Trace } from "vscode-languageclient/node";
import { explain, newModel } from "./commands";
import { find } from "./program";
import { Preview } from "./preview";

/** What other extensions and the tests can reach. */
export interface Api {
  /** The connection to the server; none if the program could not be started. */
  readonly client: () => LanguageClient | undefined;
}

/** The scheme of the texts that the server holds: those of the standard library, and the pages of codes. */
const LIBRARY = "lgm-library";

let client: LanguageClient | undefined;

/** What of the settings the server reads. */
function serverSettings(): object {
  const settings = vscode.workspace.getConfiguration("lgm");
  return {
    inlayHints: {
      causality: settings.get("inlayHints.causality", true),
      values: settings.get("inlayHints.values", true),
      domains: settings.get("inlayHints.domains", true),
    },
    codeLenses: settings.get("codeLenses", true),
    include: settings.get<string[]>("include", []),
    // Their pages are texts of the scheme below, which this extension opens.
    codeLinks: true,
  };
}

/** The `lgm` program. */
export function program(): string {
  return vscode.workspace.getConfiguration("lgm").get("path", "lgm") || "lgm";
}

/** Says once what is in the way of the server, and leads to the setting. */
function refuse(words: string): void {
  const settings = "Open Settings";
  void vscode.window.showErrorMessage(words, settings).then((chosen) => {
    if (chosen === settings) {
      void vscode.commands.executeCommand("workbench.action.openSettings", "@id:lgm.path");
    }
  });
}

async function start(log: vscode.LogOutputChannel): Promise<void> {
  const found = find(program(), process.env.PATH ?? "");
  if (typeof found !== "string") {
    log.error(found.words, found.folders.join("\n"));
    refuse(found.words);
    return;
  }
  const server: ServerOptions = { command: found, args: ["lsp"] };
  const options: LanguageClientOptions = {
    documentSelector: [{ language: "lgm" }],
    outputChannel: log,
    initializationOptions: serverSettings(),
    // Without this, the client asks for diagnostics when a text is opened, and never again.
    diagnosticPullOptions: { onChange: true, onSave: true, onTabs: true },
  };
  const started = new LanguageClient("lgm", "lgm", server, options);
  try {
    await started.start();
  } catch (error) {
    refuse(`\`${found} lsp\` cannot be started: ${error instanceof Error ? error.message : error}`);
    return;
  }
  client = started;
  await trace();
}

async function stop(): Promise<void> {
  const running = client;
  client = undefined;
  if (running?.state === State.Running) {
    await running.stop();
  }
}

async function trace(): Promise<void> {
  const word = vscode.workspace.getConfiguration("lgm").get("trace.server", "off");
  await client?.setTrace(Trace.fromString(word));
}

async function settingsChanged(change: vscode.ConfigurationChangeEvent, log: vscode.LogOutputChannel): Promise<void> {
  if (change.affectsConfiguration("lgm.path")) {
    await stop();
    await start(log);
  } else if (change.affectsConfiguration("lgm.trace.server")) {
    await trace();
  } else if (change.affectsConfiguration("lgm")) {
    await client?.sendNotification("workspace/didChangeConfiguration", { settings: { lgm: serverSettings() } });
  }
}

/** Shows texts of the standard library, and pages of codes, as documents that cannot be changed. */
const library: vscode.TextDocumentContentProvider = {
  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const answer = await client?.sendRequest<{ text: string } | null>("lgm/libraryText", { uri: uri.toString() });
    return answer?.text ?? "";
  },
};

export async function activate(context: vscode.ExtensionContext): Promise<Api> {
  const log = vscode.window.createOutputChannel("lgm", { log: true });
  const preview = new Preview(() => client);
  context.subscriptions.push(
    log,
    preview,
    vscode.workspace.registerTextDocumentContentProvider(LIBRARY, library),
    vscode.workspace.onDidChangeConfiguration((change) => settingsChanged(change, log)),
    // The lenses above a model give all three; the menu gives a URI at most.
    vscode.commands.registerCommand("lgm.preview", (uri?: string | vscode.Uri, part?: string, model?: string) =>
      preview.show(uri, part, model),
    ),
    vscode.commands.registerCommand("lgm.log", () => log.show()),
    vscode.commands.registerCommand("lgm.explain", () => explain()),
    vscode.commands.registerCommand("lgm.new", () => newModel(program())),
    vscode.commands.registerCommand("lgm.restart", async () => {
      await stop();
      await start(log);
    }),
  );
  await start(log);
  return { client: () => client };
}

export async function deactivate(): Promise<void> {
  await stop();
}
