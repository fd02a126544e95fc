// The script of the dashboard. Pages are whole without it; it keeps them up to date, and has keys.

const root = document.body.dataset.root;
const $ = (id) => document.getElementById(id);

// ---- Fragments: patch replaces the page by the server's new rendering, element by element, so that
// focus, selection, scrolling and the user's input stay.

const keyOf = (n) => (n.nodeType === 1 ? n.id || n.dataset.key || "" : "");
const same = (a, b) => a.nodeType === b.nodeType && a.nodeName === b.nodeName && keyOf(a) === keyOf(b);

// mine are attributes and properties that belong to the user once an element is there.
const mine = (n, name) => (name === "open" && n.nodeName === "DETAILS") || name === "aria-selected" || name === "checked";

function patch(from, to) {
  if (from.nodeType !== 1) {
    if (from.data !== to.data) from.data = to.data;
    return;
  }
  for (const a of [...from.attributes]) if (!to.hasAttribute(a.name) && !mine(from, a.name)) from.removeAttribute(a.name);
  for (const a of to.attributes) if (from.getAttribute(a.name) !== a.value && !mine(from, a.name)) from.setAttribute(a.name, a.value);
  patchChildren(from, to);
}

function patchChildren(from, to) {
  const known = new Map();
  for (const n of from.childNodes) if (keyOf(n)) known.set(keyOf(n), n);
  let at = from.firstChild;
  for (const next of [...to.childNodes]) {
    const kept = keyOf(next) && known.get(keyOf(next));
    if (kept && same(kept, next)) {
      known.delete(keyOf(next)); // another element with the same key is a different one
      if (kept === at) at = at.nextSibling;
      else from.insertBefore(kept, at);
      patch(kept, next);
    } else if (at && !keyOf(at) && same(at, next)) {
      const here = at;
      at = at.nextSibling;
      patch(here, next);
    } else {
      from.insertBefore(next, at);
    }
  }
  while (at) {
    const gone = at;
    at = at.nextSibling;
    gone.remove();
  }
}

function replacePart(id, html) {
  const part = $(id);
  if (!part) return;
  const page = new DOMParser().parseFromString("<body>" + html, "text/html");
  const next = part.cloneNode(false);
  next.append(...page.body.childNodes);
  const at = document.activeElement;
  patchChildren(part, next);
  if (at !== document.activeElement && at.isConnected) at.focus({ preventScroll: true }); // its row was moved
  document.dispatchEvent(new CustomEvent("part", { detail: id }));
}

// ---- Live: one stream of events for the page. It rests while nobody sees the page.

let stream, version = document.body.dataset.live, paused = false, tries = 0, timer, heard;
const live = version !== undefined && "EventSource" in window;

function say(state, text) {
  const s = $("status");
  s.hidden = false;
  s.dataset.state = state;
  s.lastElementChild.textContent = text;
}

function connect() {
  disconnect();
  if (!live || paused || document.hidden) return;
  const url = new URL(location.href);
  url.hash = "";
  url.searchParams.set("live", version);
  stream = new EventSource(url);
  stream.onopen = () => {
    tries = 0;
    heard = performance.now();
    say("live", "live");
    if ($("problem").textContent === signedOut) problem("");
  };
  stream.addEventListener("part", (e) => {
    const { id, html } = JSON.parse(e.data);
    replacePart(id, html);
    heard = performance.now();
    problem("");
  });
  stream.addEventListener("version", (e) => (version = JSON.parse(e.data).version));
  stream.addEventListener("problem", (e) => problem(JSON.parse(e.data).text));
  stream.onerror = () => {
    disconnect();
    say("away", "disconnected, retrying" + dataOf());
    known();
    timer = setTimeout(connect, Math.min(30000, 500 * 2 ** tries++) * (0.75 + Math.random() / 2));
  };
}

// known says so if the page gets nothing more because the session of this browser has ended.
const signedOut = "This browser is signed out: run `fairlead dashboard`, and open the address it prints.";

async function known() {
  const answer = await fetch(root + "v1/boosts").catch(() => undefined);
  if (answer?.status === 401) problem(signedOut);
}

function disconnect() {
  clearTimeout(timer);
  if (stream) stream.close();
  stream = undefined;
}

function problem(text) {
  $("problem").hidden = !text;
  $("problem").textContent = text;
}

// clockAt returns the date and time of an instant on the clock of the server, as on the rest of the page: the page was
// written when its first byte came, which may be long before this script runs on a busy machine.
const begun = performance.getEntriesByType("navigation")[0].responseStart;
const written = $("as-of")?.dateTime;

function clockAt(instant) {
  const then = Date.parse(written) + instant - begun;
  return new Date(then + 1000 * $("as-of").dataset.offset).toISOString().slice(0, 19).replace("T", " ");
}

// dataOf is the time of the last message of the server.
const dataOf = () => (written ? ` (data of ${clockAt(heard ?? begun).slice(11)})` : "");

