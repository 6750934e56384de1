// The browser's Back leads through what a person did, one entry for each thing: the drag of a slider, however many values it passed;
// a click, however many values it set. What changes the address without anybody having done something corrects the entry that is there.
if (!globalThis.__nspcaEntries) {
  let acted = true, slider = null;
  const act = (event) => {
    const on = event.composedPath()[0];
    // Of the keys pressed on one slider the first counts: all of them together are one choice.
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
