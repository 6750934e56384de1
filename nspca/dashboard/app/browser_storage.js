// The workspace of the last visit, in this browser's own storage: nothing goes anywhere but to the server that the page is from.
const NAME = "nspca.workspace";

export default function ({ data, setStateValue }) {
  try {
    if (data.workspace) {
      // A link into a workspace takes the place of none: whoever follows it is asked first.
      if (data.sure || localStorage.getItem(NAME) === data.workspace) localStorage.setItem(NAME, data.workspace);
      else setStateValue("other", data.workspace);
    }
    else if (data.forget) localStorage.removeItem(NAME);
    else {
      const kept = localStorage.getItem(NAME);
      if (kept) setStateValue("workspace", kept);
    }
  } catch {
    // A browser that keeps nothing: the link remains.
  }
}
