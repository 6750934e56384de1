// Lists on the page can be pressed: Python hears which one. What a press opens below the lists is scrolled into view.
const cleanups = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  cleanups.get(parentElement)?.(); // called again with other data: the listener of before goes
  const press = (event) => {
    const pressed = event.target.closest?.(`.st-key-${data.lists} section`);
    if (!pressed || String(getSelection())) return; // a visitor who marks words does not press
    const lists = [...document.querySelectorAll(`.st-key-${data.lists} section`)];
    setTriggerValue("pressed", lists.indexOf(pressed) + 1);
    if (data.follow) document.querySelector(`.st-key-${data.follow}`)?.scrollIntoView({ behavior: "smooth", block: "nearest" });
  };
  const lists = document.querySelector(`.st-key-${data.lists}`);
  if (lists) lists.dataset.pressable = ""; // the style shows it
  const stop = () => { document.removeEventListener("click", press); cleanups.delete(parentElement); };
  document.addEventListener("click", press);
  cleanups.set(parentElement, stop);
  return stop;
}
