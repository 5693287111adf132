// The results: equations, drawings, causality, derivation, poles and responses, programs.
import uPlot from "uplot";
import { Unanswered, type Diagnostic } from "./client.js";
import { download, inline, make, picture } from "./dom.js";

/** The interface of the page for views. */
export interface Owner {
  ask(question: string, given?: object): Promise<any>;
  /** Selects a part of the text. */
  select(from: number, to: number): void;
  say(message: string): void;
  /** The name for downloads. */
  name(): string;
}

/** A view: a panel that is filled when it becomes visible, if the text has changed. */
export interface View {
  id: string;
  title: string;
  update(panel: HTMLElement, owner: Owner): Promise<void>;
}

/** Shows the reason for a missing result. An old result stays, but dimmed. */
export function refuse(panel: HTMLElement, error: unknown) {
  if (error instanceof Unanswered && error.isStopped) return;
  panel.classList.add("old");
  let note = panel.querySelector<HTMLElement>(":scope > .refusal");
  if (!note) panel.prepend((note = make("div", { className: "refusal", role: "status" })));
  const list = error instanceof Unanswered ? error.diagnostics.filter((entry) => entry.severity === "error") : [];
  const lines = list.slice(0, 5).map((entry) => make("li", {}, `${where(entry)}${entry.code}: ${entry.message}`));
  note.replaceChildren(list.length > 0 ? make("ul", {}, ...lines) : make("p", {}, error instanceof Error ? error.message : String(error)));
}

function where(entry: Diagnostic): string {
  return entry.line ? `line ${entry.line}: ` : "";
}

/** Fills a panel with a new result. */
export function fill(panel: HTMLElement, ...children: (Node | string)[]) {
  panel.classList.remove("old");
  panel.replaceChildren(...children);
}

export function button(label: string, run: () => void): HTMLButtonElement {
  const made = make("button", { type: "button" }, label);
  made.addEventListener("click", run);
  return made;
}

async function copy(owner: Owner, text: string, what: string) {
  try {
    await navigator.clipboard.writeText(text);
    owner.say(`${what} copied`);
  } catch {
    owner.say("the browser does not allow copying here");
  }
}

const equations: View = {
  id: "equations",
  title: "Equations",
  async update(panel, owner) {
    const html: string = await owner.ask("written", { as: "html" });
    const body = make("div", { className: "equations", tabIndex: 0, "aria-label": "equations" });
    body.innerHTML = html;
    const copied = (label: string, question: string, given: object) =>
      button(label, async () => {
        const found = await owner.ask(question, given).catch((error) => owner.say(error.message));
        if (found !== undefined) void copy(owner, typeof found === "string" ? found : `${JSON.stringify(found, null, 2)}\n`, label);
      });
    const bar = make("div", { className: "bar" }, "Copy:", copied("LaTeX", "written", { as: "latex" }), copied("text", "written", { as: "text" }),
      copied("JSON", "equations", {}), copied("numbers", "equations", { numeric: true }));
    fill(panel, bar, body);
    tie(panel as Tied, owner, body);
  },
};

/** Ties symbols with an element's name as their index to the element: pointing at one marks all of them, and a click selects the element. */
function tie(panel: Tied, owner: Owner, body: HTMLElement) {
  delete panel.places;
  panel.symbols = [...body.querySelectorAll("msub")].map((symbol) => ({ symbol, name: (symbol.children[1]?.textContent ?? "").normalize("NFKC") }));
  const places = async () => (panel.places ??= await owner.ask("drawing", { kind: "linear-graph" }).then((found) => found.places, () => ({})));
  const named = (event: Event) => panel.symbols?.find(({ symbol }) => symbol === (event.target as Element).closest("msub"))?.name;
  body.addEventListener("pointerover", async (event) => {
    const name = named(event);
    if (name && !(name in (await places())!)) return;
    for (const each of panel.symbols ?? []) each.symbol.classList.toggle("chosen", each.name === name);
  });
  body.addEventListener("click", async (event) => {
    const place = (await places())![named(event) ?? ""];
    if (place) owner.select(place.from, place.to);
  });
}

function drawing(id: string, title: string): View {
  return {
    id,
    title,
    async update(panel, owner) {
      const found = await owner.ask("drawing", { kind: id });
      const host = make("div", { className: "picture" });
      fill(panel, make("div", { className: "bar" }, button("SVG", () => download(`${owner.name()}.svg`, found.svg, "image/svg+xml"))), host);
      const svg = picture(host, found.svg);
      const places: Record<string, { from: number; to: number }> = found.places;
      for (const group of svg?.querySelectorAll<SVGGElement>("g[data-name]") ?? []) {
        const place = places[group.dataset["name"] ?? ""];
        if (!place) continue;
        group.style.cursor = "pointer";
        group.addEventListener("click", () => owner.select(place.from, place.to));
      }
      (panel as Tied).places = places;
    },
  };
}

