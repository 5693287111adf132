// Drives the page in the system's Chromium and compares its digits with those of the command line: LGM=target/debug/lgm node web/test/page.mjs
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { browser as found, dist, serve } from "./server.mjs";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const program = process.env.LGM ?? join(process.env.CARGO_TARGET_DIR ?? join(root, "target"), "debug/lgm");
const executable = found();
if (!executable || !existsSync(program) || !existsSync(dist)) {
  const missing = [[executable, "Chromium"], [existsSync(program), program], [existsSync(dist), "web/dist (run web/build)"]].filter(([there]) => !there);
  console.log(`skipped: the page is not tested without ${missing.map(([, name]) => name).join(", ")}`);
  process.exit(process.env.CI === "true" ? 1 : 0);
}
const shots = process.env.SHOTS;
if (shots) mkdirSync(shots, { recursive: true });

const { server, address } = await serve(dist);
const chrome = await chromium.launch({ executablePath: executable, args: ["--no-sandbox"] });
const context = await chrome.newContext({ viewport: { width: 1360, height: 860 } });
const faults = [];

async function opened(where = address, from = context) {
  const page = await from.newPage();
  page.setDefaultTimeout(30000);
  page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
  page.on("pageerror", (error) => faults.push(String(error)));
  await page.goto(where);
  await page.evaluate(() => window.lgm.ready());
  return page;
}

let [count, failed] = [0, 0];
async function test(name, run) {
  const begin = Date.now();
  count += 1;
  try {
    await run();
    console.log(`ok ${name} (${Date.now() - begin} ms)`);
  } catch (error) {
    failed += 1;
    console.error(`FAILED ${name}\n${error.stack.slice(0, 900)}`);
    if (shots) await page.screenshot({ path: join(shots, `failed-${count}.png`) });
  }
}

/** Waits until the text of a page fits. Its answer is a promise, for which `waitForFunction` would not wait. */
async function untilText(fits, on = page) {
  const end = Date.now() + 30000;
  let text;
  do text = await on.evaluate(() => window.lgm.text());
  while (!fits(text) && Date.now() < end);
  assert.ok(fits(text), text);
}

const page = await opened();
const lgm = (name, ...given) => page.evaluate(([name, given]) => window.lgm[name](...given), [name, given]);
const example = (name) => readFileSync(join(root, "examples", `${name}.lgm`), "utf8");

/** What the command line prints for a text, in a folder where the file has the name of the page's tab. */
function command(...given) {
  return execFileSync(program, given, { cwd: join(root, "examples"), encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "ignore"] });
}

/** The same name as on the command line, in the page's tab. */
async function openExample(name) {
  const file = `${name}.lgm`;
  await page.evaluate(([file, text]) => window.lgm.open({ files: { [file]: text }, root: file }), [file, example(name)]);
}

function table(csv) {
  const [head, ...rows] = csv.trim().split("\n");
  const names = [];
  for (const part of head.split(/,(?![^[]*\])/)) names.push(part.replace(/^"|"$/g, ""));
  return { names, rows: rows.map((row) => row.split(",").map(Number)) };
}

