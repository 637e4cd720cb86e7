// Keeps a live page up to date, asks whether its port is there, and presses buttons.
"use strict";
const BEAT_MS = 800, PATIENCE_MS = 1900; // together under 3 s; a busy machine answers late
const KEPT = ["open", "hidden", "disabled", "aria-disabled", "tabindex"]; // attributes that a person or this script sets
const page = document.body.dataset;
const main = document.getElementById("main");
const link = document.getElementById("link");
const said = document.getElementById("said");
let shown = page.state, isLost = false, isLoading = false;

async function beat() {
  try {
    const answer = await fetch(`${page.base}alive?${page.subject}`, { signal: AbortSignal.timeout(PATIENCE_MS) });
    if (!answer.ok) throw new Error(answer.status);
    const { served, state } = await answer.json();
    if (served !== page.served) return location.reload(); // another process: it has another token
    if (isLost) connected(true);
    if (state !== shown && !isLoading) load();
  } catch {
    if (!isLost) connected(false);
  }
  setTimeout(beat, BEAT_MS);
}

function connected(isThere) {
  isLost = !isThere;
  document.body.classList.toggle("lost", isLost);
  link.textContent = isLost
    ? `Connection lost at ${new Date().toLocaleTimeString()}. What you see is older. Start \`tidemark serve\` again; this page then continues.`
    : "live";
  switchButtons();
}

// The server says which buttons act, by data-off; without it none does.
function switchButtons() {
  for (const button of document.querySelectorAll("button[data-act]")) {
    const isOff = isLost || "off" in button.dataset;
    // One that has the focus would lose it, and with it the place on the page.
    button.disabled = isOff && button !== document.activeElement;
    button.setAttribute("aria-disabled", isOff);
  }
}

async function load() {
  isLoading = true;
  try {
    const answer = await fetch(`${page.base}content?${page.subject}`);
    const text = await answer.text();
    if (answer.ok) {
      show(text);
      shown = answer.headers.get("X-Tidemark-State");
    } else {
      said.textContent = text;
    }
  } catch { /* the next beat says that the port is gone */ }
  isLoading = false;
}

function show(text) {
  const before = states();
  const made = main.cloneNode(false);
  made.innerHTML = text;
  const focused = document.activeElement;
  const refocus = () => focused !== document.activeElement && focused.isConnected && focused.focus({ preventScroll: true });
  morph(main, made);
  refocus(); // a node that moves loses it, and a button that is off cannot get it
  switchButtons();
  document.dispatchEvent(new Event("shown"));
  refocus();
  const after = states();
  // A short run may begin and end between two looks: then another one is the last.
  const ended = Object.keys(after).filter((job) => after[job].hasEnded && (before[job]?.at !== after[job].at || !before[job].hasEnded));
  if (ended.length) said.textContent = ended.map((job) => `${job}: ${after[job].text}`).join(", ");
}

// The state of each job and run on the page, so that an end can be announced.
function states() {
  return Object.fromEntries([...main.querySelectorAll("[data-key][data-kind]")].map((place) => [
    place.dataset.key, {
      text: place.querySelector(".state").textContent,
      hasEnded: !["active", "none"].includes(place.dataset.kind),
      at: place.querySelector("time")?.dateTime,
    },
  ]));
}

// Makes a place like another one, and keeps its nodes: focus, open tables and scrolling stay.
function morph(old, made) {
  for (const { name } of [...old.attributes]) {
    if (!made.hasAttribute(name) && !KEPT.includes(name)) old.removeAttribute(name);
  }
  for (const { name, value } of made.attributes) {
    if (old.getAttribute(name) !== value && !KEPT.includes(name)) old.setAttribute(name, value);
  }
  const isAtEnd = old.scrollHeight - old.scrollTop - old.clientHeight < 4;
  const wanted = [...made.childNodes];
  const byKey = new Map([...old.children].filter((child) => keyOf(child)).map((child) => [keyOf(child), child]));
  wanted.forEach((child, place) => {
    const same = keyOf(child) ? byKey.get(keyOf(child)) : old.childNodes[place];
    if (same && same.nodeName === child.nodeName && keyOf(same) === keyOf(child)) {
      if (old.childNodes[place] !== same) old.insertBefore(same, old.childNodes[place] ?? null);
      if (child.nodeType === Node.ELEMENT_NODE) morph(same, child);
      else if (same.nodeValue !== child.nodeValue) same.nodeValue = child.nodeValue;
    } else {
      old.insertBefore(child, old.childNodes[place] ?? null);
    }
  });
  while (old.childNodes.length > wanted.length) old.lastChild.remove();
  if (isAtEnd && old.classList?.contains("log")) old.scrollTop = old.scrollHeight;
}