interface Tied extends HTMLElement {
  places?: Record<string, { from: number; to: number }>;
  symbols?: { symbol: Element; name: string }[];
}

/** Marks the element at an offset of the text in the drawing or the equations of a panel. */
export function point(panel: HTMLElement, offset: number) {
  const { places, symbols } = panel as Tied;
  if (!places) return;
  const isThere = (name: string) => Boolean(places[name] && places[name].from <= offset && offset <= places[name].to);
  const groups = panel.querySelector(".picture")?.shadowRoot?.querySelectorAll<SVGGElement>("g[data-name]");
  for (const group of groups ?? []) group.classList.toggle("chosen", isThere(group.dataset["name"] ?? ""));
  for (const { symbol, name } of symbols ?? []) symbol.classList.toggle("chosen", isThere(name));
}

interface Play {
  steps: { bond: string; because: string; edges: number[] }[];
  open: { because: string; edges: number[] }[];
}

const causality: View = {
  id: "causality",
  title: "Causality",
  async update(panel, owner) {
    const found: { svg: string; play: Play; text: string } = await owner.ask("causality");
    const { steps, open } = found.play;
    const host = make("div", { className: "picture" });
    const field = make("input", { type: "range", min: "0", max: String(steps.length), "aria-label": "step of the assignment" });
    const count = make("output");
    const words = make("p", { className: "because", "aria-live": "polite" });
    const first = new Map<number, number>();
    steps.forEach((step, at) => step.edges.forEach((edge) => first.has(edge) || first.set(edge, at)));
    const never = new Set(open.flatMap((group) => group.edges));
    const svg = picture(host, found.svg);
    const halves = [...(svg?.querySelectorAll("g.half") ?? [])];
    const show = (at: number) => {
      const now = new Set(at > 0 ? steps[at - 1]!.edges : []);
      halves.forEach((half, edge) => {
        half.classList.toggle("waiting", !never.has(edge) && !((first.get(edge) ?? Infinity) < at));
        half.classList.toggle("now", at < steps.length && now.has(edge));
      });
      field.value = String(at);
      count.textContent = `${at} of ${steps.length}`;
      const step = steps[at - 1];
      words.textContent = step ? `${step.bond}: ${step.because}` : "No bond has its stroke yet.";
      if (at === steps.length) words.textContent += open.map((group) => ` ${group.because}`).join("");
    };
    const move = (by: number) => show(Math.min(Math.max(Number(field.value) + by, 0), steps.length));
    field.addEventListener("input", () => show(Number(field.value)));
    const bar = make("div", { className: "bar" }, button("Start", () => show(0)), button("Back", () => move(-1)), field, button("Next", () => move(1)),
      button("End", () => show(steps.length)), count);
    fill(panel, bar, words, host, make("pre", { className: "report", tabIndex: 0 }, found.text));
    show(steps.length);
  },
};

const derivation: View = {
  id: "derivation",
  title: "Derivation",
  async update(panel, owner) {
    const pieces: { heading?: string; words?: string; html?: string; number?: number }[] = await owner.ask("derivation");
    const body = pieces.map((piece) => {
      if (piece.heading) return make("h3", {}, piece.heading);
      const formula = make("span", { className: "math" });
      formula.innerHTML = piece.html ?? "";
      return make("div", { className: "step" }, make("span", { className: "number" }, `(${piece.number})`), make("div", {}, piece.words ? inline(make("p"), `${piece.words}:`) : null, formula));
    });
    fill(panel, make("div", { className: "derivation", tabIndex: 0 }, ...body));
  },
};

const TARGETS = ["c", "rust", "python", "matlab", "julia", "casadi", "modelica", "fmu3", "fmu2"];

const code: View = {
  id: "code",
  title: "Code",
  async update(panel, owner) {
    const target = panel.querySelector("select")?.value ?? "c";
    const select = make("select", { "aria-label": "language" }, ...TARGETS.map((name) => make("option", { value: name, selected: name === target }, name)));
    select.addEventListener("change", () => void code.update(panel, owner).catch((error) => refuse(panel, error)));
    let found: { files: { path: string; text: string }[]; zip: string; remarks: string[] };
    try {
      found = await owner.ask("emit", { target });
    } catch (error) {
      fill(panel, make("div", { className: "bar" }, select));
      throw error;
    }
    const bytes = Uint8Array.from(found.zip.match(/../g) ?? [], (pair) => parseInt(pair, 16));
    const about = target.startsWith("fmu") ? "The archive contains the sources of the FMU; compile them with any C compiler." : "";
    const bar = make("div", { className: "bar" }, select, button("Download", () => download(`${owner.name()}-${target}.zip`, bytes, "application/zip")), about);
    const files = found.files.map((file, at) => make("details", { open: at === 0 }, make("summary", {}, file.path), make("pre", { tabIndex: 0 }, file.text)));
    fill(panel, bar, ...files);
  },
};

