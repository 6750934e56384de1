// One figure per place on the page, updated with Plotly.react. Runs again at every change of data or theme.
const figures = new WeakMap();
const ONE_LINE = 36; // pixels of a legend that fits into the margin

function listen(state) {
  state.listening = true;
  state.div.on("plotly_click", (event) => {
    if (!state.clickable) return;
    const point = event.points.find((p) => p.customdata !== undefined && p.customdata !== null);
    if (point) state.send("click", { customdata: point.customdata });
  });
  const select = (points) => state.selectable && state.send("select", { customdata: points.map((p) => p.customdata).filter((data) => data !== undefined) });
  state.div.on("plotly_selected", (event) => event && select(event.points));
  state.div.on("plotly_deselect", () => select([]));
  state.div.on("plotly_hover", ({ event, points }) => {
    const { curveNumber, pointNumber, fullData, customdata } = points[0];
    state.hovered = fullData.type === "scatter" ? { curveNumber, pointNumber } : null;
    showThumb(state, customdata?.[0], event);
  });
  state.div.on("plotly_unhover", () => { state.hovered = null; showThumb(state); });
  state.div.addEventListener("pointerdown", ({ pointerId }) => {
    state.held += 1;
    const until = new AbortController();
    const over = (event) => {
      if (event.pointerId !== pointerId) return;
      until.abort();
      // Plotly reports a click a moment after the release.
      setTimeout(() => { state.held -= 1; draw(state); }, 300);
    };
    // When a finger begins to scroll the page, the browser cancels the pointer and reports no release.
    for (const kind of ["pointerup", "pointercancel"]) addEventListener(kind, over, { capture: true, signal: until.signal });
  }, true);
}

// Shows the image of a sample beside the pointer, cut out of the sheet of all images; nothing without a number.
function showThumb(state, number, event) {
  const sheet = state.thumbnails;
  state.thumb?.remove();
  state.thumb = null;
  if (!sheet || !Number.isInteger(number) || !event) return;
  const size = 84, scale = size / Math.max(sheet.width, sheet.height), [width, height] = [sheet.width * scale, sheet.height * scale];
  state.thumb = Object.assign(document.createElement("div"), { className: "nspca-thumb" });
  const at = number / sheet.every, row = Math.floor(at / sheet.columns), column = at % sheet.columns;
  Object.assign(state.thumb.style, {
    width: `${width}px`, height: `${height}px`, left: `${event.clientX - width - 14}px`, top: `${event.clientY - height / 2}px`,
    backgroundImage: `url(${sheet.url})`, backgroundSize: `${width * sheet.columns}px ${height * sheet.rows}px`,
    backgroundPosition: `${-column * width}px ${-row * height}px`,
  });
  state.div.append(state.thumb);
}

// A figure in a hidden part of the page, such as a closed tab, has no width yet, and columns change theirs. In present
// mode the height follows the screen. Plotly gets both, since with a height alone it keeps its width forever.
function follow(state) {
  state.watched = new ResizeObserver(() => {
    const { clientWidth: width, clientHeight: height } = state.div;
    const isNew = width !== state.width || (state.tall && height !== state.tall);
    if (width && state.listening && isNew && document.fullscreenElement !== state.div) {
      globalThis.Plotly.relayout(state.div, { width, height });
    }
    Object.assign(state, { width, tall: height });
  });
  state.watched.observe(state.div);
}

// A legend below a narrow chart adds to its height, and takes nothing from the chart.
function roomier(state) {
  const legend = state.div._fullLayout?.legend;
  const extra = state.div.clientWidth < NARROW && legend?._effHeight > ONE_LINE ? Math.round(legend._effHeight) : 0;
  if (extra === state.extra) return;
  state.extra = extra;
  state.div.style.height = `calc(${state.base + extra}px * var(--nspca-room, 1))`;
}

async function draw(state) {
  // While a button is down a visitor zooms or clicks, and a redraw would remove the point under the pointer.
  if (state.busy || state.held) return;
  state.busy = true;
  try {
    while (state.next && !state.held) {
      // Only the newest figure counts: ticks that came while Plotly was drawing are skipped.
      const { figure, plotly, present } = state.next;
      state.next = null;
      const Plotly = await load(plotly);
      if (state.gone) return;
      const { data, layout } = JSON.parse(figure);
      const hovered = state.hovered;
      await Plotly.react(state.div, flattened(data, state.div), enlarged(themed(layout, state.div), present), options());
      touchable(state.div);
      if (!state.listening) listen(state);
      // The width may have changed during the first drawing, before the listener was there.
      const { clientWidth: width, clientHeight: height } = state.div;
      if (width && state.div._fullLayout.width !== width) Plotly.relayout(state.div, { width, height });
      roomier(state);
      // The redraw removed the hover text, and with it the point that a click reports.
      if (hovered && data[hovered.curveNumber]) Plotly.Fx.hover(state.div, [hovered]);
    }
  } catch (error) {
    if (!state.listening) state.div.textContent = `The figure cannot be drawn: ${error.message}. Reload the page.`;
    console.error(error);
  } finally {
    state.busy = false;
  }
}

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  let state = figures.get(parentElement);
  if (!state) {
    const div = parentElement.querySelector(".nspca-figure");
    state = { div, seen: "", held: 0 };
    figures.set(parentElement, state);
    follow(state);
  }
  state.gone = false;
  state.send = setTriggerValue;
  Object.assign(state, { clickable: data.clickable, selectable: data.selectable, thumbnails: data.thumbnails });
  state.base = data.height;
  if (document.fullscreenElement !== state.div) {
    state.div.style.height = `calc(${data.height + (state.extra ?? 0)}px * var(--nspca-room, 1))`;
  }
  // Not "img": the content of an image cannot be reached, but a figure has buttons.
  state.div.setAttribute("role", "figure");
  state.div.setAttribute("aria-label", data.alt);
  const style = getComputedStyle(state.div);
  const seen = data.figure + data.present + style.getPropertyValue("--st-text-color") + style.getPropertyValue("--st-background-color");
  if (seen !== state.seen) {
    state.seen = seen;
    state.next = data;
    draw(state);
  }
  return () => {
    state.gone = true;
    state.watched.disconnect();
    globalThis.Plotly?.purge(state.div);
    figures.delete(parentElement);
  };
}
