// Lets a visitor press lists and leave words out, and lights a word up wherever it stands on the page.
const cleanups = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  cleanups.get(parentElement)?.(); // at a call with other data, remove the earlier listeners
  const lists = () => document.querySelector(`.st-key-${data.lists}`);
  const press = ({ target }) => {
    const out = target.closest?.(`.st-key-${data.lists} [data-out]`);
    const list = target.closest?.(`.st-key-${data.lists} section`);
    if (out) return setTriggerValue("out", Number(out.dataset.out));
    if (!list || !data.pressable || target.closest("summary")) return;
    if (String(getSelection())) return; // selecting words is no press
    setTriggerValue("pressed", [...lists().querySelectorAll("section")].indexOf(list) + 1);
    if (data.follow) document.querySelector(`.st-key-${data.follow}`)?.scrollIntoView({ behavior: "smooth", block: "nearest" });
  };
  const light = ({ target, type }) => {
    const word = target.closest?.("[data-word]")?.dataset.word;
    if (word === undefined) return;
    const on = type === "mouseover" || type === "focusin";
    for (const one of document.querySelectorAll("[data-word]")) {
      if (one.dataset.word === word) one.classList.toggle("lit", on);
    }
  };
  const listeners = { click: press, mouseover: light, mouseout: light, focusin: light, focusout: light };
  for (const [kind, listen] of Object.entries(listeners)) document.addEventListener(kind, listen);
  if (data.pressable && lists()) lists().dataset.pressable = ""; // for the styles
  const stop = () => {
    for (const [kind, listen] of Object.entries(listeners)) document.removeEventListener(kind, listen);
    cleanups.delete(parentElement);
  };
  cleanups.set(parentElement, stop);
  return stop;
}
