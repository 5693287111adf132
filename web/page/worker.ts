// A compiler in a worker: receives the module, then requests.
import { Compiler, initSync } from "../build-files/lgm.js";

let compiler: Compiler | undefined;

self.onmessage = ({ data }) => {
  if (data.module) {
    initSync({ module: data.module });
    compiler = new Compiler();
    return;
  }
  try {
    self.postMessage({ id: data.id, answer: compiler!.ask(data.question, data.given) });
  } catch (error) {
    // A trap leaves the module in an undefined state, so the page replaces the worker.
    self.postMessage({ id: data.id, trap: String(error) });
  }
};
