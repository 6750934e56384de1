// Clicks a button of the page once for each token, to end what a visitor began with a click.
const done = new Set();

export default function ({ data }) {
  if (done.has(data.of)) return;
  let tries = 0;
  // The button and this component arrive together, in any order.
  const look = () => {
    const button = document.querySelector(data.button);
    if (button) {
      done.add(data.of);
      button.click();
    } else if (++tries < 100) {
      setTimeout(look, 50);
    }
  };
  look();
}
