// Opens a page in a headless Chromium at several widths, light and dark, and prints as JSON what is
// wrong with it and what is seen. Arguments: the file, and a folder for pictures, or nothing; with
// a file for a picture, takes that picture only.
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import chromium from "@sparticuz/chromium";
import puppeteer from "puppeteer-core";

const [file, pictures] = process.argv.slice(2);
const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const WIDTHS = [360, 800, 1440];
const A4 = 718; // pixels between margins of 1 cm
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

const browser = await puppeteer.launch({
  args: [...chromium.args, "--no-sandbox"],
  executablePath: await chromium.executablePath(),
  headless: "shell",
});
if (pictures?.endsWith(".webp")) {
  const { page } = await opened(1280, "light");
  const clip = { x: 0, y: 0, width: 1280, height: 1010 };
  await page.screenshot({ path: pictures, clip, type: "webp", quality: 88 });
  await browser.close();
  process.exit(0);
}
const looks = [];
for (const width of WIDTHS) {
  for (const scheme of ["light", "dark"]) looks.push(await look(width, scheme));
}
const { pdf, lost } = await printed();
await browser.close();
process.stdout.write(JSON.stringify({ looks, pdf, lost }));

async function opened(width, scheme) {
  const page = await browser.newPage();
  const said = [];
  page.on("console", (message) => said.push(message.text()));
  page.on("pageerror", (error) => said.push(String(error)));
  page.on("request", (request) => request.url().startsWith("file:") || said.push(request.url()));
  await page.setViewport({ width, height: 900 });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  await page.goto(pathToFileURL(file).href);
  return { page, said };
}

async function look(width, scheme) {
  const { page, said } = await opened(width, scheme);
  await page.evaluate(() => document.querySelectorAll("details").forEach((it) => (it.open = true)));
  const seen = await page.evaluate(inPage);
  const reached = await tabbed(page, seen.focusable);
  if (pictures) await page.screenshot({ fullPage: true, path: join(pictures, `${width}-${scheme}.png`) });
  const messages = [...said];
  await page.setBypassCSP(true); // for axe, which the page would not let in
  await page.reload();
  await page.evaluate(() => document.querySelectorAll("details").forEach((it) => (it.open = true)));
  await page.addScriptTag({ path: axe });
  const violations = await page.evaluate(async (values) => {
    const found = await axe.run(document, { runOnly: { type: "tag", values } });
    return found.violations.map((it) => `${it.id}: ${it.nodes[0].html.slice(0, 200)} ${it.nodes[0].failureSummary}`);
  }, RULES);
  await page.close();
  return { width, scheme, messages, ...seen, reached, violations };
}

// In the page: what is wider than the window, which states are seen, what the keyboard may reach.
function inPage() {
  const all = [...document.body.querySelectorAll("*")];
  const outside = all.filter((it) => {
    const box = it.getBoundingClientRect();
    const isHidden = it.closest(".wide, .skip, .unseen") !== null;
    return !isHidden && box.width > 0 && (box.right > innerWidth + 0.5 || box.left < -0.5);
  });
  const texts = [...document.querySelectorAll(".levels .kind")]
    .filter((it) => it.getBoundingClientRect().width > 0)
    .map((it) => it.textContent);
  return {
    overflow: document.documentElement.scrollWidth - innerWidth,
    outside: outside.map((it) => it.outerHTML.slice(0, 120)),
    texts,
    background: getComputedStyle(document.body).backgroundColor,
    focusable: all.filter((it) => it.tabIndex === 0).length,
  };
}

async function tabbed(page, most) {
  const reached = new Set();
  for (let number = 0; number < most; number += 1) {
    await page.keyboard.press("Tab");
    reached.add(await page.evaluate(() => {
      const at = document.activeElement;
      return [...document.querySelectorAll("*")].indexOf(at);
    }));
  }
  return reached.size;
}

async function printed() {
  const { page } = await opened(A4, "light");
  await page.emulateMediaFeatures([]);
  await page.emulateMediaType("print");
  await page.evaluate(() => document.querySelectorAll("details").forEach((it) => (it.open = true)));
  const lost = await page.evaluate(() =>
    [...document.body.querySelectorAll("*")]
      .filter((it) => it.getBoundingClientRect().right > innerWidth + 0.5 && !it.closest(".skip, .unseen"))
      .map((it) => it.outerHTML.slice(0, 120)));
  const pdf = await page.pdf({ format: "A4" });
  await page.close();
  return { pdf: pdf.length, lost };
}
