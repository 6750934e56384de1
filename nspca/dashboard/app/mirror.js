// Keeps one text of this session in the browser's storage. The text is sent to the server of the page alone.
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
    // In a browser without storage the text lasts as long as the session.
  }
}
