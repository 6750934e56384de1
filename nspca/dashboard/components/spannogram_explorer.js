// With data.ask a visitor first guesses an angle; the values of the sets are hidden until "Reveal".
// All curves, the band and the objective are drawn once on a hidden canvas. Each frame copies it, and adds the lit curves and the line.
const RIGHT = 14, STEPS = 180, MOST_LINES = 1000;
const LIT = "#2a85c7", STAR = "#c0265a", GREY = "#868d99";
const BAND = ["#c6cad1", "#8b919c"];
// The colours of weights, as in nspca/plots/theme.py: SEQUENTIAL, and DIVERGING for weights of both signs.
const ONE_SIGN = [[0, [255, 233, 168]], [0.35, [253, 178, 85]], [0.7, [226, 87, 43]], [1, [143, 13, 44]]];
const BOTH_SIGNS = [[0, [11, 79, 138]], [0.25, [90, 165, 216]], [0.5, [239, 239, 239]], [0.75, [240, 149, 90]], [1, [156, 51, 6]]];
const MOST_BARS = 14;
// In a narrow drawing, curves and component are lower, so that both fit on the screen of a phone with the slider.
const AT_STAR = 0.99999;  // share of the optimum from which an angle counts as that of the star
const NARROW = 560, LOW_CURVES = 270, LOW_PICTURE = 150;
const views = new WeakMap();

// A reached share is rounded down, after a tolerance for the last bit of the quotient.
const shareText = (share) => `${(Math.floor(1000 * share + 1e-9) / 10).toFixed(1)} %`;

function decode(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return new Float64Array(bytes.buffer);
}

// Indices of the k largest positive values, largest first; ties go to the lowest index.
function topSet(values, k) {
  const n = values.length;
  const sorted = Float64Array.from(values).sort();
  const level = Math.max(sorted[Math.max(0, n - k)], 0);
  const above = [], at = [];
  for (let i = 0; i < n; i++) {
    if (values[i] > level) above.push(i);
    else if (values[i] === level && level > 0) at.push(i);
  }
  return above.concat(at.slice(0, k - above.length)).sort((a, b) => values[b] - values[a] || a - b);
}

function inDegrees(phi) { return `${((phi * 180) / Math.PI).toFixed(1)}°`.replace("-", "−"); }

function colour(scale, t) {
  const j = Math.max(1, scale.findIndex(([end]) => t <= end));
  const [[a, from], [b, to]] = [scale[j - 1], scale[j]];
  const part = Math.min(1, Math.max(0, (t - a) / (b - a)));
  return `rgb(${from.map((v, c) => Math.round(v + part * (to[c] - v))).join(",")})`;
}

class View {
  constructor(root) {
    this.root = root;
    this.canvas = root.querySelector("canvas.curves");
    this.sheet = root.querySelector("canvas.component");
    this.slider = root.querySelector(".angle");
    this.still = document.createElement("canvas");
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(root);
    this.fit = () => { this.width = 0; this.resize(); };
    addEventListener("resize", this.fit);  // the height follows the screen in present mode
    this.slider.oninput = () => { this.stop(); this.go((this.slider.value * Math.PI) / 180); };
    this.slider.onchange = () => this.tell();
    this.slider.onkeydown = (e) => { if (e.key.startsWith("Arrow")) e.stopPropagation(); };  // arrow keys would turn the page
    root.querySelector(".reveal").onclick = () => {
      this.stop();
      this.guessed = this.guessed === null || this.data.send ? this.phi : null;
      this.send("guess", this.guessed);
      this.drawStill();
      this.go(this.phi);
    };
    root.querySelector(".play").onclick = () => (this.playing ? this.stop(true) : this.play());
    root.querySelector(".best").onclick = () => { this.stop(); this.go(this.data.optimum.phi); this.tell(); };
    this.canvas.onpointerdown = (e) => {
      this.stop();
      this.canvas.setPointerCapture(e.pointerId);
      this.held = { phi: this.phi };
      this.point(e);
    };
    this.canvas.onpointermove = (e) => { if (this.held) this.point(e); };
    this.canvas.onpointerup = () => { if (this.held) { this.held = null; this.tell(); } };
    // The finger scrolls the page, so the angle is restored.
    this.canvas.onpointercancel = () => { if (this.held) { this.go(this.held.phi); this.held = null; } };
  }

