// Lets a visitor press lists on the page, and sends the pressed one to Python. The part that opens below the lists is scrolled into view.
const cleanups = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  cleanups.get(parentElement)?.(); // at a call with other data, remove the earlier listener
  const press = (event) => {
    const pressed = event.target.closest?.(`.st-key-${data.lists} section`);
    if (!pressed || String(getSelection())) return; // selecting words is no press
    const lists = [...document.querySelectorAll(`.st-key-${data.lists} section`)];
    setTriggerValue("pressed", lists.indexOf(pressed) + 1);
    if (data.follow) document.querySelector(`.st-key-${data.follow}`)?.scrollIntoView({ behavior: "smooth", block: "nearest" });
  };
  const lists = document.querySelector(`.st-key-${data.lists}`);
  if (lists) lists.dataset.pressable = ""; // for the styles
  const stop = () => { document.removeEventListener("click", press); cleanups.delete(parentElement); };
  document.addEventListener("click", press);
  cleanups.set(parentElement, stop);
  return stop;
}
