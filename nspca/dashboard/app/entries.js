// Gives each action of a visitor one entry in the browser's history: the whole drag of a slider, or a click that sets many values.
// A change of the address without an action replaces the present entry.
if (!globalThis.__nspcaEntries) {
  let acted = true, slider = null;
  const act = (event) => {
    const on = event.composedPath()[0];
    // All keys pressed on one slider are one action, which begins with the first key.
    const here = event.type === "keydown" && on.matches?.("[role=slider], input[type=range]") ? on : null;
    acted ||= here === null || here !== slider;
    slider = here;
  };
  for (const kind of ["pointerdown", "keydown"]) addEventListener(kind, act, true);
  const push = history.pushState;
  history.pushState = function (state, title, url) {
    const same = url === undefined || url === null || new URL(url, location).pathname === location.pathname;
    (acted || !same ? push : history.replaceState).call(history, state, title, url);
    acted = false;
  };
  globalThis.__nspcaEntries = true;
}
