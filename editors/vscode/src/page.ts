// The page of the pane: equations and run, the linear graph, the bond graph; sliders of parameters; ties between all of them.

/** The server's answer to `lgm/preview`. */
export interface Answer {
  /** The name of the model. */
  title: string;
  /** The equations: HTML with MathML. */
  equations: string;
  /** The plot: SVG; null if there was no run. */
  plot: string | null;
  /** The drawings: SVG; null where they were not asked for, or cannot be. */
  linear?: string | null;
  bonds?: string | null;
  /** Notes beside them: the reasons for which there is no plot, or no equations. */
  notes: string[];
  /** True if a line is half-written: then all this is of the model as it was before. */
  held?: boolean;
  /** The parameters that can be set, with their values in the text, in SI. */
  parameters?: { name: string; value: number; unit: string | null }[];
  /** The lines of the text that declare the elements. */
  places?: Record<string, number>;
}

/** The tabs, with the parts that each asks for. */
export const TABS: Record<string, { title: string; parts: string[] }> = {
  equations: { title: "Equations and run", parts: ["equations", "plot"] },
  linear: { title: "Linear graph", parts: ["linear"] },
  bonds: { title: "Bond graph", parts: ["bonds"] },
};

/** The tab in which a part stands. */
export function tabOf(part: string): string {
  return part in TABS ? part : "equations";
}

const escape = (text: string) =>
  text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");

/** A slider over a factor of 10 to both sides, or where that has no sense over as much below zero as above. */
function slider(parameter: { name: string; value: number; unit: string | null }, set: Record<string, number>): string {
  const { name, value, unit } = parameter;
  const now = set[name] ?? value;
  const scale = value > 0 ? "log" : "linear";
  const reach = value > 0 ? 1 : Math.abs(value) || 1;
  const at = value > 0 ? Math.log10(Math.max(now, value / 10) / value) : now - value;
  return `<label title="${escape(name)}"><span>${escape(name)}</span>
<input type="range" min="${-reach}" max="${reach}" step="any" value="${at}" data-set="${escape(name)}" data-scale="${scale}" data-from="${value}">
<output>${Number(now.toPrecision(4))}</output> ${escape(unit ?? "")}</label>`;
}

/** The script of the page: it reports what is pointed at and set, and marks the places that the editor names. */
const SCRIPT = `
const api = acquireVsCodeApi();
const nameAt = (target) => {
  const drawn = target.closest && target.closest("[data-name]");
  const sub = target.closest && target.closest("msub");
  return drawn ? drawn.dataset.name : sub ? sub.lastElementChild.textContent : undefined;
};
const mark = (names) => {
  for (const each of document.querySelectorAll(".lit")) each.classList.remove("lit");
  for (const each of document.querySelectorAll("[data-name]")) {
    if (names.includes(each.dataset.name)) each.classList.add("lit");
  }
  for (const each of document.querySelectorAll("msub")) {
    if (names.includes(each.lastElementChild.textContent)) each.classList.add("lit");
  }
};
let last;
document.addEventListener("mouseover", (event) => {
  const name = nameAt(event.target);
  if (name === last) return;
  last = name;
  mark(name ? [name] : []);
  api.postMessage({ over: name ?? null });
});
document.addEventListener("click", (event) => {
  const name = nameAt(event.target);
  const tab = event.target.closest && event.target.closest("[data-tab]");
  if (tab) api.postMessage({ tab: tab.dataset.tab });
  else if (event.target.id === "reset") api.postMessage({ reset: true });
  else if (name) api.postMessage({ open: name });
});
const valueOf = (input) => {
  const [at, from] = [Number(input.value), Number(input.dataset.from)];
  return input.dataset.scale === "log" ? from * 10 ** at : from + at;
};
for (const input of document.querySelectorAll("[data-set]")) {
  input.addEventListener("input", () => (input.nextElementSibling.textContent = Number(valueOf(input).toPrecision(4))));
  input.addEventListener("change", () => api.postMessage({ name: input.dataset.set, value: valueOf(input) }));
}
window.addEventListener("message", (event) => mark(event.data.lit ?? []));
`;

/** The page of an answer. Nothing is loaded, and only the script above runs. */
export function page(answer: Answer, part: string, nonce = "", set: Record<string, number> = {}): string {
  const tab = tabOf(part);
  const notes = answer.notes.map((note) => `<p class="note">${escape(note)}</p>`).join("\n");
  const drawn = (picture?: string | null) => (picture ? `<div class="plot">${picture}</div>` : "");
  const pictures = [drawn(answer.linear), drawn(answer.bonds)];
  const parts = part === "plot" ? [drawn(answer.plot), answer.equations] : [answer.equations, drawn(answer.plot)];
  const tabs = Object.entries(TABS).map(
    ([name, { title }]) => `<button data-tab="${name}"${name === tab ? ' class="chosen"' : ""}>${title}</button>`,
  );
  const sliders = tab === "equations" ? (answer.parameters ?? []).map((each) => slider(each, set)) : [];
  const own = sliders.length
    ? `<details${Object.keys(set).length ? " open" : ""}><summary>Parameters</summary>${sliders.join("\n")}
<button id="reset">As in the text</button></details>`
    : "";
  const script = nonce ? `<script nonce="${nonce}">${SCRIPT}</script>` : "";
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:;${nonce ? ` script-src 'nonce-${nonce}';` : ""}">
<title>${escape(answer.title)}</title>
<style>
  body { font-family: var(--vscode-font-family); color: var(--vscode-editor-foreground); padding: 0 1em; }
  h2 { font-size: 1.05em; border-bottom: 1px solid var(--vscode-panel-border); }
  .note { color: var(--vscode-descriptionForeground); }
  .plot { background: #fff; border-radius: 4px; margin: 1em 0; }
  .plot svg { max-width: 100%; height: auto; }
  .held { opacity: 0.55; }
  nav { margin: 0.6em 0; }
  button { background: none; border: none; border-bottom: 2px solid transparent; color: inherit; cursor: pointer; font: inherit; padding: 0.3em 0.7em; }
  button.chosen { border-bottom-color: var(--vscode-focusBorder, #07c); }
  label { display: grid; grid-template-columns: 11em 1fr 6em 5em; gap: 0.6em; align-items: center; }
  label span { overflow: hidden; text-overflow: ellipsis; }
  g.lit { filter: drop-shadow(0 0 3px #f80); }
  msub.lit { background: var(--vscode-editor-wordHighlightBackground, #fc06); }
</style>
</head>
<body>
${nonce ? `<nav>${tabs.join("")}</nav>` : ""}
${notes}
<main${answer.held ? ' class="held"' : ""}>
${nonce ? own : ""}
${[...parts, ...pictures].join("\n")}
</main>
${script}
</body>
</html>`;
}