function keyOf(node) {
  return node.id || node.dataset?.key || "";
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-act]");
  if (!button || button.getAttribute("aria-disabled") !== "false") return;
  said.textContent = `${button.textContent.trim()} …`;
  try {
    const answer = await fetch(page.base + button.dataset.act, { method: "POST", headers: { "X-Tidemark-Token": page.token } });
    said.textContent = await answer.text();
    load();
  } catch {
    said.textContent = "not done: the port does not answer";
    connected(false);
  }
});

for (const log of document.querySelectorAll("pre.log")) log.scrollTop = log.scrollHeight;
connected(true);
setTimeout(beat, BEAT_MS);

// Search, filter and order of the table of jobs; a row is shown or not, and the server's order returns.
const tools = ["search", "kind", "order"].map((id) => document.getElementById(id));

function applyTools() {
  const body = document.getElementById("rows");
  const [search, kind, order] = ["search", "kind", "order"].map((id) => document.getElementById(id)?.value ?? "");
  if (!body) return;
  const rows = [...body.rows];
  rows.forEach((row, place) => { row.dataset.place ??= place; });
  const value = (row) => ({
    key: () => row.dataset.key.toLowerCase(),
    at: () => Date.parse(row.querySelector("time")?.dateTime ?? 0),
  }[order] ?? (() => Number(row.dataset[order || "place"])))();
  const isUp = order === "" || order === "key";
  const sorted = [...rows].sort((a, b) => (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : 0) * (isUp ? 1 : -1));
  if (sorted.some((row, place) => row !== rows[place])) body.append(...sorted);
  for (const row of rows) {
    row.hidden = !row.dataset.key.toLowerCase().includes(search.trim().toLowerCase()) || (kind !== "" && row.dataset.kind !== kind);
  }
  const shownRows = rows.filter((row) => !row.hidden).length;
  const text = shownRows === rows.length ? "" : `${shownRows} of ${rows.length} jobs`;
  const count = document.getElementById("count");
  if (count.textContent !== text) count.textContent = text;
}

// Times: how long ago, and this machine's time beside that of the server, which is UTC.
const minutes = -new Date().getTimezoneOffset();

function tick() {
  const now = Date.now();
  for (const place of document.querySelectorAll("time")) {
    const at = new Date(place.dateTime);
    const text = `${age(now - at)} ago`;
    if (place.textContent !== text) place.textContent = text;
    place.title = `${at.toLocaleString()} here`;
    const utc = place.nextElementSibling;
    if (minutes && utc && !place.closest(".grid")) {
      utc.dataset.utc ??= utc.textContent;
      const here = at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
      const both = `${utc.dataset.utc} UTC, ${here} here`;
      if (utc.textContent !== both) utc.textContent = both;
    }
  }
  for (const bar of document.querySelectorAll("progress[data-from]")) bar.value = (now - bar.dataset.from) / 1000;
}

function age(ms) {
  const seconds = Math.max(ms, 0) / 1000;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min`;
  return seconds < 172800 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86400)} days`;
}

// Of the runs in a row of the grid one is reached by Tab, the others by the arrows.
function rove() {
  for (const cells of document.querySelectorAll("td.cells")) {
    const links = [...cells.querySelectorAll("a[href]")];
    const at = links.find((link) => link === document.activeElement) ?? links.at(-1);
    for (const link of links) link.tabIndex = link === at ? 0 : -1;
  }
}

document.addEventListener("keydown", (event) => {
  const link = event.target.closest?.("td.cells a");
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  const links = link && step ? [...link.parentElement.querySelectorAll("a")] : [];
  const next = links[links.indexOf(link) + step];
  if (!next) return;
  next.focus();
  rove();
  event.preventDefault();
});
for (const tool of tools) tool?.addEventListener("input", applyTools);
for (const happens of [applyTools, tick, rove]) {
  document.addEventListener("shown", happens);
  happens();
}
setInterval(tick, 1000);
const zone = document.getElementById("zone");
if (minutes) zone.textContent = `, here UTC${minutes < 0 ? "−" : "+"}${Math.floor(Math.abs(minutes) / 60)}${Math.abs(minutes) % 60 ? `:${Math.abs(minutes) % 60}` : ""}`;
