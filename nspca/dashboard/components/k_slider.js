// The slider under a curve, as long as its axis of k. While it is dragged, the line in the curve, the answer above and the
// picture beside it show what is known at that k; the page runs again when it is let go.
const sliders = new WeakMap();
const STEPS = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -5, PageUp: 5, Home: -1e9, End: 1e9 };
const PAUSE = 400; // milliseconds after the last key

class Slider {
  constructor(root) {
    this.input = root.querySelector("[type=range]");
    this.number = root.querySelector("[type=number]");
    this.label = root.querySelector("label");
    this.root = root;
    this.number.addEventListener("change", () => this.type(Number(this.number.value)));
    this.input.addEventListener("input", () => {
      this.show(this.nearest(Number(this.input.value)));
      this.input.value = this.share(this.k); // the thumb stands at the line, also between two known values
    });
    this.input.addEventListener("change", () => this.tell());
    this.input.addEventListener("keydown", (event) => {
      const step = STEPS[event.key];
      if (step === undefined) return;
      event.preventDefault();
      const { ks } = this.data, at = ks.indexOf(this.k) + step;
      this.show(ks[Math.max(0, Math.min(ks.length - 1, at))]);
      clearTimeout(this.waiting);
      this.waiting = setTimeout(() => this.tell(), PAUSE);
    });
  }

  update({ data, setTriggerValue }) {
    this.send = setTriggerValue;
    if (this.dragging && data.k !== this.k) return; // an answer to an earlier place
    this.data = data;
    this.k = data.k;
    this.end();
    this.follow();
    this.place();
  }

  figure(key) { return document.querySelector(`.st-key-${CSS.escape(key)} .nspca-figure`); }

  get axis() { return this.curve?._fullLayout?.xaxis; }

  // The curve is drawn after this, again and again, and at other sizes.
  follow() {
    const curve = this.figure(this.data.curve);
    if (curve === this.curve && this.followed) return;
    this.curve = curve;
    this.followed = Boolean(curve?.on);
    if (!this.followed) {
      this.later = setTimeout(() => this.follow(), 200);
      return;
    }
    curve.on("plotly_afterplot", () => this.place());
    this.place();
  }

  place() {
    const { data, k } = this, axis = this.axis;
    if (axis) {
      this.root.style.marginLeft = `${axis._offset}px`;
      this.root.style.width = `${axis._length}px`;
    }
    this.input.value = this.share(k);
    this.label.firstChild.textContent = data.label;
    Object.assign(this.number, { min: data.least, max: data.most, value: k });
    const room = this.root.clientWidth - this.label.offsetWidth;
    this.label.style.left = `${Math.max(0, Math.min(room, this.share(k) * this.root.clientWidth - this.label.offsetWidth / 2))}px`;
    this.input.setAttribute("aria-label", data.label);
    this.input.setAttribute("aria-valuetext", `${k}: ${data.frames[k]?.said ?? ""}`);
  }

  // From 0 to 1 along the axis; without one all values of k are equally far apart.
  share(k) { return this.axis ? this.axis.d2p(k) / this.axis._length : this.data.ks.indexOf(k) / (this.data.ks.length - 1); }

  nearest(share) {
    const far = (k) => Math.abs(this.share(k) - share);
    return this.data.ks.reduce((best, k) => (far(k) < far(best) ? k : best));
  }

  show(k) {
    if (k === this.k) return;
    this.k = k;
    this.dragging = true;
    this.place();
    cancelAnimationFrame(this.drawing);
    this.drawing = requestAnimationFrame(() => this.draw(this.data.frames[k]));
  }

  // A number that is not on the curve is asked of the server, and joins the curve.
  type(k) {
    const { ks, least, most } = this.data;
    if (ks.includes(k)) { this.show(k); this.tell(); }
    else if (Number.isInteger(k) && k >= least && k <= most) this.send("k", k);
    else this.place();
  }

  draw(frame) {
    const { curve, k, data } = this, Plotly = globalThis.Plotly;
    const notes = curve?._fullLayout?.annotations?.length;
    if (curve?._fullLayout?.shapes?.length && notes) {
      const at = this.axis.type === "log" ? Math.log10(k) : k;
      const note = `annotations[${notes - 1}]`;
      Plotly.relayout(curve, { "shapes[0].x0": k, "shapes[0].x1": k, [`${note}.x`]: at, [`${note}.text`]: `k = ${k}` });
    }
    if (!frame) return;
    const answer = document.querySelector(".st-key-answer");
    if (answer) {
      if (!this.live) {
        this.live = document.createElement("div");
        this.live.append(...[...answer.children].map((child) => child.cloneNode(true)));
        this.live.className = "nspca-live";
        answer.prepend(this.live);
      }
      this.live.querySelector("h2").textContent = frame.said;
      this.live.querySelector("[data-testid=stHtml]").innerHTML = frame.bar;
      const line = this.live.querySelector(".st-key-proof_line");
      if (line) {
        const chip = document.createElement("span");
        chip.className = "nspca-chip";
        chip.textContent = frame.proof;
        chip.hidden = !frame.proof;
        line.replaceChildren(chip);
        line.inert = true;
      }
    }
    const picture = frame.figure && this.figure(data.picture);
    if (picture?._fullLayout) {
      const { data: traces, layout } = JSON.parse(frame.figure);
      Plotly.react(picture, flattened(traces, picture), enlarged(themed(layout, picture), data.present), options());
    }
  }

  tell() {
    clearTimeout(this.waiting);
    if (this.k === this.data.k) this.end();
    else this.send("k", this.k);
  }

  end() {
    this.dragging = false;
    this.live?.remove();
    this.live = null;
  }

  close() {
    this.end();
    clearTimeout(this.waiting);
    clearTimeout(this.later);
    cancelAnimationFrame(this.drawing);
  }
}

export default function (component) {
  const { parentElement } = component;
  if (!sliders.has(parentElement)) sliders.set(parentElement, new Slider(parentElement.querySelector(".nspca-k")));
  sliders.get(parentElement).update(component);
  return () => { sliders.get(parentElement)?.close(); sliders.delete(parentElement); };
}