/** The colours of curves, readable on light and dark backgrounds. */
export const CURVES = ["#2f7ed8", "#d9541e", "#2a9d5c", "#9b59c4", "#c79a00", "#0aa3b0", "#d0467f", "#7a7a7a"];

export function ink(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** A value in the legend of a plot. */
export function legend(_: uPlot, value: number | null): string {
  return value === null || value === undefined ? "--" : String(Number(value.toPrecision(6)));
}

/** The options of an axis of a plot. */
export function axis(label: string, extra: Partial<uPlot.Axis> = {}): uPlot.Axis {
  const grid = { stroke: ink("--rule"), width: 1 };
  const values = (_: uPlot, splits: (number | null)[]) => splits.map((split) => (split === null ? "" : String(Number(split.toPrecision(10)))));
  return { label, values, labelSize: 18, labelGap: -4, size: 36, stroke: ink("--soft"), grid, ticks: grid, font: "12px system-ui", labelFont: "12px system-ui", ...extra };
}

const poles: View = {
  id: "poles",
  title: "Poles",
  async update(panel, owner) {
    const found: { poles: { real: number; imaginary: number; omega: number; damping: number | null }[]; linearized: boolean } = await owner.ask("poles");
    const number = (value: number | null) => (value === null ? "" : String(Number(value.toPrecision(6))));
    const rows = found.poles.map((pole) => make("tr", {}, ...[pole.real, pole.imaginary, pole.omega, pole.damping].map((value) => make("td", {}, number(value)))));
    const head = ["real (1/s)", "imaginary (1/s)", "natural frequency (rad/s)", "damping ratio"].map((words) => make("th", { scope: "col" }, words));
    const about = found.linearized ? make("p", {}, "The equations are nonlinear. These results hold for small motions about the initial values.") : null;
    const table = make("div", { className: "scroll", tabIndex: 0 }, make("table", {}, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows)));
    const response = make("div");
    fill(panel, ...[about, make("h3", {}, "Poles"), rows.length > 0 ? plane(found.poles) : null, rows.length > 0 ? table : make("p", {}, "The model has no states."),
      make("h3", {}, "Frequency response"), response].filter((part): part is HTMLElement => part !== null));
    try {
      bode(response, await owner.ask("response"));
    } catch (error) {
      refuse(response, error);
    }
  },
};

/** Draws poles in the s-plane. */
function plane(list: { real: number; imaginary: number }[]): HTMLElement {
  const most = Math.max(...list.flatMap((pole) => [Math.abs(pole.real), Math.abs(pole.imaginary)]), 1e-300) * 1.15;
  const crosses = list.map(({ real, imaginary }) => {
    const [x, y] = [(100 * real) / most, (-100 * imaginary) / most].map((value) => value.toFixed(2));
    return `<path d="M${x} ${y}m-3 -3l6 6m0 -6l-6 6"><title>${real} ${imaginary < 0 ? "-" : "+"} ${Math.abs(imaginary)}j</title></path>`;
  });
  const host = make("div", { className: "plane" });
  host.innerHTML = `<svg viewBox="-110 -110 220 220" role="img" aria-label="poles in the s-plane"><path class="axes" d="M-105 0H105M0 -105V105"/>${crosses.join("")}</svg>`;
  return host;
}

function bode(host: HTMLElement, found: { omega: number[]; H: Record<string, [number | null, number | null][]> }) {
  const pairs = Object.entries(found.H);
  const decibel = pairs.map(([, values]) => values.map(([re, im]) => (re === null || im === null ? null : 20 * Math.log10(Math.hypot(re, im)))));
  const degrees = pairs.map(([, values]) => {
    let turns = 0;
    let last: number | undefined;
    return values.map(([re, im]) => {
      if (re === null || im === null) return null;
      const angle = (Math.atan2(im, re) * 180) / Math.PI;
      if (last !== undefined && angle - last > 180) turns -= 360;
      if (last !== undefined && angle - last < -180) turns += 360;
      last = angle;
      return angle + turns;
    });
  });
  const series = pairs.map(([name], at): uPlot.Series => ({ label: name.replace("->", " \u2192 "), stroke: CURVES[at % CURVES.length], width: 1.6, value: legend }));
  const width = Math.max(host.clientWidth, 240);
  for (const [label, data] of [["magnitude (dB)", decibel], ["phase (degrees)", degrees]] as const) {
    const options: uPlot.Options = {
      width,
      height: 220,
      scales: { x: { time: false, distr: 3 } },
      axes: [axis("angular frequency (rad/s)"), axis(label, { size: 56 })],
      series: [{ label: "rad/s", value: legend }, ...series],
      cursor: { sync: { key: "bode" } },
    };
    new uPlot(options, [found.omega, ...data] as uPlot.AlignedData, host);
  }
}

/** All views that show results of the text alone. */
export const VIEWS: View[] = [equations, drawing("linear-graph", "Linear graph"), drawing("bond-graph", "Bond graph"), causality, derivation, poles, code];
