// A run of the model in a separate worker, with sliders for the parameters.
import uPlot from "uplot";
import type { Client } from "./client.js";
import { make } from "./dom.js";
import { axis, button, CURVES, fill, ink, legend, refuse } from "./views.js";

/** The result of a run: see web/src/run.rs. */
export interface Result {
  time: number[];
  columns: Record<string, (number | null)[]>;
  about: Record<string, { unit: string | null; kind: string }>;
  plot: string[];
  events: { time: number; kind: string; element: string; from: string; to: string }[];
  notes: { diagnostics: { message: string }[] };
  failure: { diagnostics: { code: string; message: string; help: string | null }[] } | null;
}

export interface Parameter {
  name: string;
  value: number;
  unit: string | null;
}

/** The number of steps of a slider. */
const STEPS = 400;

/** A run that takes longer than this, in milliseconds, is replaced by a new one. */
const PATIENCE = 300;

/** The maximum number of drawn events; more would merge into a bar, so only their number is shown. */
const MOST_EVENTS = 200;

export class Runs {
  /** Values of parameters that the user has changed. */
  values: Record<string, number> = {};
  #client: Client;
  #open: () => object;
  #isOpen = false;
  #linear = new Set<string>();
  #plots = make("div", { className: "plots" });
  #sliders = make("div", { className: "sliders" });
  #stop = make("input", { type: "number", min: "0", step: "any", placeholder: "auto", "aria-label": "stop time in seconds" });
  #words = make("span", { className: "about", role: "status" });
  #cancel: HTMLButtonElement;
  #shown: uPlot[] = [];
  #names = "";
  #wanted: (() => void) | undefined;
  #panel: HTMLElement | undefined;
  onValues: () => void = () => {};

