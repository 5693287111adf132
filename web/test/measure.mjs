// Sizes of the page, its start, and the time from a keystroke to the results: node web/test/measure.mjs
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { chromium } from "playwright-core";
import { browser, dist, serve } from "./server.mjs";

/** The number of keystrokes of each measurement. */
const KEYS = 15;

console.log("| file | kB | kB after gzip |\n| --- | --- | --- |");
for (const name of readdirSync(dist)) {
  const content = readFileSync(join(dist, name));
  console.log(`| ${name} | ${Math.round(content.length / 1000)} | ${Math.round(gzipSync(content, { level: 9 }).length / 1000)} |`);
}

/** A chain of masses, springs and dampers with this number of elements. */
function chain(count) {
  const lines = ["model Chain {", "  param m = 1 [kg]; param k = 10 [N/m]; param b = 0.1 [N.s/m];", "  input F [N] = step(0);"];
  const bodies = Math.floor(count / 3);
  const names = Array.from({ length: bodies }, (_, at) => `x${at + 1}`);
  lines.push(`  node ${names.join(", ")} : translational;`, "  f : ForceSource(F) gnd -> x1;");
  names.forEach((name, at) => {
    const next = names[at + 1] ?? "gnd";
    lines.push(`  m${at + 1} : Mass(m) ${name} -> gnd;`, `  k${at + 1} : Spring(k) ${name} -> ${next};`, `  b${at + 1} : Damper(b) ${name} -> ${next};`);
  });
  return `${lines.join("\n")}\n  output v = across(m1);\n}\n`;
}

const { server, address } = await serve(dist);
const chrome = await chromium.launch({ executablePath: browser(), args: ["--no-sandbox"] });
const page = await chrome.newPage();
await page.goto(address);
await page.evaluate(() => window.lgm.ready());
const start = await page.evaluate(() => ({ paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime, ready: performance.now() }));
console.log(`first paint ${Math.round(start.paint)} ms, compiler ready ${Math.round(start.ready)} ms`);

function median(list) {
  return [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
}

for (const count of [10, 100, 300]) {
  const text = chain(count);
  const times = await page.evaluate(async ([text, keys]) => {
    await window.lgm.open({ files: { "chain.lgm": text }, root: "chain.lgm" });
    const times = { check: [], equations: [] };
    for (let key = 0; key < keys; key += 1) {
      // A digit typed into a value, as the editor would send it.
      const changed = text.replace("k = 10", `k = 1${key + 1}`);
      const panel = document.getElementById("panel-equations");
      const begin = performance.now();
      const shown = new Promise((resolve) => {
        const observer = new MutationObserver(() => {
          observer.disconnect();
          resolve(performance.now() - begin);
        });
        observer.observe(panel, { childList: true });
      });
      const text_ = window.lgm.setText(changed);
      window.lgm.diagnostics().then(() => times.check.push(performance.now() - begin));
      times.equations.push(await Promise.race([shown, new Promise((resolve) => setTimeout(() => resolve(NaN), 20000))]));
      await text_;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return times;
  }, [text, KEYS]);
  console.log(`${count} elements: diagnostics ${Math.round(median(times.check))} ms, equations ${Math.round(median(times.equations))} ms`);
}

const moved = await page.evaluate(async () => {
  const times = [];
  await window.lgm.open({ files: { "m.lgm": "model M { node x : translational; param m = 2 [kg]; param k = 50 [N/m]; a : Mass(m) x -> gnd, start = 1; s : Spring(k) x -> gnd; output v = across(a); }" }, root: "m.lgm" });
  await window.lgm.simulate({ stop: 10 });
  for (let at = 0; at < 15; at += 1) {
    const begin = performance.now();
    await window.lgm.simulate({ stop: 10, parameters: { k: 40 + at } });
    times.push(performance.now() - begin);
  }
  return times;
});
console.log(`a run of an oscillator over 16 periods, 501 samples: ${median(moved).toFixed(1)} ms`);
await chrome.close();
server.close();
