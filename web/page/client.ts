// A worker with a compiler. It answers requests in order; it is replaced if it traps, or if its answers are obsolete.

/** The reason why a request has no answer. */
export class Unanswered extends Error {
  /** The diagnostics in the form of `lgm check --format json`, if the compiler reported some. */
  diagnostics: Diagnostic[];
  /** True if the worker was ended on purpose. */
  isStopped: boolean;

  constructor(message: string, diagnostics: Diagnostic[] = [], isStopped = false) {
    super(message);
    this.name = "Unanswered";
    this.diagnostics = diagnostics;
    this.isStopped = isStopped;
  }
}

/** A location of a diagnostic; lines and columns count from 1, in characters. */
export interface Place {
  file: string | null;
  line: number | null;
  column: number | null;
  end_line: number | null;
  end_column: number | null;
  message?: string;
}

/** A diagnostic of the compiler. */
export interface Diagnostic extends Place {
  code: string;
  severity: "error" | "warning" | "information";
  message: string;
  labels: Place[];
  notes: string[];
  help: string | null;
}

interface Waiting {
  resolve: (value: any) => void;
  reject: (reason: Unanswered) => void;
}

export class Client {
  #module: Promise<WebAssembly.Module>;
  #create: () => Worker;
  #worker: Worker | undefined;
  #waiting = new Map<number, Waiting>();
  #count = 0;
  /** The time at which the worker became busy, in milliseconds; 0 while it is idle. */
  busySince = 0;
  /** Called when a worker was replaced, so that its successor receives the text again. */
  onReplaced: () => void = () => {};
  /** Called when the worker becomes busy or idle. */
  onBusy: (busy: boolean) => void = () => {};

  constructor(module: Promise<WebAssembly.Module>, create: () => Worker) {
    this.#module = module;
    this.#create = create;
  }

  #started(): Worker {
    if (this.#worker) return this.#worker;
    const worker = this.#create();
    this.#worker = worker;
    worker.onmessage = ({ data }) => this.#receive(data);
    worker.onerror = (event) => this.#replace(new Unanswered(event.message || "the compiler could not be started"));
    void this.#module.then(
      (module) => worker.postMessage({ module }),
      (error) => this.#replace(new Unanswered(`the compiler could not be loaded: ${error}`)),
    );
    return worker;
  }

  /** Sends a request; web/src/page.rs defines the requests. */
  ask(question: string, given: object = {}): Promise<any> {
    const worker = this.#started();
    const id = ++this.#count;
    const answer = new Promise<any>((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    // The module is posted first; a request posted before it would be lost.
    void this.#module.then(() => worker.postMessage({ id, question, given: JSON.stringify(given) }));
    if (!this.busySince) {
      this.busySince = performance.now();
      this.onBusy(true);
    }
    return answer;
  }

  #receive(data: { id: number; answer?: string; trap?: string }) {
    if (data.trap !== undefined) {
      this.#replace(new Unanswered(`the compiler stopped and was restarted: ${data.trap}`));
      return;
    }
    const waiting = this.#waiting.get(data.id);
    this.#waiting.delete(data.id);
    if (this.#waiting.size === 0) {
      this.busySince = 0;
      this.onBusy(false);
    } else {
      this.busySince = performance.now();
    }
    const found = JSON.parse(data.answer ?? "{}");
    if ("answer" in found) waiting?.resolve(found.answer);
    else waiting?.reject(new Unanswered(found.message, found.faults?.diagnostics));
  }

  /** Ends the worker and its pending requests. */
  stop(reason = "stopped") {
    this.#replace(new Unanswered(reason, [], true));
  }

  #replace(reason: Unanswered) {
    this.#worker?.terminate();
    this.#worker = undefined;
    const all = [...this.#waiting.values()];
    this.#waiting.clear();
    if (this.busySince) {
      this.busySince = 0;
      this.onBusy(false);
    }
    this.onReplaced();
    for (const waiting of all) waiting.reject(reason);
  }
}