  update(component) {
    this.send = component.setStateValue;
    const data = component.data;
    const style = getComputedStyle(this.root);
    const ink = style.color;
    const same = this.data && JSON.stringify(data) === this.seen && ink === this.ink;
    if (same) return;
    const start = !this.data || data.phi !== this.data.phi || data.rows !== this.data.rows;
    Object.assign(this, { data, ink, seen: JSON.stringify(data), font: style.fontFamily });
    this.rows = decode(data.rows);
    this.n = this.rows.length / 2;
    this.values = new Float64Array(this.n);
    this.top = 0;
    for (let i = 0; i < this.n; i++) this.top = Math.max(this.top, Math.hypot(this.rows[2 * i], this.rows[2 * i + 1]));
    this.top = this.top * 1.04 || 1;
    this.most = 1.08 * Math.max(...data.objective.flat(), data.optimum.value) || 1;
    this.root.classList.toggle("room", data.scale > 1);
    if (start) this.phi = data.phi;
    this.guessed = data.guessed;
    root_text(this.root.querySelector(".steps"), data.steps ?? []);
    this.root.querySelector(".aside").hidden = !data.picture;
    this.canvas.setAttribute("aria-label", `Spannogram of ${this.n} curves with the ${data.k} on top lit; use the slider below to change the angle.`);
    this.width = 0;
    this.resize();
  }

  // Whether the values of the sets are hidden. A phone that sends a guess never shows them.
  get hidden() { return Boolean(this.data.send) || (this.data.ask && this.guessed === null); }

  // Factor of the font size: the one from Python, and in present mode more on a large screen.
  get scale() { return this.data.scale > 1 ? this.data.scale * Math.min(1.6, Math.max(1, innerHeight / 800)) : 1; }

  get room() { return +getComputedStyle(this.root).getPropertyValue("--nspca-room") || 1; }

