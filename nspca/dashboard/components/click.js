// Clicks a button of the page once for each token: the end of what a person began with a click of their own.
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
