// Adapts charts to phones: one finger scrolls the page, two fingers zoom and move, two taps zoom in or out. There is no toolbar.
const NARROW = 520; // pixels: a legend beside or above a narrower chart would cover it
const fingers = () => matchMedia("(pointer: coarse)").matches;
const options = () => (fingers() ? { ...config, displayModeBar: false, doubleClick: false, scrollZoom: false } : config);
const AXIS = /^[xy]axis\d*$/;

// Returns the layout for this screen: axes without drag, and the legend below a narrow chart.
function adapted(layout, element) {
  const own = { ...layout }, template = { ...own.template?.layout };
  if (fingers()) {
    own.dragmode = false;
    for (const axis of ["xaxis", "yaxis"]) template[axis] = { ...template[axis], fixedrange: true };
    for (const name of Object.keys(own)) {
      if (AXIS.test(name)) own[name] = { ...own[name], fixedrange: true };
      if (name.startsWith("scene")) own[name] = { ...own[name], dragmode: false };
    }
  }
  if (element.clientWidth < NARROW) {
    const { font, title, traceorder } = { ...template.legend, ...own.legend };
    own.legend = { font: { size: 12, ...font }, title, traceorder, orientation: "h", x: 0, xanchor: "left", yref: "container", y: 0, yanchor: "bottom" };
    // Without legend, toolbar and words above the chart its top margin would be empty.
    const hasWordsAbove = own.title?.text || own.annotations?.some(({ y }) => y >= 1);
    if (fingers() && own.margin?.t === undefined && !hasWordsAbove) own.margin = { ...own.margin, t: 14 };
  }
  own.template = { ...own.template, layout: template };
  return own;
}

// Returns the traces for this screen: in a narrow chart the scale of colours lies below the picture.
function flattened(data, element) {
  const hasLegend = data.some(({ showlegend, type, name }) => showlegend !== false && name && type !== "heatmap");
  if (element.clientWidth >= NARROW || hasLegend) return data;
  const below = { orientation: "h", yref: "container", y: 0, yanchor: "bottom", x: 0.5, xanchor: "center", thickness: 10, len: 0.9 };
  return data.map((trace) => (trace.colorbar ? { ...trace, colorbar: { ...trace.colorbar, ...below } } : trace));
}

// Returns the pair of axes of the chart under a point of the screen.
function axesAt(plot, x, y) {
  const box = plot.getBoundingClientRect();
  const inside = (axis, at) => at >= axis._offset && at <= axis._offset + axis._length;
  return Object.values(plot._fullLayout?._plots ?? {}).map(({ xaxis, yaxis }) => [xaxis, yaxis])
    .find(([across, up]) => inside(across, x - box.left) && inside(up, y - box.top));
}

// Returns the ranges that move a point of the chart to another place and scale the chart around it by a factor.
function spread(plot, ranges, from, to, factor) {
  const box = plot.getBoundingClientRect();
  return Object.fromEntries(ranges.map(({ axis, range, isX }) => {
    const place = (point) => ((isX ? point.x - box.left : point.y - box.top) - axis._offset) / axis._length;
    const share = (point) => (isX ? place(point) : 1 - place(point));
    const [low, high] = range, width = (high - low) / factor;
    const start = low + share(from) * (high - low) - share(to) * width;
    return [`${axis._name}.range`, [start, start + width]];
  }));
}

function touchable(plot) {
  if (plot.nspcaTouch || !fingers()) return;
  plot.nspcaTouch = true;
  plot.style.touchAction = "pan-y";
  let held = null, last = null, home = null, waiting = 0;
  const middle = ([a, b]) => ({ x: (a.clientX + b.clientX) / 2, y: (a.clientY + b.clientY) / 2 });
  const distance = ([a, b]) => Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY) || 1;
  const rangesAt = ({ x, y }) => (axesAt(plot, x, y) ?? []).map((axis, i) => ({ axis, range: axis.range.map(axis.r2l ?? Number), isX: i === 0 }));
  const keep = (ranges) => {
    home ??= {};
    for (const { axis } of ranges) home[axis._name] ??= { [`${axis._name}.range`]: [...axis.range], [`${axis._name}.autorange`]: axis.autorange };
  };
  const back = () => {
    const change = Object.assign({}, ...Object.values(home));
    for (const name of Object.keys(home)) if (change[`${name}.autorange`]) delete change[`${name}.range`]; else delete change[`${name}.autorange`];
    home = null;
    return globalThis.Plotly.relayout(plot, change);
  };
  plot.addEventListener("touchstart", (event) => {
    if (event.touches.length !== 2) return;
    event.preventDefault();
    const points = [...event.touches], eye = plot._fullLayout?.scene?.camera?.eye;
    held = { from: middle(points), wide: distance(points), ranges: rangesAt(middle(points)), eye: eye && { ...eye } };
    keep(held.ranges);
  }, { passive: false });
  plot.addEventListener("touchmove", (event) => {
    if (!held || event.touches.length !== 2) return;
    event.preventDefault();
    const points = [...event.touches], to = middle(points), factor = distance(points) / held.wide;
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(() => {
      if (held?.ranges.length) globalThis.Plotly.relayout(plot, spread(plot, held.ranges, held.from, to, factor));
      else if (held?.eye) {
        const turn = (held.from.x - to.x) / 120, { x, y, z } = held.eye;
        const eye = { x: (x * Math.cos(turn) - y * Math.sin(turn)) / factor, y: (x * Math.sin(turn) + y * Math.cos(turn)) / factor, z: z / factor };
        globalThis.Plotly.relayout(plot, { "scene.camera.eye": eye });
      }
    });
  }, { passive: false });
  plot.addEventListener("touchend", (event) => {
    if (held) { held = event.touches.length === 2 ? held : null; last = null; return; }
    const [{ clientX: x, clientY: y }] = event.changedTouches, now = event.timeStamp;
    const twice = last && now - last.now < 350 && Math.hypot(x - last.x, y - last.y) < 30;
    last = twice ? null : { x, y, now };
    if (!twice || !plot._fullLayout) return;
    event.preventDefault();
    if (home) { back(); return; }
    const ranges = rangesAt({ x, y });
    if (!ranges.length) return;
    keep(ranges);
    globalThis.Plotly.relayout(plot, spread(plot, ranges, { x, y }, { x, y }, 2));
  }, { passive: false });
  plot.addEventListener("touchmove", () => { last = null; }, { passive: true });
}
