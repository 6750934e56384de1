// Replays a search that the server has recorded, forwards and backwards, without further requests.
const RANK = ["open", "leaf", "discarded"];
const ARC = 8;
const views = new WeakMap();

// "none", "slow" where the browser emulates it in software and a picture takes a second, or "good".
function webGL() {
  const canvas = document.createElement("canvas");
  const gl = canvas.getContext("webgl2") || canvas.getContext("webgl");
  if (!gl) return "none";
  const about = gl.getExtension("WEBGL_debug_renderer_info");
  const renderer = String(gl.getParameter(about ? about.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(renderer) ? "slow" : "good";
}

// A point between two unit vectors, on the great circle through them.
function between(a, b, t) {
  const p = [0, 1, 2].map((i) => (1 - t) * a[i] + t * b[i]);
  const length = Math.hypot(...p);
  return p.map((v) => v / length);
}

// Equal-area map of Hammer; a point on the seam goes to the side of `inside`.
function hammer([x, y, z], inside) {
  if (x < 0 && Math.abs(y) < 1e-9) y = inside[1] < 0 ? -1e-12 : 1e-12;
  const half = Math.atan2(y, x) / 2, cosine = Math.sqrt(Math.max(0, 1 - z * z));
  const scale = Math.sqrt(1 + cosine * Math.cos(half));
  return [(2 * Math.SQRT2 * cosine * Math.sin(half)) / scale, (Math.SQRT2 * z) / scale];
}

class View {
  constructor(root) {
    this.root = root;
    const find = (name) => root.querySelector(name);
    Object.assign(this, { world: find(".world"), gap: find(".gap"), slider: find(".step"), playButton: find(".play") });
    this.slider.oninput = () => { this.stop(); this.go(+this.slider.value); };
    this.slider.onkeydown = (e) => { if (e.key.startsWith("Arrow")) e.stopPropagation(); };  // arrow keys would turn the lesson
    find(".back").onclick = () => { this.stop(); this.go(this.step - 1); };
    find(".on").onclick = () => { this.stop(); this.go(this.step + 1); };
    this.playButton.onclick = () => (this.timer ? this.stop() : this.play());
    this.turnButton = find(".turn");
    const able = webGL();
    this.mode = able === "good" ? "sphere" : "map";
    this.turnButton.hidden = able === "none";
    this.turnButton.onclick = () => { this.mode = this.mode === "map" ? "sphere" : "map"; this.drawn = null; this.draw(); };
  }

  update(data) {
    const style = getComputedStyle(this.root);
    const look = { ink: style.color, page: style.getPropertyValue("--st-background-color"), font: style.fontFamily };
    const seen = JSON.stringify(data), painted = JSON.stringify(look);
    if (seen === this.seen && painted === this.painted) return;
    const fresh = seen !== this.seen;
    Object.assign(this, { data, look, seen, painted, drawn: null });
    if (!fresh) return this.draw();
    this.stop();
    this.last = data.lower.length - 1;
    this.root.querySelector(".legend").replaceChildren(...RANK.map((name) => {
      const [colour, words] = data.legend[name], item = document.createElement("span");
      item.appendChild(document.createElement("i")).style.borderTop = `3px solid ${colour}`;
      item.append(words);
      return item;
    }));
    this.slider.max = this.last;
    this.cones = data.generators.map((g) => [g.slice(0, 3), g.slice(3, 6), g.slice(6, 9)]);
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.go(still ? this.last : 0);
    if (!still) this.play();
  }

  go(step) {
    this.step = Math.min(this.last, Math.max(0, step));
    this.words();
    this.draw();
  }

  // Returns all cones of this step with their status and bound.
  now() {
    const { born, cut, bounds, lower, tol } = this.data, e = this.step;
    const state = { open: [], leaf: [], discarded: [] };
    for (let i = 0; i < born.length && born[i] <= e; i++) {
      if (cut[i] >= 0 && cut[i] <= e) continue;
      state[bounds[i] <= lower[e] ? "discarded" : bounds[i] <= (1 + tol) * lower[e] * (1 + 1e-9) ? "leaf" : "open"].push(i);
    }
    return state;
  }

  words() {
    const { data, step, last } = this, state = this.now();
    const low = data.lower[step], high = data.upper[step];
    const open = state.open.length, settled = state.leaf.length + state.discarded.length;
    const isDone = step === last && data.finished;
    let text = `Step ${step} of ${last}: of ${data.made[step]} cones made, ${data.made[step] - open - settled} were split, `
      + `${settled} are settled and ${isDone ? "none is" : `${open} are`} open. Best found ${data.best[step]}, nothing above `
      + `${data.above[step]} of the main direction: at least ${data.proved[step]} of the best in three directions, proved.`;
    if (step === last && !isDone) text += " Stopped at the most cones a replay holds; the bound stands.";
    Object.assign(this.root.dataset, { step, lower: low, upper: high, open: state.open.length });
    this.slider.value = step;
    this.slider.setAttribute("aria-valuetext", text);
    this.root.querySelector(".say").textContent = text;
    this.world.setAttribute("aria-label", `The directions coloured by the objective, covered by cones. ${text}`);
    this.gap.setAttribute("aria-label", data.alt);
  }

  path(i, project) {
    const out = [];
    for (let j = 0; j < 3; j++) {
      for (let s = 0; s <= ARC; s++) out.push(project(between(this.cones[i][j], this.cones[i][(j + 1) % 3], s / ARC)));
    }
    return out;
  }

  centre(i) {
    const [a, b, c] = this.cones[i];
    const sum = [0, 1, 2].map((j) => a[j] + b[j] + c[j]), length = Math.hypot(...sum);
    return sum.map((v) => v / length);
  }

  onMap(state) {
    return RANK.flatMap((name) => {
      const line = { x: [], y: [] }, marks = { x: [], y: [], text: [] };
      for (const i of state[name]) {
        const inside = this.centre(i);
        for (const [x, y] of this.path(i, (p) => hammer(p, inside))) { line.x.push(x); line.y.push(y); }
        line.x.push(null); line.y.push(null);
        const [x, y] = hammer(inside, inside);
        marks.x.push(x); marks.y.push(y);
        marks.text.push(`cone, ${this.data.names[name]}<br>nothing in it exceeds ${this.data.exceeds[i]}`);
      }
      return [[name, 0, line], [name, 1, marks]];
    });
  }

  // An edge shared by two cones is drawn once, with the status that comes first.
  onSphere(state) {
    const taken = new Set();
    return RANK.map((name) => {
      const line = { x: [], y: [], z: [] };
      for (const i of state[name]) {
        for (let j = 0; j < 3; j++) {
          const a = this.cones[i][j], b = this.cones[i][(j + 1) % 3];
          const key = [a, b].map((p) => p.map((v) => v.toFixed(5)).join()).sort().join(";");
          if (taken.has(key)) continue;
          taken.add(key);
          for (let s = 0; s <= ARC; s++) {
            const p = between(a, b, s / ARC);
            line.x.push(1.008 * p[0]); line.y.push(1.008 * p[1]); line.z.push(1.008 * p[2]);
          }
          line.x.push(null); line.y.push(null); line.z.push(null);
        }
      }
      return [name, 0, line];
    });
  }

  themed(layout) {
    const template = layout.template?.layout ?? {}, { ink, page, font } = this.look;
    const hoverlabel = { ...template.hoverlabel, bgcolor: page, bordercolor: ink, font: { color: ink, family: font } };
    const own = { ...layout, autosize: true, uirevision: "cones" };
    delete own.height;
    own.template = { ...layout.template, layout: { ...template, font: { ...template.font, color: ink, family: font }, hoverlabel } };
    return own;
  }

  async base(Plotly) {
    const { data, mode } = this;
    this.turnButton.textContent = mode === "map" ? "Show the sphere" : "Show the flat map";
    const figure = JSON.parse(data.figures[mode]), gap = JSON.parse(data.figures.gap);
    if (this.shape !== mode) Plotly.purge(this.world);
    this.shape = mode;
    this.world.classList.toggle("flat", mode === "map");
    // The example cones in the figure give each status its trace.
    this.traces = Object.fromEntries(RANK.map((name) => [name, figure.data.findIndex((trace) => trace.name === data.names[name])]));
    this.best = figure.data.findIndex((trace) => trace.name === "best found");
    this.mark = gap.data.length;
    gap.data.push({ x: [], y: [], mode: "markers", marker: { size: 9, color: this.look.ink }, hoverinfo: "skip", showlegend: false, cliponaxis: false });
    await Plotly.react(this.world, flattened(figure.data, this.world), adapted(this.themed(figure.layout), this.world), options());
    await Plotly.react(this.gap, gap.data, adapted(this.themed(gap.layout), this.gap), options());
    for (const plot of [this.world, this.gap]) touchable(plot);
  }

  async draw() {
    this.wanted = true;
    if (this.busy) return;
    this.busy = true;
    try {
      const Plotly = await load(this.data.plotly);
      while (this.wanted && !this.gone) {
        this.wanted = false;
        if (!this.drawn) { this.drawn = true; await this.base(Plotly); }
        await this.paint(Plotly);
      }
    } catch (error) {
      this.world.textContent = `The figure cannot be drawn: ${error.message}. Reload the page.`;
      console.error(error);
    } finally {
      this.busy = false;
    }
  }

  async paint(Plotly) {
    const { data, step } = this, state = this.now();
    const parts = this.mode === "map" ? this.onMap(state) : this.onSphere(state);
    const change = { x: [], y: [], z: [], text: [], visible: [] }, at = [];
    for (const [name, offset, values] of parts) {
      if (this.traces[name] < 0) continue;
      at.push(this.traces[name] + offset);
      for (const axis of ["x", "y", "z", "text"]) change[axis].push(values[axis]);
      change.visible.push(true);
    }
    at.push(this.best);
    for (const axis of ["x", "y", "z", "text"]) change[axis].push(undefined);
    // The data hold the direction of the final value only, so nothing is marked before that value is reached.
    change.visible.push(data.lower[step] >= data.lower[this.last] * (1 - 1e-12));
    if (this.mode === "map") delete change.z; else delete change.text;
    const x = data.made.slice(0, step + 1);
    await Plotly.restyle(this.world, change, at);
    await Plotly.restyle(this.gap, {
      x: [x, x, [x[step], x[step]]],
      y: [data.upper.slice(0, step + 1), data.lower.slice(0, step + 1), [data.upper[step], data.lower[step]]],
    }, [0, 1, this.mark]);
  }

  play() {
    if (this.step >= this.last) this.go(0);
    this.playButton.querySelector("span").textContent = "Pause";
    this.playButton.setAttribute("aria-pressed", "true");
    // The whole search takes about ten seconds, but each cone is shown long enough to be seen.
    const pause = Math.min(700, Math.max(70, 10000 / (this.last + 1)));
    this.timer = setInterval(() => {
      if (this.busy) return;
      this.go(this.step + 1);
      if (this.step >= this.last) this.stop();
    }, pause);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.playButton.querySelector("span").textContent = "Play";
    this.playButton.setAttribute("aria-pressed", "false");
  }

  close() {
    this.gone = true;
    this.stop();
    globalThis.Plotly?.purge(this.world);
    globalThis.Plotly?.purge(this.gap);
  }
}

export default function (component) {
  const { parentElement, data } = component;
  if (!views.has(parentElement)) views.set(parentElement, new View(parentElement.querySelector(".nspca-cones")));
  views.get(parentElement).update(data);
  return () => { views.get(parentElement)?.close(); views.delete(parentElement); };
}
