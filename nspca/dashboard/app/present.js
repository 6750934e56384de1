// In present mode the figures are as high as the screen allows. One factor for all is in a variable of the page's style.
const LEAST = 0.35, MOST = 2.2, STEPS = 9;
let own = false; // whether this script dispatched the event below

function fit() {
  const main = document.querySelector("[data-testid=stMain]"), page = document.documentElement;
  const block = document.querySelector("[data-testid=stMainBlockContainer]");
  if (!main || !block) return;
  const before = page.style.getPropertyValue("--nspca-room");
  let low = LEAST, high = MOST;
  for (let step = 0; step < STEPS; step++) {
    const tried = (low + high) / 2;
    page.style.setProperty("--nspca-room", tried);
    if (block.getBoundingClientRect().height > main.clientHeight) high = tried; else low = tried;
  }
  const room = (Math.floor(100 * low) / 100).toFixed(2);
  page.style.setProperty("--nspca-room", room);
  if (room === before) return;
  own = true;
  dispatchEvent(new Event("resize")); // figures adapt to it
  own = false;
}

const cleanups = new WeakMap();

export default function ({ parentElement }) {
  if (!cleanups.has(parentElement)) {
    let waiting = 0;
    const later = () => { clearTimeout(waiting); waiting = setTimeout(fit, 120); };
    const resized = () => { if (!own) later(); };
    const watched = new ResizeObserver(later);
    watched.observe(document.querySelector("[data-testid=stMainBlockContainer]"));
    addEventListener("resize", resized);
    cleanups.set(parentElement, () => {
      clearTimeout(waiting);
      watched.disconnect();
      removeEventListener("resize", resized);
      cleanups.delete(parentElement);
      document.documentElement.style.removeProperty("--nspca-room");
      dispatchEvent(new Event("resize"));
    });
    later();
  }
  return cleanups.get(parentElement);
}
