// A drag over a picture of time chooses a range: the address then says it, and all pictures of the
// page show that time alone. The same is reached by the links and the form above the pictures.

const least = 60; // seconds, as the server has it

let drag;

const scaleOf = (svg) => svg.querySelector(".fl-area")?.dataset;

// place is where the pointer is in the units of the picture, within its area.
function place(svg, d, event) {
  const x = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse()).x;
  return Math.min(Math.max(x, Number(d.left)), Number(d.right));
}

// part is how far along the axis a place is.
const part = (d, x) => (x - Number(d.left)) / (Number(d.right) - Number(d.left));

// paint shows the range in all pictures of the same time.
function paint() {
  for (const area of document.querySelectorAll("[data-brush] svg.fl-plot .fl-area")) {
    const d = area.dataset;
    if (d.xFrom !== drag.d.xFrom || d.xTo !== drag.d.xTo) continue;
    let box = area.querySelector(".fl-brush");
    if (!box) {
      box = document.createElementNS("http://www.w3.org/2000/svg", "rect");
      box.setAttribute("class", "fl-brush");
      area.append(box);
    }
    const width = Number(d.right) - Number(d.left);
    const [from, to] = [part(drag.d, drag.from), part(drag.d, drag.to)].sort((a, b) => a - b);
    for (const [k, v] of Object.entries({ x: Number(d.left) + from * width, y: d.top, width: (to - from) * width, height: d.bottom - d.top })) box.setAttribute(k, v);
  }
}

function stop() {
  drag = undefined;
  document.querySelectorAll(".fl-brush").forEach((box) => box.remove());
}

// choose goes to the address of the range.
function choose({ d, from, to }) {
  const [a, b] = [from, to].map((x) => Number(d.xFrom) + part(d, x) * (d.xTo - d.xFrom)).sort((a, b) => a - b);
  const middle = (a + b) / 2, half = Math.max(b - a, least) / 2;
  const url = new URL(location.href);
  const exactly = (seconds) => new Date(1000 * Math.round(seconds)).toISOString().replace(".000", "");
  url.searchParams.set("since", exactly(middle - half));
  url.searchParams.set("until", exactly(middle + half));
  url.hash = "history";
  location.assign(url);
}

document.addEventListener("pointerdown", (e) => {
  const svg = e.target.closest?.("[data-brush] svg.fl-plot");
  const d = svg && scaleOf(svg);
  if (!d || d.xUnit !== "clock" || e.button !== 0) return;
  const x = place(svg, d, e);
  drag = { svg, d, from: x, to: x, id: e.pointerId };
});

document.addEventListener("pointermove", (e) => {
  if (!drag || e.pointerId !== drag.id) return;
  drag.to = place(drag.svg, drag.d, e);
  if (Math.abs(drag.to - drag.from) < 4) return;
  document.getSelection()?.removeAllRanges();
  paint();
});

document.addEventListener("pointerup", (e) => {
  if (!drag || e.pointerId !== drag.id) return;
  const done = drag;
  stop();
  if (Math.abs(done.to - done.from) >= 8) choose(done); // less is a click
});

document.addEventListener("pointercancel", stop);
document.addEventListener("keydown", (e) => {
  if (e.key === "Escape" && drag) stop();
});
