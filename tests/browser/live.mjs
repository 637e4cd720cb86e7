// Opens the live page of a port in a headless Chromium, looks at it, presses its buttons and waits for
// what follows; stops and starts its port again in between. Prints as JSON what is wrong with it and what
// was seen. Arguments: the URL, the name of a workflow, the command that serves the port as JSON, the id
// of the process that serves it, and a folder for pictures, or nothing.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import chromium from "@sparticuz/chromium";
import puppeteer from "puppeteer-core";

const [url, workflow, command, served, pictures] = process.argv.slice(2);
const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const PATIENCE_MS = 40_000;

const browser = await puppeteer.launch({
  args: [...chromium.args, "--no-sandbox"],
  executablePath: await chromium.executablePath(),
  headless: "shell",
});
const said = [];
const page = await opened(1280, "light", url);
const seen = {};
await press(`start?name=${workflow}`);
seen.answer = await text("#said", (it) => it.includes("started"));
seen.running = await text("#running", (it) => it.includes("RUNNING") && it.includes("tick "));
seen.on = await page.$$eval(".flow button:not([data-off])", (all) => all.map((it) => it.dataset.act));
seen.focus = await page.evaluate(() => document.activeElement.getAttribute("data-act"));
await page.evaluate(() => document.querySelector('#running a[href*="/run?"]').click());
await page.waitForNavigation();
seen.log = await text("#main", (it) => it.includes("tick 3"));
seen.ended = await text("#main", (it) => it.includes("SUCCEEDED"));
seen.said = await text("#said", (it) => it.includes("SUCCEEDED"));
await page.goto(`${url}/_tidemark/job?name=first`);
seen.job = await text("#main", (it) => it.includes("SUCCEEDED"));
seen.stranger = await page.evaluate(async (it) => (await fetch(it, { method: "POST" })).status, "/_tidemark/run?name=first");
const run = await page.$eval('#runs a[href*="/run?"]', (it) => it.getAttribute("href"));
await page.close();

const looks = [];
for (const path of ["/", "/_tidemark/runs", "/_tidemark/job?name=first", run]) {
  for (const width of [1280, 390]) {
    for (const scheme of ["light", "dark"]) looks.push(await look(path, width, scheme));
  }
}
seen.lost = await lost();
await browser.close();
process.stdout.write(JSON.stringify({ seen, looks, said }));

// What a page says when its port is stopped, hangs, and is there again.
async function lost() {
  const page = await opened(1280, "light", url);
  const buttons = () => page.$$eval("button[data-act][aria-disabled=false]", (all) => all.length);
  await page.waitForFunction(() => document.querySelector("#link").textContent === "live");
  const before = await buttons();
  const times = {};
  process.kill(Number(served), "SIGSTOP");
  times.hangs = await elapsed(page, () => document.body.classList.contains("lost"));
  process.kill(Number(served), "SIGCONT");
  times.again = await elapsed(page, () => !document.body.classList.contains("lost"));
  process.kill(Number(served), "SIGINT");
  times.stopped = await elapsed(page, () => document.body.classList.contains("lost"));
  const [during, says] = [await buttons(), await page.$eval("#link", (it) => it.textContent)];
  const token = await page.evaluate(() => document.body.dataset.token);
  await page.screenshot(pictures ? { path: join(pictures, "lost.png") } : {});
  const [program, ...words] = JSON.parse(command);
  const again = spawn(program, words, { stdio: "ignore" });
  await page.waitForFunction((old) => document.body.dataset.token !== old
    && document.querySelector("#link").textContent === "live", {}, token);
  const after = await buttons();
  again.kill("SIGINT");
  await page.close();
  return { before, during, after, says, times };
}

async function elapsed(page, isSo) {
  const begin = Date.now();
  await page.waitForFunction(isSo, { polling: 50 });
  return Date.now() - begin;
}

async function opened(width, scheme, at) {
  const page = await browser.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  page.on("console", (message) => said.push(message.text()));
  page.on("pageerror", (error) => said.push(String(error)));
  page.on("request", (request) => request.url().startsWith(url) || said.push(request.url()));
  await page.setViewport({ width, height: 900 });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  await page.goto(at, { waitUntil: "load" });
  return page;
}

async function press(action) {
  const button = await page.waitForSelector(`button[data-act="${action}"][aria-disabled=false]`);
  await button.focus();
  await page.keyboard.press("Enter");
}

// The text of an element as soon as it is as it should be, or at the end.
async function text(selector, isRight) {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    const found = await page.evaluate((it) => document.querySelector(it)?.textContent ?? "", selector);
    if (isRight(found) || Date.now() > end) return found.replace(/\s+/g, " ").trim();
    await new Promise((done) => setTimeout(done, 200));
  }
}

async function look(path, width, scheme) {
  const page = await opened(width, scheme, `${url}${path}`);
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  const name = path === "/" ? "overview" : path.match(/_tidemark.(\w+)/)[1];
  if (pictures) await page.screenshot({ fullPage: true, path: join(pictures, `${name}-${width}-${scheme}.png`) });
  await page.setBypassCSP(true); // for axe, which the page would not let in
  await page.reload();
  await page.addScriptTag({ path: axe });
  const violations = await page.evaluate(async (values) => {
    const found = await axe.run(document, { runOnly: { type: "tag", values } });
    return found.violations.map((it) => `${it.id}: ${it.nodes[0].html.slice(0, 200)} ${it.nodes[0].failureSummary}`);
  }, RULES);
  await page.close();
  return { path, width, scheme, overflow, violations };
}