// The exact JSON of checks and equations.
const MODELS = ["oscillator", "hoist", "lever", "quarter_car", "rigid_gears", "wheatstone_bridge", "sallen_key", "dc_motor", "loudspeaker", "hydraulic_lift", "speed_loop", "thermal_wall", "duffing", "pendulum"];
/** The relative tolerance of the compared runs, and their largest difference. Step sizes follow from powers, whose last digit depends on the machine. */
const [TOLERANCE, DIFFERENCE] = [1e-10, 1e-8];
let largest = 0;
for (const name of MODELS) {
  await test(`${name}: the JSON of check, equations, modes and a run is that of the command line`, async () => {
    await openExample(name);
    const file = `${name}.lgm`;
    assert.deepEqual(await lgm("diagnostics"), JSON.parse(command("check", file, "--format", "json")));
    const symbolic = JSON.parse(command("equations", file, "--format", "json"));
    assert.deepEqual(await lgm("equations"), symbolic);
    assert.deepEqual(await lgm("equations", { numeric: true }), JSON.parse(command("equations", file, "--format", "json", "--numeric")));
    if (symbolic.linear) {
      const { poles } = await lgm("ask", "poles");
      const expected = JSON.parse(command("modes", file, "--format", "json")).poles;
      assert.equal(poles.length, expected.length);
      poles.forEach((pole, at) => {
        assert.deepEqual([pole.real, pole.imaginary], [expected[at].real, expected[at].imaginary]);
        // hypot of both machines may differ in the last digit.
        for (const key of ["omega", "damping"]) assert.ok(Math.abs(pole[key] - expected[at][key]) <= 4e-16 * Math.abs(expected[at][key]), key);
      });
    }
    // Only integrals, so that no mode defines a stop time.
    const stop = name === "lever" ? 2 : undefined;
    const run = await lgm("simulate", { points: 41, stop, rtol: TOLERANCE });
    const { names, rows } = table(command("simulate", file, "--points", "41", "--rtol", String(TOLERANCE), ...(stop ? ["--stop", String(stop)] : [])));
    assert.equal(run.failure, null);
    assert.equal(run.time.length, rows.length);
    names.forEach((column, at) => {
      const values = column === "time" ? run.time : run.columns[column];
      assert.ok(values, `no column ${column}`);
      const size = Math.max(...rows.map((row) => Math.abs(row[at])), 1e-300);
      const worst = Math.max(...rows.map((row, sample) => Math.abs(row[at] - values[sample]) / size));
      largest = Math.max(largest, worst);
      assert.ok(worst < DIFFERENCE, `${column} differs by ${worst} of its largest value`);
    });
  });
}
console.log(`largest difference of a run, relative to its column: ${largest}`);

await test("a parameter of a run has the effect of --set", async () => {
  await openExample("oscillator");
  const run = await lgm("simulate", { stop: 2, points: 5, parameters: { m: 3 } });
  const { names, rows } = table(command("simulate", "oscillator.lgm", "--set", "m=3", "--stop", "2", "--points", "5"));
  names.forEach((column, at) => rows.forEach((row, sample) => {
    const value = column === "time" ? run.time[sample] : run.columns[column][sample];
    assert.ok(Math.abs(value - row[at]) <= 1e-9 * Math.max(1, Math.abs(row[at])));
  }));
});

const CONFLICT = "model M {\n    node a : electrical;\n    v : VoltageSource(1 [V]) a -> gnd;\n    w : VoltageSource(2 [V]) a -> gnd;\n    r : Resistor(3 [ohm]) a -> gnd;\n}\n";

await test("a typed model: a causality conflict is underlined at its place, and a fix removes it", async () => {
  await page.evaluate(() => window.lgm.open({ files: { "m.lgm": "" }, root: "m.lgm" }));
  await page.locator(".cm-content").click();
  await page.keyboard.insertText(CONFLICT);
  await page.locator(".cm-lintRange-error").first().waitFor();
  const { diagnostics } = await lgm("diagnostics");
  const fault = diagnostics.find((entry) => entry.severity === "error");
  const underlined = await page.locator(".cm-lintRange-error").allTextContents();
  const line = CONFLICT.split("\n")[fault.line - 1];
  assert.ok(underlined.some((text) => line.includes(text) && text.length > 0), `${underlined} is not in line ${fault.line}`);
  await page.keyboard.press("F8");
  if (shots) await page.screenshot({ path: join(shots, "conflict.png") });
  const action = page.locator(".cm-diagnosticAction").first();
  await action.waitFor();
  await action.click();
  await page.waitForFunction(() => document.querySelectorAll(".cm-lintRange-error").length === 0);
  const after = await lgm("diagnostics");
  assert.equal(after.diagnostics.filter((entry) => entry.severity === "error").length, 0);
});

