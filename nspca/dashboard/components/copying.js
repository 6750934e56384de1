// Copies text to the clipboard. Browsers offer `navigator.clipboard` at secure addresses only.
const PAUSE = 2000;  // milliseconds for which the button says "Copied"

function copyOld(text) {
  const area = document.createElement("textarea");
  area.value = text;
  area.style.cssText = "position: fixed; opacity: 0";
  document.body.append(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  return copied;
}

export default function ({ data, parentElement }) {
  const button = parentElement.querySelector(".nspca-copy");
  button.textContent = data.label;
  button.onclick = async () => {
    let copied = false;
    try {
      await navigator.clipboard.writeText(data.text);
      copied = true;
    } catch {
      copied = copyOld(data.text);
    }
    button.textContent = copied ? "Copied" : "This browser does not allow copying";
    setTimeout(() => { button.textContent = data.label; }, PAUSE);
  };
}