  resize() {
    const width = this.canvas.clientWidth;
    if (!this.data || !width || width === this.width) return;
    const ratio = globalThis.devicePixelRatio || 1;
    const narrow = this.root.clientWidth <= NARROW;
    const base = narrow ? Math.min(this.data.height, LOW_CURVES) : this.data.height;
    Object.assign(this, { width, height: Math.round(base * this.room), ratio, narrow });
    for (const canvas of [this.canvas, this.still]) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(this.height * ratio);
    }
    this.canvas.style.height = `calc(${base}px * var(--nspca-room, 1))`;
    const { scale } = this, low = this.height - 40 * scale;
    this.left = 64 * scale;
    Object.assign(this.slider.style, { marginLeft: `${this.left - 8}px`, width: `calc(100% - ${this.left - 2}px)` });
    // A phone that sends a guess draws the curves alone.
    const bottom = this.data.send ? low : Math.round(0.6 * low);
    this.curves = { top: 26 * scale, bottom, low: -this.top, high: this.top };
    this.band = { top: this.curves.bottom + 8, each: 9 };
    const top = this.data.send ? low : this.band.top + 11 + 26 * scale;
    this.goal = { top, bottom: low, low: 0, high: this.most };
    this.drawStill();
    this.go(this.phi);
  }

  x(phi) { return this.left + ((phi + Math.PI / 2) / Math.PI) * (this.width - this.left - RIGHT); }
  y(panel, value) { return panel.bottom - ((value - panel.low) / (panel.high - panel.low)) * (panel.bottom - panel.top); }

  begin(canvas) {
    const g = canvas.getContext("2d");
    g.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    g.clearRect(0, 0, this.width, this.height);
    g.font = `${12 * this.scale}px ${this.font}`;
    g.lineJoin = "round";
    return g;
  }

  curve(g, i) {
    const a = this.rows[2 * i], b = this.rows[2 * i + 1];
    for (let s = 0; s <= STEPS; s++) {
      const phi = -Math.PI / 2 + (s * Math.PI) / STEPS;
      const x = this.x(phi), y = this.y(this.curves, a * Math.sin(phi) + b * Math.cos(phi));
      if (s) g.lineTo(x, y); else g.moveTo(x, y);
    }
  }

  drawStill() {
    const g = this.begin(this.still), { data, curves, goal, band } = this;
    this.axes(g);
    if (this.n > MOST_LINES) this.raster(g);
    else {
      g.strokeStyle = GREY;
      g.lineWidth = 1;
      g.globalAlpha = Math.min(0.55, Math.max(0.1, 45 / this.n));
      for (let i = 0; i < this.n; i++) { g.beginPath(); this.curve(g, i); g.stroke(); }
      g.globalAlpha = 1;
    }
    if (this.hidden) return this.keepBack(g);
    const edges = data.edges;
    for (let j = 0; j + 1 < edges.length; j++) {
      g.fillStyle = BAND[j % BAND.length];
      g.fillRect(this.x(edges[j]), band.top, this.x(edges[j + 1]) - this.x(edges[j]), band.each);
    }
    g.strokeStyle = LIT;
    g.lineWidth = 2.2;
    g.beginPath();
    data.objective.forEach((value, j) => {
      const x = this.x(data.grid[j]), y = this.y(goal, value);
      if (j) g.lineTo(x, y); else g.moveTo(x, y);
    });
    g.stroke();
  }

  // Before the guess the lower panel is empty except for a sentence.
  keepBack(g) {
    if (this.data.send) return;
    g.textAlign = "right";
    g.fillText("hidden until you press Reveal", this.width - RIGHT - 8, (this.goal.top + this.goal.bottom) / 2);
  }

  // Draws many curves as a picture of their number in each pixel, on a logarithmic scale of grey.
  raster(g) {
    const { rows, n, curves } = this;
    const wide = Math.round(this.width - this.left - RIGHT), tall = Math.round(curves.bottom - curves.top);
    const counts = new Uint32Array(wide * tall);
    for (let x = 0; x < wide; x++) {
      const phi = -Math.PI / 2 + (x * Math.PI) / (wide - 1), s = Math.sin(phi), c = Math.cos(phi);
      for (let i = 0; i < n; i++) {
        const y = Math.floor(((curves.high - rows[2 * i] * s - rows[2 * i + 1] * c) / (curves.high - curves.low)) * tall);
        counts[Math.min(tall - 1, Math.max(0, y)) * wide + x]++;
      }
    }
    const sheet = document.createElement("canvas");
    sheet.width = wide;
    sheet.height = tall;
    const most = Math.log1p(counts.reduce((a, b) => Math.max(a, b), 1));
    const image = new ImageData(wide, tall);
    counts.forEach((count, p) => image.data.set([0x86, 0x8d, 0x99, count ? 50 + 190 * (Math.log1p(count) / most) : 0], 4 * p));
    sheet.getContext("2d").putImageData(image, 0, 0);
    g.drawImage(sheet, this.left, curves.top, wide, tall);
  }

  axes(g) {
    const { curves, goal, band, data } = this;
    g.fillStyle = this.ink;
    g.strokeStyle = "rgba(128,128,128,0.25)";
    g.lineWidth = 1;
    g.textAlign = "center";
    for (let degrees = -90; degrees <= 90; degrees += 30) {
      const x = this.x((degrees * Math.PI) / 180);
      g.beginPath(); g.moveTo(x, curves.top); g.lineTo(x, curves.bottom); g.moveTo(x, goal.top); g.lineTo(x, goal.bottom); g.stroke();
      g.fillText(`${degrees}°`.replace("-", "−"), x, goal.bottom + 16 * this.scale);
    }
    g.fillText("angle φ", (this.left + this.width - RIGHT) / 2, goal.bottom + 32 * this.scale);
    g.textAlign = "right";
    const line = (panel, value, text) => {
      const y = this.y(panel, value);
      g.beginPath(); g.moveTo(this.left, y); g.lineTo(this.width - RIGHT, y); g.stroke();
      g.fillText(text.replace("-", "−"), this.left - 8, y + 4);
    };
    const number = (v) => (v === 0 ? "0" : Math.abs(v) < 1e5 && Math.abs(v) >= 1e-3 ? `${+v.toPrecision(2)}` : v.toExponential(0));
    for (const part of [-0.5, 0, 0.5]) line(curves, +(part * this.top).toPrecision(1), number(+(part * this.top).toPrecision(1)));
    const percent = data.unit !== 1, scale = percent ? 100 / data.unit : 1;
    const rough = (this.most * scale) / 4, ten = 10 ** Math.floor(Math.log10(rough));
    const step = ten * [1, 2, 5, 10].find((m) => m * ten >= rough);
    for (let t = 0; !data.send && t <= this.most * scale; t += step) line(goal, t / scale, percent ? `${+t.toPrecision(3)} %` : number(t));
    g.textAlign = "left";
    const one = `one curve for each ${data.noun ?? "feature"}`, long = `${one}: its weight at each angle`;
    g.fillText(g.measureText(long).width < this.width - this.left - RIGHT ? long : one, this.left, curves.top - 10);
    if (data.send) return;
    const lit = data.nonneg ? "highest" : "farthest", full = `what the ${data.k} ${lit} keep in the two directions`;
    const words = [full + (percent ? `, % of ${data.unitName}` : ""), full, `kept by the ${data.k} ${lit}`];
    g.fillText(words.find((text) => g.measureText(text).width < this.width - this.left - RIGHT) ?? words[2], this.left, goal.top - 8);
    g.textAlign = "right";
    if (!this.hidden) g.fillText("best sets", this.left - 8, band.top + 8.5);
  }

  // A vertical line through both panels, which leaves the words between them free.
  needle(g, x) {
    const { curves, band, goal } = this;
    g.beginPath(); g.moveTo(x, curves.top); g.lineTo(x, band.top + band.each); g.moveTo(x, goal.top); g.lineTo(x, goal.bottom); g.stroke();
  }

  star(g, x, y) {
    g.fillStyle = STAR;
    g.beginPath();
    for (let i = 0; i < 10; i++) {
      const r = i % 2 ? 4 : 9, a = (i * Math.PI) / 5 - Math.PI / 2;
      g.lineTo(x + r * Math.cos(a), y + r * Math.sin(a));
    }
    g.closePath();
    g.strokeStyle = "#fff";
    g.lineWidth = 1.5;
    g.stroke();
    g.fill();
  }

  go(phi) {
    this.phi = Math.min(Math.PI / 2, Math.max(-Math.PI / 2, phi));
    if (!this.pending) this.pending = requestAnimationFrame(() => { this.pending = 0; this.frame(); });
  }

  // The features on top at an angle, what they capture, and the heights of all curves there. With weights of
  // any sign, those farthest from zero count.
  lit(phi = this.phi) {
    const { rows, values, n, data } = this;
    const s = Math.sin(phi), c = Math.cos(phi);
    const at = new Float64Array(n);
    for (let i = 0; i < n; i++) at[i] = rows[2 * i] * s + rows[2 * i + 1] * c;
    for (let i = 0; i < n; i++) values[i] = data.nonneg ? at[i] : Math.abs(at[i]);
    const set = topSet(values, data.k);
    return { set, value: set.reduce((sum, i) => sum + at[i] * at[i], 0), at };
  }

  frame() {
    if (!this.data || !this.width) return;
    const g = this.begin(this.canvas), { curves, goal } = this;
    const lit = this.lit();
    g.save(); g.setTransform(1, 0, 0, 1, 0, 0); g.drawImage(this.still, 0, 0); g.restore();
    const x = this.x(this.phi);
    g.strokeStyle = g.fillStyle = LIT;
    g.globalAlpha = 0.85;
    g.lineWidth = 1.4;
    g.beginPath();
    for (const i of lit.set) this.curve(g, i);
    g.stroke();
    g.globalAlpha = 1;
    for (const i of lit.set) { g.beginPath(); g.arc(x, this.y(curves, lit.at[i]), 3, 0, 7); g.fill(); }
    if (!this.hidden) { g.beginPath(); g.arc(x, this.y(goal, lit.value), 5.5, 0, 7); g.fill(); }
    if (!this.hidden) this.stretch(g);
    g.strokeStyle = this.ink;
    g.globalAlpha = 0.7;
    g.lineWidth = 1.2;
    this.needle(g, x);
    g.globalAlpha = 1;
    this.component(lit);
    this.words(lit);
    if (this.hidden) return;
    this.star(g, this.x(this.data.optimum.phi), this.y(goal, this.data.optimum.value));
    if (this.guessed !== null) {
      const at = this.x(this.guessed), height = this.y(goal, this.lit(this.guessed).value);
      g.setLineDash([5, 4]);
      this.needle(g, at);
      g.setLineDash([]);
      g.lineWidth = 2;
      g.beginPath(); g.arc(at, height, 7, 0, 7); g.stroke();
    }
  }

  // Draws the interval of angles with the set of this angle on top, in the colour of its curves.
  stretch(g) {
    const { band, data: { edges } } = this, after = edges.findIndex((edge) => edge > this.phi);
    const end = after < 0 ? edges.length - 1 : after;
    if (end < 1) return;
    g.fillStyle = LIT;
    g.fillRect(this.x(edges[end - 1]), band.top, this.x(edges[end]) - this.x(edges[end - 1]), band.each);
  }

  // Draws the component at this angle. Its weights are the heights of the lit curves, brought to length one.
  component({ set, at }) {
    const { data, sheet } = this, box = sheet.parentElement.clientWidth;
    if (!data.picture || !box) return;
    const weights = new Map(), length = Math.sqrt(set.reduce((sum, i) => sum + at[i] * at[i], 0)) || 1;
    const turn = set.reduce((sum, i) => sum + at[i], 0) < 0 ? -1 : 1;
    for (const i of set) weights.set(i, (turn * at[i]) / length);
    const shape = data.picture.shape, size = Math.max(...[...weights.values()].map(Math.abs), 1e-9);
    const alone = data.steps?.length ? data.picture.most : this.height;  // without sentences below, as high as the curves
    const most = this.narrow ? Math.min(data.picture.most, LOW_PICTURE) : alone;
    const side = shape ? Math.min(most / shape[0], box / shape[1]) : 0;
    const wide = shape ? side * shape[1] : box;
    const tall = shape ? side * shape[0] : Math.min(set.length, MOST_BARS) * 18 * this.scale + 4;
    sheet.width = Math.round(wide * this.ratio);
    sheet.height = Math.round(tall * this.ratio);
    sheet.style.width = `${wide}px`;
    sheet.style.height = `${tall}px`;
    const g = sheet.getContext("2d");
    g.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    const tint = (w) => (data.nonneg ? colour(ONE_SIGN, w / size) : colour(BOTH_SIGNS, 0.5 + w / size / 2));
    if (shape) this.pixels(g, shape, side, weights, tint);
    else this.bars(g, wide, set, weights, size, tint);
    const names = set.slice(0, 20).map((i) => (data.names ? data.names[i] : `feature ${i}`));
    sheet.setAttribute("aria-label", `Component of ${set.length} features: ${names.join(", ")}`);
  }

  pixels(g, [height, width], side, weights, tint) {
    const mean = this.data.picture.mean;
    for (let i = 0; i < height * width; i++) {
      const grey = Math.round(110 + 145 * (mean ? mean[i] : 0.8));
      g.fillStyle = weights.has(i) ? tint(weights.get(i)) : `rgb(${grey},${grey},${grey})`;
      g.fillRect((i % width) * side, Math.floor(i / width) * side, side + 0.5, side + 0.5);
    }
  }

  bars(g, wide, set, weights, size, tint) {
    const { data } = this, line = 18 * this.scale, left = Math.min(190 * this.scale, wide * 0.55);
    g.font = `${12 * this.scale}px ${this.font}`;
    g.textAlign = "right";
    const shown = set.length > MOST_BARS ? set.slice(0, MOST_BARS - 1) : set;
    shown.forEach((i, row) => {
      g.fillStyle = tint(weights.get(i));
      g.fillRect(left + 6, row * line + 2, ((wide - left - 10) * Math.abs(weights.get(i))) / size, line - 4);
      g.fillStyle = this.ink;
      g.fillText(data.names ? data.names[i] : `feature ${i}`, left, row * line + line * 0.72, left);
    });
    if (shown.length < set.length) g.fillText(`and ${set.length - shown.length} more`, left, (MOST_BARS - 1) * line + line * 0.72);
  }

  words({ set, value }) {
    const { data, phi } = this;
    this.slider.value = ((phi * 180) / Math.PI).toFixed(1);
    const curves = `the ${set.length} ${data.nonneg ? "highest curves" : "curves farthest from zero"}`;
    // The angle of the star is rounded, so the value there may be a little below the optimum.
    const share = value / data.optimum.value;
    const text = `φ = ${inDegrees(phi)}: ` + (this.hidden
      ? `the ${data.k} highest curves are lit`
      : share >= AT_STAR ? `${curves} keep the most here, at the star`
      : `${curves} keep ${shareText(share)} of what those at the star keep`);
    this.slider.setAttribute("aria-valuetext", text);
    this.root.querySelector(".say").textContent = text;
    const reveal = this.root.querySelector(".reveal"), told = this.root.querySelector(".told");
    reveal.hidden = !data.ask;
    const sent = data.send && this.guessed !== null;
    reveal.textContent = data.send ? (sent ? "Change my guess" : data.send) : this.hidden ? "Reveal" : "Guess again";
    for (const name of [".play", ".best"]) this.root.querySelector(name).hidden = this.hidden;
    told.hidden = !data.ask || this.hidden;
    if (sent) {
      told.hidden = false;
      told.textContent = `Your guess was sent: ${inDegrees(this.guessed)}.`;
    } else if (!told.hidden) {
      const share = shareText(Math.min(1, this.lit(this.guessed).value / data.optimum.value));
      told.textContent = `You guessed ${inDegrees(this.guessed)}: ${share} of the optimum, which is at `
        + `${inDegrees(data.optimum.phi)}.`;
    }
    const line = this.root.querySelector(".set");
    line.hidden = Boolean(data.send) || Boolean(data.picture);  // the picture shows the set
    line.dataset.members = set.join(",");
    if (this.hidden) delete line.dataset.value;
    else line.dataset.value = value;
    line.textContent = `${set.length} curves are lit. `;
    for (const i of set.slice(0, 8)) {
      const chip = line.appendChild(document.createElement("span"));
      chip.className = "chip";
      chip.textContent = data.names ? data.names[i] : `feature ${i}`;
    }
    if (set.length > 8) line.append(` and ${set.length - 8} more`);
  }

  point(event) {
    const box = this.canvas.getBoundingClientRect();
    this.go(((event.clientX - box.left - this.left) / (this.width - this.left - RIGHT)) * Math.PI - Math.PI / 2);
  }

  play() {
    const button = this.root.querySelector(".play");
    button.querySelector("span").textContent = "Pause";
    button.setAttribute("aria-pressed", "true");
    let last = 0;
    const step = (now) => {
      // A full sweep takes 15 s on every machine, and starts again at the left.
      const next = this.phi + (last ? ((now - last) / 15000) * Math.PI : 0);
      last = now;
      this.go(next > Math.PI / 2 ? -Math.PI / 2 : next);
      this.playing = requestAnimationFrame(step);
    };
    this.playing = requestAnimationFrame(step);
  }

  stop(tell = false) {
    if (!this.playing) return;
    cancelAnimationFrame(this.playing);
    this.playing = 0;
    const button = this.root.querySelector(".play");
    button.querySelector("span").textContent = "Play";
    button.setAttribute("aria-pressed", "false");
    if (tell) this.tell();
  }

  tell() { this.send("phi", this.phi); }

  close() {
    this.stop();
    this.observer.disconnect();
    removeEventListener("resize", this.fit);
    cancelAnimationFrame(this.pending);
  }
}

// An ordered list of sentences as text.
function root_text(list, sentences) {
  list.hidden = !sentences.length;
  list.replaceChildren(...sentences.map((sentence) => {
    const item = document.createElement("li");
    item.textContent = sentence;
    return item;
  }));
}

export default function (component) {
  const { parentElement } = component;
  if (!views.has(parentElement)) views.set(parentElement, new View(parentElement.querySelector(".nspca-spx")));
  const view = views.get(parentElement);
  view.update(component);
  return () => { view.close(); views.delete(parentElement); };
}