await test("the equations are readable text", async () => {
  await openExample("oscillator");
  await page.getByRole("tab", { name: "Equations" }).click();
  await page.waitForFunction(() => document.querySelector("#panel-equations .equations h1")?.textContent.includes("Oscillator"));
  const text = (await page.locator("#panel-equations").innerText()).normalize("NFKD").replace(/\s/g, "");
  assert.match(text, /Parameters.*m=2kg.*Outputs.*A=\[/);
  assert.ok((await page.locator("#panel-equations math").count()) > 2);
});

await test("all views have a result for a linear, a nonlinear and a switched example", async () => {
  for (const name of ["hoist", "pendulum", "switching/dropped_ball"]) {
    await openExample(name);
    for (const view of ["Equations", "Linear graph", "Bond graph", "Causality", "Derivation", "Run", "Poles", "Code"]) {
      await page.getByRole("tab", { name: view, exact: true }).click();
      const panel = page.locator(".panel:visible");
      await page.waitForFunction(() => {
        const panel = [...document.querySelectorAll(".panel")].find((panel) => !panel.hidden);
        return panel.childElementCount > 0;
      });
      if (view === "Run") {
        await page.locator("#panel-run .u-wrap canvas").first().waitFor();
        await page.waitForFunction(() => document.querySelector("#panel-run .about").textContent.includes("samples"));
      }
      await page.waitForTimeout(50);
      assert.equal(await page.locator(`.panel.old:visible`).count(), 0, `${name}: ${view}: ${await page.locator(".panel:visible > .refusal").allInnerTexts()}`);
      const name_ = name.replace("/", "-");
      if (shots) await page.waitForTimeout(400);
      if (shots) await page.screenshot({ path: join(shots, `${name_}-${view.replace(" ", "-")}.png`) });
      await panel.first().waitFor();
    }
  }
});

await test("completion and hover", async () => {
  await page.evaluate(() => window.lgm.open({ files: { "m.lgm": "model M { node a : electrical; r : Res" }, root: "m.lgm" }));
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+End");
  await page.keyboard.press("Control+Space");
  await page.locator(".cm-tooltip-autocomplete").getByText("Resistor").first().waitFor();
  await page.keyboard.press("Escape");
  await openExample("oscillator");
  const hover = await lgm("ask", "hover", { at: example("oscillator").indexOf("Spring(") + 2 });
  assert.match(hover.markdown, /Spring/);
});

/** The value of an entry with parameters. */
function value(text, parameters) {
  return new Function(...Object.keys(parameters), `return ${text.replaceAll("^", "**").replace(/^-\(/, "-1*(")}`)(...Object.values(parameters));
}

await test("the examples of LG2ss have the matrices of the thesis", async () => {
  for (const name of ["lg2ss_electrical", "lg2ss_rotary_gearbox", "lg2ss_sewing"]) {
    const record = JSON.parse(readFileSync(join(root, "tests/known-answers", `${name}.json`), "utf8"));
    const matlab = (rows) => `[${rows.map((row) => row.join(" ")).join(";")}]`;
    const got = await lgm("lg2ss", { graph: matlab(record.LG_matrix), outputs: matlab(record.output_matrix) });
    assert.deepEqual(got.states, record.linear.states);
    assert.deepEqual(got.outputs, record.linear.outputs);
    for (const letter of ["A", "B", "C", "D", "E", "F"]) {
      const printed = record.symbolic[letter];
      assert.equal(got[letter].length, printed.length, letter);
      for (const factor of [1, 1.37, 0.61]) {
        const parameters = Object.fromEntries(Object.entries(record.parameters).map(([key, number], at) => [key, number * factor ** at]));
        printed.forEach((row, at) => row.forEach((entry, column) => {
          const [ours, theirs] = [value(got[letter][at][column], parameters), value(entry, parameters)];
          assert.ok(Math.abs(ours - theirs) <= 1e-12 * Math.max(1, Math.abs(theirs)), `${name} ${letter}[${at}][${column}]: ${ours}, not ${theirs}`);
        }));
      }
    }
  }
  const fault = await page.evaluate(() => window.lgm.lg2ss({ graph: "[1 2 1 9]", outputs: "[]" }).catch((error) => error.diagnostics[0]));
  assert.deepEqual([fault.file, fault.line, fault.column], ["graph", 1, 8]);
});

await test("the form of LG2ss", async () => {
  await page.getByRole("tab", { name: "LG2ss" }).click();
  for (const title of ["Electrical circuit", "Rotary motion with a gearbox", "Robotic sewing system"]) {
    await page.getByRole("button", { name: title }).click();
    await page.waitForTimeout(150);
    assert.match(await page.locator("#lg2ss-matrices").innerText(), /A = \[[^]*F = \[/);
    if (shots) await page.screenshot({ path: join(shots, `lg2ss-${title.split(" ")[0]}.png`) });
  }
  await page.getByLabel("LG matrix", { exact: true }).fill("[1 2 1 4; 2 2 1 8]");
  await page.getByRole("button", { name: "Submit" }).click();
  await page.getByRole("button", { name: "LG matrix, row 2, column 4" }).waitFor();
  await page.getByRole("button", { name: "Rotary motion with a gearbox" }).click();
  await page.getByRole("button", { name: "Continue in the editor" }).click();
  assert.equal((await lgm("equations")).states.length, 2);
});

const PARTS = "component Section(L [H], R [ohm], C [F]) {\n  port p, n, ref : electrical;\n  node m : electrical;\n  l : Inductor(L) p -> m;\n  r : Resistor(R) m -> n;\n  c : Capacitor(C) n -> ref;\n}\n";
const MAIN = 'import "parts.lgm";\nmodel Line {\n  node a, b : electrical;\n  input u [V] = 1;\n  v : VoltageSource(u) a -> gnd;\n  s : Section(1 [mH], 2 [ohm], 3 [uF]) (p = a, n = b, ref = gnd);\n}\n';

await test("a text imports another tab, and navigation leads there and into the library", async () => {
  await page.evaluate((files) => window.lgm.open({ files, root: "main.lgm" }), { "parts.lgm": PARTS, "main.lgm": MAIN });
  assert.deepEqual((await lgm("diagnostics")).diagnostics.filter((entry) => entry.severity === "error"), []);
  assert.deepEqual((await lgm("equations")).states.map((state) => state.name), ["s.l.i", "s.c.v"]);
  /** Goes to the definition of a word. It is an element of its own once the kinds of names are shown. */
  const goTo = async (word) => {
    await lgm("ready");
    await page.locator(".cm-content").getByText(word, { exact: true }).first().click();
    await lgm("ready");
    await page.keyboard.press("F12");
  };
  await goTo("Section");
  await page.waitForFunction(() => document.querySelector(".cm-content").textContent.includes("component Section"));
  assert.equal(await lgm("text"), PARTS);
  await page.getByRole("tab", { name: "main.lgm" }).click();
  await goTo("VoltageSource");
  await page.waitForFunction(() => /element VoltageSource/.test(document.querySelector(".cm-content").textContent));
  assert.equal(await lgm("text"), MAIN);
});

await test("a rename changes every place, and a text is formatted", async () => {
  await page.evaluate(() => window.lgm.open({ files: { "m.lgm": "model M {\nnode a : electrical;\n  param R = 3 [ohm];\n  r : Resistor(R) a -> gnd;\n  i : CurrentSource(1 [A]) gnd -> a;\n  output u = R*through(r);\n}\n" }, root: "m.lgm" }));
  await page.locator(".cm-line").nth(2).getByText("R", { exact: true }).click();
  await page.keyboard.press("F2");
  await page.locator("#dialog input").fill("ohms");
  await page.keyboard.press("Enter");
  await untilText((text) => text.split("ohms").length === 4);
  await page.getByRole("button", { name: "Format" }).click();
  await untilText((text) => text.includes("\n  node a : electrical;"));
});

await test("an answer about one text changes no other", async () => {
  const text = "model Other {\nnode a : electrical;\n}\n";
  const shown = await page.evaluate(async ([text, other]) => {
    await window.lgm.open({ files: { "other.lgm": text }, root: "other.lgm" });
    document.getElementById("format").click();
    await window.lgm.open({ files: { "oscillator.lgm": other }, root: "oscillator.lgm" });
    await window.lgm.ready();
    return window.lgm.text();
  }, [text, example("oscillator")]);
  assert.equal(shown, example("oscillator"));
});

await test("a slider changes the run", async () => {
  await openExample("oscillator");
  await page.getByRole("tab", { name: "Run", exact: true }).click();
  await page.getByRole("slider", { name: "m", exact: true }).waitFor();
  const before = await lgm("link");
  await page.getByRole("slider", { name: "m", exact: true }).focus();
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction(() => Number(document.querySelector('[aria-label="value of m"]').value) > 2);
  assert.notEqual(await lgm("link"), before);
});

await test("a link opens in a fresh profile", async () => {
  await openExample("lever");
  await page.getByRole("tab", { name: "Bond graph" }).click();
  const link = await lgm("link");
  const fresh = await chrome.newContext({ viewport: { width: 1200, height: 800 } });
  const other = await opened(link, fresh);
  await untilText((text) => /lever/i.test(text), other);
  assert.equal(await other.evaluate(() => window.lgm.text()), example("lever"));
  assert.equal(await other.getByRole("tab", { name: "Bond graph" }).getAttribute("aria-selected"), "true");
  await fresh.close();
});

await test("hostile input does not kill the page", async () => {
  const deep = `model M { param p = ${"(".repeat(20000)}1${")".repeat(20000)}; }`;
  const texts = [deep, "\u0000\ud800\udfff", "model M { for i in 1:1000000000 { } }", `model ${"x".repeat(100000)} {`, "/*".repeat(5000), '"'.repeat(999)];
  const corpus = join(root, "tests/fuzz_found/pipeline");
  texts.push(...readdirSync(corpus).map((name) => readFileSync(join(corpus, name), "utf8")));
  for (const text of texts) {
    await page.evaluate(async (text) => {
      await window.lgm.setText(text).catch(() => {});
      await window.lgm.diagnostics().catch(() => {});
    }, text);
    assert.equal((await lgm("text")).length, text.length);
  }
  faults.length = 0;
  await openExample("oscillator");
  assert.equal((await lgm("equations")).states.length, 2);
});

await test("a long computation gives way to a new text", async () => {
  await openExample("slider_crank");
  const begin = Date.now();
  await page.evaluate((text) => {
    window.late = window.lgm.ask("poles");
    return new Promise((resolve) => setTimeout(resolve, 1700)).then(() => window.lgm.setText(text));
  }, example("oscillator"));
  const { poles } = await page.evaluate(() => window.late);
  assert.equal(poles.length, 2);
  assert.ok(Date.now() - begin < 15000);
});

await test("a long run is stopped, and the page stays alive", async () => {
  await openExample("pendulum");
  await page.getByRole("tab", { name: "Run", exact: true }).click();
  await page.getByLabel("stop time in seconds").fill("3e6");
  await page.getByLabel("stop time in seconds").press("Enter");
  await page.locator("#panel-run").getByRole("button", { name: "Stop" }).click();
  await page.getByLabel("stop time in seconds").fill("2");
  await page.getByLabel("stop time in seconds").press("Enter");
  await page.waitForFunction(() => document.querySelector("#panel-run .about").textContent.includes("samples") && !document.querySelector("#panel-run.old"));
  assert.equal((await lgm("equations")).states.length, 2);
});

await test("a phone: the page is as wide as the screen", async () => {
  await page.setViewportSize({ width: 390, height: 800 });
  await page.getByRole("tab", { name: "Equations" }).click();
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(width <= 391, `${width} px`);
  if (shots) await page.screenshot({ path: join(shots, "phone.png") });
  await page.getByRole("tab", { name: "Run", exact: true }).click();
  await page.waitForTimeout(500);
  if (shots) await page.screenshot({ path: join(shots, "phone-run.png"), fullPage: true });
  await page.setViewportSize({ width: 1360, height: 860 });
});

await test("without a network, a reload shows the page", async () => {
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => {}));
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  await context.setOffline(true);
  await page.reload();
  await page.evaluate(() => window.lgm.ready());
  assert.ok((await lgm("equations")).states.length > 0);
  await context.setOffline(false);
});

await test("the first paint needs no script", async () => {
  const still = await chrome.newContext({ javaScriptEnabled: false, viewport: { width: 1360, height: 860 } });
  const other = await still.newPage();
  await other.goto(address);
  assert.match(await other.locator("#first").innerText(), /model/);
  assert.ok((await other.locator("#panel-equations math").count()) > 0);
  if (shots) await other.screenshot({ path: join(shots, "first-paint.png") });
  await still.close();
});

await test("the page of one file works from a disk", async () => {
  const other = await opened(pathToFileURL(join(dist, "lgm.html")).href);
  assert.ok((await other.evaluate(() => window.lgm.equations())).states.length > 0);
  assert.ok((await other.evaluate(() => window.lgm.simulate({ points: 3 }))).time.length === 3);
  await other.close();
});

await test("embedded, the text can be read but not changed", async () => {
  const other = await opened(`${address}?embed`);
  const before = await other.evaluate(() => window.lgm.text());
  await other.locator(".cm-content").click();
  await other.keyboard.type("node z : electrical;");
  assert.equal(await other.evaluate(() => window.lgm.text()), before);
  assert.ok((await other.evaluate(() => window.lgm.equations())).states.length > 0);
  await other.close();
});

await test("a symbol of the equations leads to its element, and back", async () => {
  await openExample("oscillator");
  await page.getByRole("tab", { name: "Equations" }).click();
  const symbols = page.locator("#panel-equations msub").filter({ hasText: "spring" });
  await symbols.first().hover();
  await page.waitForFunction(() => document.querySelectorAll("#panel-equations msub.chosen").length > 1);
  assert.equal(await page.locator("#panel-equations msub.chosen").count(), await symbols.count());
  await symbols.first().click();
  await page.waitForFunction(() => document.querySelector(".cm-activeLine")?.textContent.includes("spring"));
  if (shots) await page.screenshot({ path: join(shots, "tied.png") });
});

await test("dark", async () => {
  await page.emulateMedia({ colorScheme: "dark" });
  await openExample("hoist");
  await page.getByRole("tab", { name: "Bond graph" }).click();
  await page.waitForTimeout(300);
  if (shots) await page.screenshot({ path: join(shots, "dark.png") });
  const background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  assert.notEqual(background, "rgb(255, 255, 255)");
});

await test("the policy allows no style elements", async () => {
  const policies = ["index.html", "lgm.html"].map((name) => /Content-Security-Policy" content="([^"]*)"/.exec(readFileSync(join(dist, name), "utf8"))[1]);
  for (const policy of policies) assert.doesNotMatch(policy, /'unsafe-inline'|'unsafe-eval'|\*/);
});

await test("the console has no errors", async () => assert.deepEqual(faults, []));
console.log(`${count} tests of the page, ${failed} failed`);
await chrome.close();
server.close();
process.exitCode = failed > 0 ? 1 : 0;
