// A small image whose pixels a visitor touches to choose them. The server gets them when the hand is lifted.
const views = new WeakMap();
// Rows and columns by which each key moves.
const MOVES = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

class View {
  constructor(root) {
    this.root = root;
    this.grid = root.querySelector(".grid");
    this.grid.onpointerdown = (event) => {
      const pixel = this.under(event);
      if (pixel === null) return;
      event.preventDefault();
      this.cells[pixel].focus();
      this.place = pixel;
      this.grid.setPointerCapture(event.pointerId);
      this.before = new Set(this.chosen);
      this.adds = !this.chosen.has(pixel);
      this.change(pixel);
      this.held = true;
    };
    this.grid.onpointermove = (event) => { if (this.held) this.change(this.under(event)); };
    this.grid.onpointerup = () => { if (this.held) { this.held = false; this.tell(); } };
    // The finger scrolls the page, so the touch paints nothing.
    this.grid.onpointercancel = () => { if (this.held) { this.held = false; this.chosen = this.before; this.draw(); } };
    this.grid.onkeydown = (event) => {
      if (MOVES[event.key]) return this.move(event);
      if (event.key !== " " && event.key !== "Enter") return;
      event.preventDefault();
      const pixel = this.cells.indexOf(event.target);
      if (pixel < 0) return;
      this.adds = !this.chosen.has(pixel);
      this.change(pixel);
      this.tell();
    };
  }

  update({ data, setStateValue }) {
    this.send = setStateValue;
    const seen = JSON.stringify(data);
    if (seen === this.seen) return;
    Object.assign(this, { data, seen });
    // The data of the server may be older than the last touch.
    if (data.turn >= (this.turn ?? 0)) Object.assign(this, { chosen: new Set(data.chosen), turn: data.turn });
    this.grid.style.gridTemplateColumns = `repeat(${data.columns}, 1fr)`;
    const focused = this.cells?.indexOf(this.root.getRootNode().activeElement) ?? -1;
    this.cells = data.shade.map((shade, pixel) => {
      const cell = document.createElement("button");
      cell.type = "button";
      cell.style.setProperty("--shade", shade);
      cell.setAttribute("aria-label", `pixel in row ${Math.floor(pixel / data.columns) + 1}, column ${(pixel % data.columns) + 1}`);
      return cell;
    });
    this.grid.replaceChildren(...this.cells);
    this.place = Math.min(this.place ?? 0, this.cells.length - 1);
    this.draw();
    if (focused >= 0) this.cells[this.place].focus();  // the cells are new, and the focus stays at its place
  }

  // Arrow keys move in the image. They are stopped here, since the page would turn at them.
  move(event) {
    event.preventDefault();
    event.stopPropagation();
    const at = this.cells.indexOf(event.target), { columns } = this.data, rows = this.cells.length / columns;
    if (at < 0) return;
    const [down, right] = MOVES[event.key];
    const row = Math.min(rows - 1, Math.max(0, Math.floor(at / columns) + down));
    const column = Math.min(columns - 1, Math.max(0, (at % columns) + right));
    this.place = row * columns + column;
    this.draw();
    this.cells[this.place].focus();
  }

  under(event) {
    const box = this.grid.getBoundingClientRect(), { columns } = this.data, rows = this.cells.length / columns;
    const x = Math.floor(((event.clientX - box.left) / box.width) * columns);
    const y = Math.floor(((event.clientY - box.top) / box.height) * rows);
    return x < 0 || y < 0 || x >= columns || y >= rows ? null : y * columns + x;
  }

  change(pixel) {
    if (pixel === null || this.chosen.has(pixel) === this.adds) return;
    if (this.adds && this.chosen.size >= this.data.most) return;
    if (this.adds) this.chosen.add(pixel);
    else this.chosen.delete(pixel);
    this.draw();
  }

  draw() {
    this.cells.forEach((cell, pixel) => {
      cell.setAttribute("aria-pressed", this.chosen.has(pixel));
      cell.tabIndex = pixel === this.place ? 0 : -1;  // Tab enters the image once, arrows move in it
    });
    this.root.querySelector(".say").textContent = `${this.chosen.size} of ${this.data.most} painted`;
  }

  tell() { this.send("chosen", { pixels: [...this.chosen], turn: (this.turn += 1) }); }
}

export default function (component) {
  const { parentElement } = component;
  if (!views.has(parentElement)) views.set(parentElement, new View(parentElement.querySelector(".nspca-paint")));
  views.get(parentElement).update(component);
  return () => views.delete(parentElement);
}
