// Opens a model in a real VS Code in a headless browser: sees the underline of a conflict, applies the fix that is offered, and sees
// equations and picture beside the text. Needs the folder of install.sh, Chromium, the program and the packed extension:
//
//   npm run package && test/browser/install.sh /FOLDER && node test/browser/run.cjs /FOLDER [LGM]
//
// Pictures of the steps are left in FOLDER/pictures.

"use strict";
const { execFileSync, spawn } = require("node:child_process");
const fs = require("node:fs");
const net = require("node:net");
const os = require("node:os");
const path = require("node:path");

const folder = path.resolve(process.argv[2]);
const program = path.resolve(process.argv[3] || path.join(__dirname, "../../../../target/debug/lgm"));
const puppeteer = require(path.join(folder, "node_modules/puppeteer-core"));
const server = path.join(folder, "node_modules/code-server/out/node/entry.js");
const extension = path.join(__dirname, "../../out/lgm.vsix");
const pictures = path.join(folder, "pictures");
const patience = 60_000;

const MODEL = `/// Two sources that hold one node.
model Held {
  node a, b : electrical;
  first  : VoltageSource(5) a -> gnd;
  second : VoltageSource(4) a -> gnd;
  load   : Resistor(10) a -> b;
  store  : Capacitor(1 [mF]) b -> gnd;
  output v = across(store);
  experiment { stop = 50 [ms]; }
}
`;

const steps = [];
function step(words) {
  steps.push(words);
  console.log(`${steps.length}. ${words}`);
}

const pause = (time) => new Promise((resolve) => setTimeout(resolve, time));

/** Waits until a question has an answer that is not false. */
async function until(words, question) {
  const end = Date.now() + patience;
  for (;;) {
    const answer = await question();
    if (answer) return answer;
    if (Date.now() > end) throw new Error(`not seen within ${patience / 1000} s: ${words}`);
    await pause(200);
  }
}

/** Asks the frame with these words, which may be made anew at any time, until the answer is not false. */
async function beside(page, words, question) {
  await until(`"${words}" beside the text`, async () => {
    for (const frame of page.frames()) {
      try {
        const text = await frame.evaluate(() => document.body?.innerText ?? "");
        if (text.includes(words) && (await question(frame))) return true;
      } catch (fault) {
        if (!/detached|destroyed|closed/i.test(fault.message)) throw fault;
      }
    }
    return false;
  });
}

/** Chooses a tab; in the page of the preview. */
function choose(tab) {
  const found = [...document.querySelectorAll("button, a, [role=tab], label")].find((one) => one.innerText.trim() === tab);
  found?.click();
  return Boolean(found);
}

/** If a drawing shows this name; in the page of the preview. */
function isDrawn(name) {
  return [...document.querySelectorAll("svg text")].some((one) => one.textContent.includes(name) && one.getClientRects().length > 0);
}

/** A port that nobody uses. */
function freePort() {
  return new Promise((resolve) => {
    const probe = net.createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

async function drive(page, file, port) {
  const picture = (name) => page.screenshot({ path: path.join(pictures, `${name}.png`) });
  const chord = async (modifier, ...keys) => {
    await page.keyboard.down(modifier);
    for (const key of keys) await page.keyboard.press(key);
    await page.keyboard.up(modifier);
  };
  await page.goto(`http://127.0.0.1:${port}/?folder=${encodeURIComponent(path.dirname(file))}`);
  await page.waitForSelector(".monaco-workbench", { timeout: patience });
  await until("the file in the explorer", () => page.$(`[aria-label^="held.lgm"]`));
  await page.click(`[aria-label^="held.lgm"]`, { count: 2 });
  await page.waitForSelector(".monaco-editor .view-line", { timeout: patience });
  step("the model is open");

  await page.waitForSelector(".squiggly-error", { timeout: patience });
  await picture("conflict");
  step("the conflict is underlined");

  await page.click(".monaco-editor .view-line");
  await page.keyboard.press("F8");
  await until("the message of the conflict", () => page.evaluate(() => document.body.innerText.includes("LGM0301")));
  await page.keyboard.press("Escape");
  // While the message is closed, the editor takes no key of its own.
  await until("fixes", async () => {
    await pause(1000);
    await chord("Control", ".");
    await pause(1000);
    return page.$(".action-widget .monaco-list-row");
  });
  await picture("fixes");
  const offered = await page.$$eval(".action-widget .monaco-list-row", (rows) => rows.map((row) => row.innerText));
  step(`fixes are offered: ${offered.map((text) => text.trim()).filter(Boolean).join("; ")}`);
  await page.keyboard.press("Enter");
  await until("the end of the conflict", async () => !(await page.$(".squiggly-error")));
  await chord("Control", "s");
  const text = await until("the saved text", () => {
    const now = fs.readFileSync(file, "utf8");
    return now !== MODEL && now;
  });
  execFileSync(program, ["check", file]);
  await picture("mended");
  step(`the fix mends the model: ${text.split("\n").find((line) => !MODEL.includes(line))?.trim() ?? "a line is gone"}`);

  await chord("Control", "k");
  await page.keyboard.press("v");
  await beside(page, "State equations", (frame) => frame.$$eval("svg", (all) => all.length));
  await picture("preview");
  step("the equations and the run are beside the text");
  for (const tab of ["Linear graph", "Bond graph"]) {
    await beside(page, tab, (frame) => frame.evaluate(choose, tab));
    await beside(page, tab, (frame) => frame.evaluate(isDrawn, "store"));
    await pause(500);
    await picture(tab.toLowerCase().replace(" ", "-"));
    step(`the ${tab.toLowerCase()} is there, too`);
  }
}

async function main() {
  const port = await freePort();
  fs.mkdirSync(pictures, { recursive: true });
  const home = fs.mkdtempSync(path.join(os.tmpdir(), "lgm-editor-"));
  const file = path.join(home, "models", "held.lgm");
  fs.mkdirSync(path.dirname(file));
  fs.writeFileSync(file, MODEL);
  const settings = path.join(home, "data", "User", "settings.json");
  fs.mkdirSync(path.dirname(settings), { recursive: true });
  fs.writeFileSync(
    settings,
    JSON.stringify({
      "lgm.path": program,
      "security.workspace.trust.enabled": false,
      "telemetry.telemetryLevel": "off",
      "workbench.startupEditor": "none",
    }),
  );
  const places = ["--user-data-dir", path.join(home, "data"), "--extensions-dir", path.join(home, "extensions")];
  const quiet = ["--config", path.join(home, "config.yaml")];
  execFileSync(process.execPath, [server, ...quiet, ...places, "--install-extension", extension]);
  const bare = ["--auth", "none", "--bind-addr", `127.0.0.1:${port}`, "--disable-telemetry", "--disable-update-check"];
  const running = spawn(process.execPath, [server, ...quiet, ...places, ...bare, path.dirname(file)], { stdio: "ignore" });
  const browser = await puppeteer.launch({
    executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
    args: ["--no-sandbox", "--window-size=1500,950"],
    defaultViewport: { width: 1500, height: 950 },
  });
  const page = await browser.newPage();
  try {
    await until("the server", () => fetch(`http://127.0.0.1:${port}/healthz`).then((answer) => answer.ok, () => false));
    await drive(page, file, port);
  } catch (fault) {
    await page.screenshot({ path: path.join(pictures, "fault.png") });
    throw fault;
  } finally {
    await browser.close();
    running.kill();
    fs.rmSync(home, { recursive: true, force: true });
  }
}

main().catch((fault) => {
  console.error(fault.message);
  process.exitCode = 1;
});
