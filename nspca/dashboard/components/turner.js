// A line through a cloud of points, turned by a slider. The server gets its angle when the guess is sent.
const SIZE = 300, EDGE = 14, LARGEST = 11;
const views = new WeakMap();
const SVG = "http://www.w3.org/2000/svg";

class View {
  constructor(root) {
    this.root = root;
    this.picture = root.querySelector("svg.cloud");
    this.slider = root.querySelector(".angle");
    this.button = root.querySelector(".send");
    this.slider.oninput = () => this.turn();
    this.button.onclick = () => { this.sent = +this.slider.value; this.send("guess", this.sent); this.turn(); };
    const point = (event) => {
      const box = this.picture.getBoundingClientRect();
      const right = event.clientX - box.left - box.width / 2, up = box.top + box.height / 2 - event.clientY;
      this.slider.value = ((Math.atan2(up, right) * 180) / Math.PI + 360) % 180;
      this.turn();
    };
    this.picture.onpointerdown = (event) => { this.held = true; this.picture.setPointerCapture(event.pointerId); point(event); };
    this.picture.onpointermove = (event) => { if (this.held) point(event); };
    this.picture.onpointerup = this.picture.onpointercancel = () => { this.held = false; };
  }

  update({ data, setStateValue }) {
    this.send = setStateValue;
    const seen = JSON.stringify(data);
    if (seen === this.seen) return;
    if (!this.data) this.slider.value = data.guessed ?? 0;
    Object.assign(this, { data, seen, sent: data.guessed });
    this.button.textContent = data.send;
    const most = Math.max(...data.points.map(([, , count]) => count), 1);
    const made = data.points.map(([x, y, count]) => {
      const dot = document.createElementNS(SVG, "circle");
      const place = (value) => EDGE + value * (SIZE - 2 * EDGE);
      for (const [name, value] of Object.entries({ cx: place(x), cy: place(1 - y), r: LARGEST * Math.sqrt(count / most) })) dot.setAttribute(name, value);
      return dot;
    });
    this.line = document.createElementNS(SVG, "line");
    this.picture.replaceChildren(...made, this.line);
    this.turn();
  }

  // The line passes through the mean of the points.
  turn() {
    const angle = (+this.slider.value * Math.PI) / 180, [x, y] = this.data.middle, reach = SIZE;
    const at = [EDGE + x * (SIZE - 2 * EDGE), EDGE + (1 - y) * (SIZE - 2 * EDGE)];
    const step = [reach * Math.cos(angle), -reach * Math.sin(angle)];
    for (const [name, value] of Object.entries({ x1: at[0] - step[0], y1: at[1] - step[1], x2: at[0] + step[0], y2: at[1] + step[1] })) {
      this.line.setAttribute(name, value);
    }
    const degrees = `${Math.round(+this.slider.value)}°`;
    this.slider.setAttribute("aria-valuetext", degrees);
    const count = this.data.points.reduce((sum, [, , many]) => sum + many, 0);
    this.picture.setAttribute("aria-label", `${count} points, and a line through their middle at ${degrees}`);
    this.root.querySelector(".say").textContent = this.sent === null ? degrees : `${degrees}. Your guess was sent: ${Math.round(this.sent)}°.`;
  }
}

export default function (component) {
  const { parentElement } = component;
  if (!views.has(parentElement)) views.set(parentElement, new View(parentElement.querySelector(".nspca-turner")));
  views.get(parentElement).update(component);
  return () => views.delete(parentElement);
}
