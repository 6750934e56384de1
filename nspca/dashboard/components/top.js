// Scrolls the page to its top when another screen is shown on it. The button that leads there is at the bottom.
const shown = new WeakMap();

export default function ({ data, parentElement }) {
  const before = shown.get(parentElement);
  shown.set(parentElement, data.screen);
  if (before !== undefined && before !== data.screen) document.querySelector("[data-testid=stMain]")?.scrollTo(0, 0);
}