// A printed page shows its time: now while the page is live, else the time of the last message of the server.
addEventListener("beforeprint", () => {
  const at = $("as-of"), last = stream?.readyState === EventSource.OPEN ? performance.now() : heard;
  if (at && last !== undefined) at.textContent = `${clockAt(last)} ${at.dataset.zone}`;
});

function pause() {
  if (!live) return;
  paused = !paused;
  $("pause").textContent = paused ? "Unfreeze" : "Freeze";
  if (paused) {
    disconnect();
    say("paused", "frozen" + dataOf());
  } else connect();
}

// ---- What if: a form whose answer is asked for while it is changed. The address keeps the question.

let asking, later;

// fetchPage gets a page. A foreign page, such as an error of a proxy, lacks the elements that callers
// look for.
async function fetchPage(url, options) {
  const answer = await fetch(url, options);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  return { answer, page, why: page.querySelector("main p.problem")?.textContent || `the server answered ${answer.status}; retry` };
}

const silent = (e) => `The server does not answer (${e.message}): retry`;

// instead replaces an outdated answer by a text; if the form itself stands there, the text goes above
// the page.
function instead(form, id, text) {
  if (!$(id) || $(id).contains(form)) return problem(text);
  const p = document.createElement("p");
  p.className = "problem";
  p.textContent = text;
  $(id).replaceChildren(p);
}

async function tryOut(form) {
  asking?.abort();
  asking = new AbortController();
  const url = new URL(location.href), id = form.dataset.try;
  url.search = "";
  for (const f of form.elements) {
    if (f.name && f.value && f.value !== f.dataset.now) url.searchParams.set(f.name, f.value);
  }
  history.replaceState(null, "", url);
  try {
    const { page, why } = await fetchPage(url, { signal: asking.signal });
    const part = page.getElementById(id);
    problem("");
    if (part) replacePart(id, part.innerHTML);
    else instead(form, id, why);
  } catch (e) {
    if (e.name !== "AbortError") instead(form, id, silent(e));
  }
}

// A slider and the field beside it show the same value; the form sends the field. A slider may go
// from text to text.
function together(at) {
  const other = $(at.dataset.for || at.dataset.slider || "");
  if (!other) return;
  const [slider, field] = at.dataset.for ? [at, other] : [other, at];
  const stops = slider.dataset.stops?.split(",");
  if (slider === at) field.value = stops ? stops[slider.value] : slider.value;
  else if (!stops) slider.value = field.value;
  else if (stops.includes(field.value)) slider.value = stops.indexOf(field.value);
  if (stops) slider.setAttribute("aria-valuetext", field.value || field.placeholder);
}

document.addEventListener("input", (e) => {
  const form = e.target.form;
  if (!form?.dataset.try) return;
  together(e.target);
  clearTimeout(later);
  later = setTimeout(() => tryOut(form), e.target.type === "range" ? 120 : 600);
});

// ---- Actions: the page that asks, and then what it answers, are shown in a dialog.

const ask = $("ask");

async function show(url, options) {
  try {
    const { answer, page } = await fetchPage(url, options);
    const body = page.getElementById("asked") || page.querySelector("main > section") || page.body;
    ask.replaceChildren(...body.childNodes);
    for (const e of ask.querySelectorAll("a[href], form[action]")) {
      const name = e.nodeName === "A" ? "href" : "action";
      e.setAttribute(name, new URL(e.getAttribute(name), answer.url).href);
    }
    if (options && answer.ok) untick(options.body);
    if (!ask.open) ask.showModal();
    (ask.querySelector("input:not([type=hidden])") || ask.querySelector("[data-close]"))?.focus();
  } catch (e) {
    problem(silent(e));
  }
}

document.addEventListener("click", (e) => {
  const link = e.target.closest?.("a[data-ask]");
  if (link && !e.ctrlKey && !e.metaKey && !e.shiftKey) {
    e.preventDefault();
    show(link.href);
  }
  if (ask.open && e.target.closest?.("[data-close]")) {
    e.preventDefault();
    ask.close();
  }
});

document.addEventListener("submit", (e) => {
  const form = e.target, button = e.submitter;
  if (button?.hasAttribute("data-ask")) {
    e.preventDefault();
    show(form.action + "?" + new URLSearchParams(new FormData(form, button)));
  } else if (ask.contains(form)) {
    e.preventDefault();
    show(form.action, { method: "POST", body: new URLSearchParams(new FormData(form, button)) });
  } else if (form.dataset.try) {
    e.preventDefault();
    tryOut(form);
  }
});

document.addEventListener("change", (e) => {
  if (e.target.id !== "tick-all") return;
  for (const box of document.querySelectorAll("input[name=job]:not(:disabled), input[name=node]:not(:disabled)")) box.checked = e.target.checked;
});

// untick takes the ticks from jobs that were changed: the next action is about others.
function untick(body) {
  const jobs = body.has("all") ? [...document.querySelectorAll("#list input[name=job]")].map((box) => box.value) : body.getAll("job");
  for (const id of jobs) if ($("tick-" + id)) $("tick-" + id).checked = false;
  if (jobs.length && $("tick-all")) $("tick-all").checked = false;
  ticked();
}

