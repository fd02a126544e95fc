"use strict";
// Tables are sorted by a click on the head of a column, pictures say their values under
// the pointer. Without this script the page shows the same.

for (const table of document.querySelectorAll("table")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => sort(table, heads, column));
  });
}

function sort(table, heads, column) {
  const before = heads[column].getAttribute("aria-sort");
  const up = before ? before === "descending" : column === 0;
  heads.forEach((h) => h.removeAttribute("aria-sort"));
  heads[column].setAttribute("aria-sort", up ? "ascending" : "descending");
  const key = (row) => row.cells[column].dataset.sort;
  const compare = column === 0
    ? (a, b) => key(a).localeCompare(key(b), "en", { numeric: true })
    : (a, b) => Number(key(a)) - Number(key(b));
  const rows = [...table.tBodies[0].rows].sort((a, b) => (up ? compare(a, b) : compare(b, a)));
  table.tBodies[0].append(...rows);
}

// Units as the pictures write them.
const units = {
  seconds(v) {
    const sign = v < 0 ? "-" : "";
    v = Math.abs(v);
    if (v < 60) return sign + Math.round(v * 10) / 10 + "s";
    for (const [size, small, big, rest] of [[86400, 3600, "d", "h"], [3600, 60, "h", "m"], [60, 1, "m", "s"]]) {
      const whole = Math.round(v / small) * small;
      if (whole < size) continue;
      const left = Math.round((whole % size) / small);
      return sign + Math.floor(whole / size).toLocaleString("en") + big + (left ? left + rest : "");
    }
    return sign + Math.round(v) + "s";
  },
  percent: (v) => (100 * v).toFixed(1) + "%",
  number: (v) => v.toLocaleString("en", { maximumSignificantDigits: 4 }),
};

const box = document.getElementById("value");

// corners reads the points of a line out of its path.
function corners(path) {
  if (path.corners) return path.corners;
  const points = [];
  let x = 0, y = 0;
  for (const [, letter, numbers] of path.getAttribute("d").matchAll(/([MLHV])([^MLHV]*)/g)) {
    const n = numbers.trim().split(/\s+/).map(Number);
    if (letter === "H") x = n[0];
    else if (letter === "V") y = n[0];
    else [x, y] = n;
    if (letter !== "H") points.push([x, y]);
  }
  return (path.corners = points);
}

// height is where a line is at x, in pixels; steps hold until the next.
function height(points, x, step) {
  if (!points.length || x < points[0][0] || x > points[points.length - 1][0]) return null;
  let low = 0, high = points.length - 1;
  while (low < high) {
    const mid = (low + high + 1) >> 1;
    if (points[mid][0] <= x) low = mid;
    else high = mid - 1;
  }
  const a = points[low], b = points[low + 1];
  if (step || !b) return a[1];
  return a[1] + ((b[1] - a[1]) * (x - a[0])) / (b[0] - a[0]);
}

// between is the value at a part of the way along an axis.
function between(scale, from, to, part) {
  return scale === "log" ? from * Math.pow(to / from, part) : from + part * (to - from);
}

function read(svg, event) {
  const area = svg.querySelector(".fl-area");
  const lines = area.querySelectorAll("[data-series]");
  if (!lines.length) return hide();
  const d = area.dataset, left = Number(d.left), right = Number(d.right), top = Number(d.top), bottom = Number(d.bottom);
  const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  if (at.x < left || at.x > right || at.y < top || at.y > bottom) return hide();
  const said = [units[d.xUnit](between(d.xScale, Number(d.xFrom), Number(d.xTo), (at.x - left) / (right - left)))];
  for (const line of lines) {
    const y = height(corners(line.querySelector(".fl-line")), at.x, line.dataset.kind === "step");
    if (y === null) continue;
    const value = between(d.yScale, Number(d.yFrom), Number(d.yTo), (bottom - y) / (bottom - top));
    said.push(line.dataset.series + "  " + units[d.yUnit](value));
  }
  box.textContent = said.slice(0, 1).concat(said.slice(1).reverse()).join("\n");
  box.hidden = false;
  box.style.left = Math.max(0, Math.min(event.clientX + 14, innerWidth - box.offsetWidth - 8)) + "px";
  box.style.top = Math.max(0, Math.min(event.clientY + 14, innerHeight - box.offsetHeight - 8)) + "px";
  mark(area, at.x, top, bottom);
}

// mark draws the line on which values are read.
function mark(area, x, top, bottom) {
  let line = area.querySelector(".fl-cursor");
  if (!line) {
    line = document.createElementNS("http://www.w3.org/2000/svg", "line");
    line.setAttribute("class", "fl-cursor");
    area.append(line);
  }
  for (const [k, v] of Object.entries({ x1: x, x2: x, y1: top, y2: bottom })) line.setAttribute(k, v);
}

function hide() {
  box.hidden = true;
  document.querySelectorAll(".fl-cursor").forEach((line) => line.remove());
}

for (const svg of document.querySelectorAll("svg.fl-plot")) {
  if (!svg.querySelector(".fl-area [data-series]")) continue;
  svg.addEventListener("pointermove", (event) => read(svg, event));
  svg.addEventListener("pointerleave", hide);
}
