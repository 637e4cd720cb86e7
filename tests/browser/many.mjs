// Opens the first page of a live port with many jobs, at two widths, light and dark; uses its search,
// filter, order and keyboard. Prints as JSON what was seen. Arguments: the URL, and a folder for
// pictures, or nothing.
import { createRequire } from "node:module";
import { join } from "node:path";
import chromium from "@sparticuz/chromium";
import puppeteer from "puppeteer-core";

const [url, pictures] = process.argv.slice(2);
const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

const browser = await puppeteer.launch({
  args: [...chromium.args, "--no-sandbox"],
  executablePath: await chromium.executablePath(),
  headless: "shell",
});
const looks = [];
for (const width of [1280, 390]) {
  for (const scheme of ["light", "dark"]) looks.push(await look(width, scheme));
}
const used = await use();
const linked = await followed();
const apia = await elsewhere("Pacific/Apia");
await browser.close();
process.stdout.write(JSON.stringify({ looks, used, linked, apia }));

async function opened(width, scheme) {
  const page = await browser.newPage();
  await page.setViewport({ width, height: 900 });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  await page.goto(url, { waitUntil: "load" });
  await page.waitForFunction(() => document.querySelector("#link").textContent === "live");
  return page;
}

async function look(width, scheme) {
  const page = await opened(width, scheme);
  if (pictures) await page.screenshot({ path: join(pictures, `many-${width}-${scheme}.png`) });
  const seen = await page.evaluate(() => {
    const timing = performance.getEntriesByType("navigation")[0];
    const at = (selector) => document.querySelector(selector).getBoundingClientRect().top;
    return {
      overflow: document.documentElement.scrollWidth - innerWidth,
      screens: document.documentElement.scrollHeight / innerHeight,
      interactiveMs: timing.domInteractive - timing.responseStart,
      sentBytes: timing.encodedBodySize,
      failureAt: at("#attention .bad"),
      headings: [...document.querySelectorAll("h1, h2")].map((it) => it.textContent),
    };
  });
  await page.setBypassCSP(true); // for axe, which the page would not let in
  await page.reload();
  await page.addScriptTag({ path: axe });
  seen.violations = await page.evaluate(async (values) => {
    const result = await axe.run(document, { runOnly: { type: "tag", values } });
    return result.violations.map((it) => `${it.id}: ${it.nodes[0].html.slice(0, 200)} ${it.nodes[0].failureSummary}`);
  }, RULES);
  await page.close();
  return { width, scheme, ...seen };
}

async function use() {
  const page = await opened(1280, "light");
  const names = () => page.$$eval("#rows tr:not([hidden])", (rows) => rows.map((row) => row.dataset.key));
  const seen = { all: await names() };
  await page.type("#search", "job-1");
  seen.searched = await names();
  seen.count = await page.$eval("#count", (it) => it.textContent);
  await page.select("#kind", "bad");
  seen.failedOfThese = await names();
  await page.$eval("#search", (it) => { it.value = ""; it.dispatchEvent(new Event("input")); });
  seen.failed = await names();
  await page.select("#kind", "");
  await page.select("#order", "key");
  seen.byName = await names();
  await page.focus("td.cells a[tabindex='0']");
  const place = () => page.evaluate(() => [...document.activeElement.parentElement.children].indexOf(document.activeElement));
  seen.from = await place();
  await page.keyboard.press("ArrowLeft");
  seen.to = await place();
  const title = await page.evaluate(() => document.activeElement.title);
  await page.keyboard.press("Enter");
  await page.waitForNavigation();
  seen.opened = page.url();
  seen.isOfCell = await page.evaluate((it) => document.querySelector("#run").textContent.includes(it.split(" ")[0]), title);
  await page.close();
  return seen;
}

// A link on a page of another origin opens the page, which then works.
async function followed() {
  const page = await browser.newPage();
  await page.goto(`data:text/html,<a href="${url}/">the page</a>`);
  await page.click("a");
  await page.waitForFunction(() => document.querySelector("#link")?.textContent === "live");
  return { heading: await page.$eval("h1", (it) => it.textContent), buttons: await page.$$eval("button[data-act][aria-disabled=false]", (all) => all.length) };
}

// What the page says of times in another time zone.
async function elsewhere(zone) {
  const page = await browser.newPage();
  await page.emulateTimezone(zone);
  await page.goto(url);
  await page.waitForFunction(() => document.querySelector("#link").textContent === "live");
  return page.evaluate(() => ({
    zone: document.querySelector("#zone").textContent,
    at: document.querySelector("#attention time").dateTime,
    says: document.querySelector("#attention time + small").textContent,
    ago: document.querySelector("#attention time").textContent,
  }));
}