// ticked disables the buttons for selected jobs while no job is selected. It offers the jobs of other pages once
// all jobs of this page are selected.
function ticked() {
  const boxes = [...document.querySelectorAll("form[data-bulk] input[name=job]:not(:disabled)")];
  const every = $("tick-matching"), ticks = boxes.filter((box) => box.checked).length;
  if (every) {
    const whole = ticks === boxes.length && (ticks > 0 || $("tick-all").checked);
    $("all").hidden = !whole;
    every.checked &&= whole;
  }
  const some = ticks > 0 || every?.checked;
  for (const button of document.querySelectorAll("form[data-bulk] #bulk button")) {
    button.disabled = !some;
    if (some) button.removeAttribute("title");
    else button.title = "select jobs first";
  }
}

document.addEventListener("change", ticked);
document.addEventListener("part", ticked);
addEventListener("pageshow", ticked);

// ---- Check: the page shows errors of a text while the user writes it.

let checking, soon;

async function check(form) {
  checking?.abort();
  checking = new AbortController();
  const body = new URLSearchParams(new FormData(form));
  try {
    const { page, why } = await fetchPage(form.action, { method: "POST", body, signal: checking.signal });
    const part = page.getElementById(form.dataset.check);
    problem("");
    if (part) replacePart(form.dataset.check, part.innerHTML);
    else instead(form, form.dataset.check, "Not checked: " + why);
  } catch (e) {
    if (e.name !== "AbortError") instead(form, form.dataset.check, "Not checked. " + silent(e));
  }
}

document.addEventListener("input", (e) => {
  const form = e.target.form;
  if (!form?.dataset.check || e.target.nodeName !== "TEXTAREA") return;
  const plan = $("planned"); // it is of another text now
  if (plan) plan.hidden = true;
  clearTimeout(soon);
  soon = setTimeout(() => check(form), 250);
});

// ---- Light and dark: as the system is, or as was chosen here.

function theme() {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const order = dark ? ["", "light", "dark"] : ["", "dark", "light"];
  const next = order[(order.indexOf(document.documentElement.dataset.theme || "") + 1) % 3];
  if (next) document.documentElement.dataset.theme = next;
  else delete document.documentElement.dataset.theme;
  const path = new URL(root, location.href).pathname;
  document.cookie = `fairlead-theme=${next}; path=${path}; max-age=${next ? 31536000 : 0}; samesite=strict`;
}

// ---- Keys.

const rows = () => [...document.querySelectorAll("main tr[data-href]")].filter((r) => r.getClientRects().length);
const chosen = () => document.querySelector("main tr[aria-selected=true]");

function move(by) {
  const all = rows(), now = chosen();
  if (!all.length) return;
  const i = now ? Math.min(all.length - 1, Math.max(0, all.indexOf(now) + by)) : 0;
  if (now) now.removeAttribute("aria-selected");
  all[i].setAttribute("aria-selected", "true");
  all[i].scrollIntoView({ block: "nearest" });
  (all[i].querySelector("a[href]") || all[i]).focus({ preventScroll: true }); // Tab goes on from there
}

// tick ticks the row, and the focus goes to its box: Tab, and then shift, lead on from there.
function tick() {
  const box = chosen()?.querySelector("input[type=checkbox]");
  box?.click();
  box?.focus({ preventScroll: true });
}

// toActions moves the focus to the first action for the selected jobs.
function toActions() {
  document.querySelector("#bulk button:enabled, main .actions a, main .actions button")?.focus();
}

let leading = false;

const keys = {
  "?": () => $("help").showModal(),
  "/": () => (document.querySelector("main input[type=search]") || document.querySelector("input[type=search]"))?.focus(),
  j: () => move(1),
  k: () => move(-1),
  w: () => open(),
  Enter: () => open(),
  x: tick,
  a: toActions,
  p: pause,
  t: theme,
  g: () => {
    leading = true;
    setTimeout(() => (leading = false), 1500);
  },
};

function open() {
  const row = chosen();
  if (row) location.href = row.dataset.href;
}

document.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || document.querySelector("dialog[open]")) return;
  const at = e.target;
  if (at.matches?.("input:not([type=checkbox]):not([type=range]), select, textarea")) {
    if (e.key === "Escape") at.blur();
    return;
  }
  if (e.key === "Enter" && at.matches?.("a, button, input:not([type=checkbox]), summary")) return;
  if (leading) {
    leading = false;
    const to = [...document.querySelectorAll("header nav a")].find((a) => a.dataset.key === e.key);
    if (to) {
      e.preventDefault();
      to.click();
      return;
    }
  }
  const act = Object.hasOwn(keys, e.key) && keys[e.key];
  if (!act) return;
  e.preventDefault();
  act();
});

// ---- Begin.

for (const id of ["theme", "keys"]) $(id).hidden = false;
$("theme").onclick = theme;
$("keys").onclick = keys["?"];
$("pause").hidden = !live;
$("pause").onclick = pause;
document.addEventListener("visibilitychange", connect);
addEventListener("pagehide", disconnect);
addEventListener("pageshow", (e) => e.persisted && connect());
connect();