  constructor(client: Client, open: () => object) {
    this.#client = client;
    this.#open = open;
    this.#cancel = button("Stop", () => client.stop("the run was stopped"));
    this.#cancel.hidden = true;
    client.onReplaced = () => (this.#isOpen = false);
    client.onBusy = (busy) => setTimeout(() => (this.#cancel.hidden = !(busy && client.busySince)), busy ? 200 : 0);
    this.#stop.addEventListener("change", () => void this.#again());
  }

  /** Marks the worker's text as outdated. */
  changed() {
    this.#isOpen = false;
  }

  /** Runs the current text. An obsolete run is ended. */
  async ask(given: object): Promise<Result> {
    const busy = this.#client.busySince;
    if (busy && performance.now() - busy > PATIENCE) this.#client.stop("superseded");
    if (!this.#isOpen) {
      this.#isOpen = true;
      void this.#client.ask("open", this.#open()).catch(() => {});
    }
    return this.#client.ask("simulate", given);
  }

  async update(panel: HTMLElement, parameters: Parameter[]) {
    this.#panel = panel;
    this.#showSliders(parameters);
    if (!this.#plots.isConnected || panel.classList.contains("old")) {
      const stop = make("label", {}, "Stop time (s) ", this.#stop);
      fill(panel, make("div", { className: "bar" }, stop, this.#cancel, this.#words), this.#plots, make("h3", {}, "Parameters"), this.#sliders);
    }
    await this.#again();
  }

  /** Runs again; during a run, only the latest request is kept. */
  async #again() {
    if (this.#wanted) {
      this.#wanted = () => {};
      const busy = this.#client.busySince;
      if (busy && performance.now() - busy > PATIENCE) this.#client.stop("superseded");
      return;
    }
    const panel = this.#panel!;
    let again = true;
    while (again) {
      const mark = () => {};
      this.#wanted = mark;
      const stop = Number(this.#stop.value);
      try {
        const started = performance.now();
        const result = await this.ask({ parameters: this.values, ...(stop > 0 ? { stop } : {}) });
        this.#draw(panel, result, performance.now() - started);
      } catch (error) {
        refuse(panel, error);
      }
      again = this.#wanted !== mark;
      this.#wanted = undefined;
    }
  }

  #showSliders(parameters: Parameter[]) {
    const names = JSON.stringify(parameters);
    if (names === this.#names) return;
    this.#names = names;
    const known = new Set(parameters.map((parameter) => parameter.name));
    for (const name of Object.keys(this.values)) if (!known.has(name)) delete this.values[name];
    this.#sliders.replaceChildren(...parameters.map((parameter) => this.#slider(parameter)));
    if (parameters.length === 0) this.#sliders.append(make("p", {}, "The model has no parameters with numbers."));
  }

  #slider(parameter: Parameter): HTMLElement {
    const { name, value, unit } = parameter;
    const field = make("input", { type: "range", min: "0", max: String(STEPS), "aria-label": name });
    const number = make("input", { type: "number", step: "any", "aria-label": `value of ${name}` });
    const isLogarithmic = () => value > 0 && !this.#linear.has(name);
    // A logarithmic slider covers two decades about the model's value, a linear one from 0 (or -1) to twice the value.
    const size = Math.abs(value) || 1;
    const low = value === 0 ? -1 : 0;
    const at = (share: number) => (isLogarithmic() ? value * 10 ** (2 * share - 1) : Math.sign(value || 1) * size * (low + share * (2 - low)));
    const share = (of: number) => (isLogarithmic() ? (Math.log10(of / value) + 1) / 2 : ((of * Math.sign(value || 1)) / size - low) / (2 - low));
    const show = (of: number) => {
      field.value = String(Math.round(share(of) * STEPS));
      number.value = String(Number(of.toPrecision(6)));
    };
    const set = (of: number) => {
      if (of === value) delete this.values[name];
      else this.values[name] = of;
      this.onValues();
      void this.#again();
    };
    field.addEventListener("input", () => {
      const of = Number(at(Number(field.value) / STEPS).toPrecision(4));
      number.value = String(of);
      set(of);
    });
    number.addEventListener("change", () => {
      const of = Number(number.value);
      if (number.value === "" || !Number.isFinite(of)) return show(this.values[name] ?? value);
      show(of);
      set(of);
    });
    const kind = button(isLogarithmic() ? "log" : "lin", () => {
      if (this.#linear.has(name)) this.#linear.delete(name);
      else this.#linear.add(name);
      kind.textContent = isLogarithmic() ? "log" : "lin";
      show(this.values[name] ?? value);
    });
    kind.title = "logarithmic or linear";
    kind.disabled = value <= 0;
    const reset = button("Reset", () => {
      show(value);
      set(value);
    });
    show(this.values[name] ?? value);
    return make("div", { className: "slider" }, make("code", {}, name), field, number, make("span", { className: "unit" }, unit ?? ""), kind, reset);
  }

  #draw(panel: HTMLElement, result: Result, took: number) {
    panel.classList.remove("old");
    panel.querySelector(":scope > .refusal")?.remove();
    const all = Object.keys(result.columns);
    const outputs = all.filter((name) => result.about[name]?.kind === "output");
    const wanted = result.plot.filter((name) => result.columns[name]);
    const names = wanted.length > 0 ? wanted : outputs.length > 0 ? outputs : all;
    const failure = result.failure?.diagnostics[0];
    const events = result.events.length > 0 ? `, ${result.events.length} event${result.events.length > 1 ? "s" : ""}` : "";
    this.#words.textContent = failure ? `${failure.code}: ${failure.message}` : `${result.time.length} samples${events}, ${took.toFixed(0)} ms`;
    this.#words.title = result.notes.diagnostics.map((note) => note.message).join("\n");
    const units = new Map<string, string[]>();
    for (const name of names) {
      const unit = result.about[name]?.unit ?? "";
      units.set(unit, [...(units.get(unit) ?? []), name]);
    }
    const groups = [...units].slice(0, 6);
    const layout = JSON.stringify(groups) + this.#plots.clientWidth + matchMedia("(prefers-color-scheme: dark)").matches;
    const data = groups.map(([, list]) => [result.time, ...list.map((name) => result.columns[name])] as uPlot.AlignedData);
    if (this.#plots.dataset["layout"] === layout) {
      // A moved slider changes only numbers.
      this.#shown.forEach((plot, at) => plot.setData(data[at]!));
    } else {
      this.#plots.dataset["layout"] = layout;
      for (const plot of this.#shown) plot.destroy();
      this.#shown = groups.map(([unit, list], at) => this.#plot(unit, list, data[at]!));
    }
    this.#marks = result.events.length <= MOST_EVENTS ? result.events.map((event) => event.time) : [];
    for (const plot of this.#shown) plot.redraw(false);
  }

  #marks: number[] = [];

  #plot(unit: string, names: string[], data: uPlot.AlignedData): uPlot {
    const drawEvents = (plot: uPlot) => {
      const { ctx, bbox } = plot;
      ctx.save();
      ctx.strokeStyle = ink("--rule");
      ctx.beginPath();
      for (const time of this.#marks) {
        const x = plot.valToPos(time, "x", true);
        if (x < bbox.left || x > bbox.left + bbox.width) continue;
        ctx.moveTo(x, bbox.top);
        ctx.lineTo(x, bbox.top + bbox.height);
      }
      ctx.stroke();
      ctx.restore();
    };
    const series = names.map((label, at): uPlot.Series => ({ label, stroke: CURVES[at % CURVES.length], width: 1.6, value: legend, points: { show: false } }));
    const options: uPlot.Options = {
      width: Math.max(this.#plots.clientWidth, 240),
      height: 240,
      scales: { x: { time: false } },
      axes: [axis("time (s)"), axis(unit, { size: 64 })],
      series: [{ label: "time", value: legend }, ...series],
      cursor: { sync: { key: "run" } },
      hooks: { drawAxes: [drawEvents] },
    };
    return new uPlot(options, data, this.#plots);
  }
}
