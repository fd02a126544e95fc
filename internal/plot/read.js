"use strict";
// Pictures say their values under the pointer: at an instant, in all pictures of the same time.

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
  clock(v, offset) {
    const t = new Date((v + offset) * 1000).toUTCString(); // Sun, 22 Nov 2026 12:30:00 GMT
    return t.slice(5, 11) + " " + t.slice(17, 22);
  },
};

let box;

// boxOf is what values are written into.
function boxOf() {
  box ??= document.getElementById("value");
  if (!box) {
    box = document.createElement("div");
    box.id = "value";
    box.hidden = true;
    box.setAttribute("role", "status");
    document.body.append(box);
  }
  return box;
}

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

// values are those of all lines of a picture at a place in it, the line on top first.
function values(area, at) {
  const d = area.dataset, said = [];
  for (const line of area.querySelectorAll("[data-series]")) {
    const y = height(corners(line.querySelector(".fl-line")), at, line.dataset.kind === "step");
    if (y === null) continue;
    const value = between(d.yScale, Number(d.yFrom), Number(d.yTo), (Number(d.bottom) - y) / (d.bottom - d.top));
    said.unshift(line.dataset.series + "  " + units[d.yUnit](value));
  }
  return said;
}

function read(svg, event) {
  const area = svg.querySelector(".fl-area");
  if (!area.querySelector("[data-series]")) return hide();
  const d = area.dataset, left = Number(d.left), right = Number(d.right), top = Number(d.top), bottom = Number(d.bottom);
  const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  if (at.x < left || at.x > right || at.y < top || at.y > bottom) return hide();
  const part = (at.x - left) / (right - left), x = between(d.xScale, Number(d.xFrom), Number(d.xTo), part);
  const box = boxOf();
  box.textContent = [units[d.xUnit](x, Number(d.xOffset || 0)), ...values(area, at.x)].join("\n");
  box.hidden = false;
  box.style.left = Math.max(0, Math.min(event.clientX + 14, innerWidth - box.offsetWidth - 8)) + "px";
  box.style.top = Math.max(0, Math.min(event.clientY + 14, innerHeight - box.offsetHeight - 8)) + "px";
  hideMarks();
  for (const other of document.querySelectorAll("svg.fl-plot .fl-area")) {
    const o = other.dataset; // pictures of the same time have the same line, and say their values beside it
    if (o.xFrom === d.xFrom && o.xTo === d.xTo && o.xUnit === d.xUnit && other.querySelector("[data-series]")) {
      const place = Number(o.left) + part * (Number(o.right) - Number(o.left));
      mark(other, place, Number(o.top), Number(o.bottom));
      if (other !== area) note(other, place, values(other, place));
    }
  }
}

// note writes values beside the line on which they are read.
function note(area, x, lines) {
  const d = area.dataset, text = document.createElementNS("http://www.w3.org/2000/svg", "text");
  const before = x > (Number(d.left) + Number(d.right)) / 2;
  text.setAttribute("class", "fl-note");
  text.setAttribute("text-anchor", before ? "end" : "start");
  lines.forEach((line, i) => {
    const row = document.createElementNS("http://www.w3.org/2000/svg", "tspan");
    row.setAttribute("x", x + (before ? -6 : 6));
    row.setAttribute("y", Number(d.top) + 14 + 15 * i);
    row.textContent = line;
    text.append(row);
  });
  area.append(text);
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

function hideMarks() {
  document.querySelectorAll(".fl-cursor, .fl-note").forEach((line) => line.remove());
}

function hide() {
  if (!box || box.hidden) return;
  box.hidden = true;
  hideMarks();
}

document.addEventListener("pointermove", (event) => {
  const svg = event.target.closest?.("svg.fl-plot");
  if (svg?.querySelector(".fl-area [data-series]")) read(svg, event);
  else hide();
});
document.addEventListener("pointerleave", hide);
