// Keeps the workspace of the last visit in the browser's storage. It is sent to the server of the page alone.
const NAME = "nspca.workspace";

export default function ({ data, setStateValue }) {
  try {
    if (data.workspace) {
      // A linked workspace does not replace the stored one before the visitor agrees.
      if (data.sure || localStorage.getItem(NAME) === data.workspace) localStorage.setItem(NAME, data.workspace);
      else setStateValue("other", data.workspace);
    }
    else if (data.forget) localStorage.removeItem(NAME);
    else {
      const kept = localStorage.getItem(NAME);
      if (kept) setStateValue("workspace", kept);
    }
  } catch {
    // In a browser without storage, only the link holds the workspace.
  }
}
