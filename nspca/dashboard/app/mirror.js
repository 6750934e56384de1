// One text of this session in the browser's own storage: nothing goes anywhere but to the server that the page is from.
export default function ({ data, setStateValue }) {
  const name = `nspca.${data.name}`;
  try {
    if (data.value) localStorage.setItem(name, data.value);
    else if (data.value === "") localStorage.removeItem(name);
    else {
      const kept = localStorage.getItem(name);
      if (kept) setStateValue("value", kept);
    }
  } catch {
    // A browser that keeps nothing: the text lasts as long as the session.
  }
}
