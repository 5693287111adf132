// The form of LG2ss: a graph matrix and an output matrix become A to F. Pourazadi, appendix A and section 5.3.
import { Unanswered } from "./client.js";
import { make } from "./dom.js";
import { button, fill } from "./views.js";

export interface Form {
  graph: string;
  outputs: string;
}

export interface Matrices {
  text: string;
  states: string[];
  inputs: string[];
  outputs: string[];
  A?: string[][];
  B?: string[][];
  C?: string[][];
  D?: string[][];
  E?: string[][];
  F?: string[][];
}

/** The examples of section 5.3. */
export const EXAMPLES: (Form & { title: string })[] = [
  { title: "Electrical circuit", graph: "[1 2 1 4;2 2 3 3;3 3 4 2;4 4 5 3;5 5 1 2;6 4 6 1;7 6 1 2]", outputs: "[1 6 1;2 5 2]" },
  { title: "Rotary motion with a gearbox", graph: "[1 2 1 4;2 2 3 2;3 3 1 3;4 3 1 1;5 3 1 6;6 4 1 6;7 4 1 1]", outputs: "[1 7 1]" },
  {
    title: "Robotic sewing system",
    graph: "[1 2 1 4;2 2 1 1;3 2 3 3;4 2 3 2;5 3 1 3;6 3 1 1;7 4 3 2;8 4 1 3;9 4 1 6;10 5 1 6;11 5 1 1;12 5 1 5]",
    outputs: "[1 4 2;2 7 3]",
  },
];

const NAMES = ["A", "B", "C", "D", "E", "F"] as const;

/** A matrix in the notation of LG2ss: `A = [0, 1], [-1, 0]`. */
function printed(name: string, rows: string[][]): string {
  return `${name} = ${rows.map((row) => `[${row.join(", ")}]`).join(", ") || "[]"}`;
}

/** The tab of the form. */
export function lg2ss(panel: HTMLElement, ask: (form: Form) => Promise<Matrices>, open: (text: string) => void) {
  const area = (label: string, value: string) => make("textarea", { rows: 5, value, spellcheck: false, "aria-label": label });
  const [graph, outputs] = [area("LG matrix", EXAMPLES[0]!.graph), area("output matrix", EXAMPLES[0]!.outputs)];
  outputs.rows = 2;
  const answer = make("div", { "aria-live": "polite" });
  const submit = async () => {
    try {
      const found = await ask({ graph: graph.value, outputs: outputs.value });
      const lines = NAMES.map((name) => printed(name, found[name] ?? []));
      const list = (title: string, names: string[]) => `${title} = [${names.join(", ")}]`;
      const words = found.A ? lines : ["The entries of A to F are too long: continue in the editor."];
      const text = [list("states", found.states), list("inputs", found.inputs), list("outputs", found.outputs), ...words].join("\n");
      const form = `LG matrix = ${graph.value.trim()}\nOutput matrix = ${outputs.value.trim()}\n`;
      fill(answer, make("pre", { className: "report", id: "lg2ss-matrices", tabIndex: 0 }, `${form}\n${text}`), make("div", { className: "bar" }, button("Continue in the editor", () => open(found.text))));
    } catch (error) {
      fill(answer, faults(error, { graph, outputs }));
    }
  };
  const examples = EXAMPLES.map((example) =>
    button(example.title, () => {
      graph.value = example.graph;
      outputs.value = example.outputs;
      void submit();
    }),
  );
  const form = make("form", { className: "lg2ss" }, make("label", {}, "LG matrix: [branch, tail node, head node, type] for each branch; node 1 is the ground", graph),
    make("label", {}, "Output matrix: [output, branch, type] for each output", outputs), make("div", { className: "bar" }, make("button", { type: "submit" }, "Submit"), "Examples:", ...examples));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void submit();
  });
  const types = make("p", { className: "about" }, "Element types: 1 A-type, 2 T-type, 3 D-type, 4 across source, 5 through source, 6 transformer, 7 gyrator. Output types: 1 across, 2 through, 3 integrated across, 4 integrated through.");
  fill(panel, form, types, answer);
  void submit();
}

/** The errors, each with its row and entry in a matrix; a click selects the entry. */
function faults(error: unknown, fields: Record<string, HTMLTextAreaElement>): HTMLElement {
  const list = error instanceof Unanswered ? error.diagnostics : [];
  if (list.length === 0) return make("p", { className: "refusal" }, String(error instanceof Error ? error.message : error));
  const lines = list.map((fault) => {
    const field = fields[fault.file ?? ""];
    const line = make("li", {}, `${fault.code}: ${fault.message}${fault.help ? ` (${fault.help})` : ""}`);
    if (!field || fault.line === null || fault.column === null) return line;
    const offset = (line: number, column: number) => field.value.split("\n").slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0) + column - 1;
    const from = offset(fault.line, fault.column);
    const to = offset(fault.end_line ?? fault.line, fault.end_column ?? fault.column);
    const before = field.value.slice(0, from);
    const inRow = before.slice(Math.max(before.lastIndexOf(";"), before.lastIndexOf("["), before.lastIndexOf("\n")) + 1);
    const row = (before.match(/;|\n(?=\s*\S)/g) ?? []).length + 1;
    const entry = inRow.trim() === "" ? 1 : inRow.trim().split(/[\s,]+/).length + (/[\s,]$/.test(inRow) ? 1 : 0);
    const name = fault.file === "graph" ? "LG matrix" : "output matrix";
    line.prepend(button(`${name}, row ${row}, column ${entry}`, () => {
      field.focus();
      field.setSelectionRange(from, Math.max(to, from + 1));
    }), " ");
    return line;
  });
  return make("ul", { className: "refusal" }, ...lines);
}
