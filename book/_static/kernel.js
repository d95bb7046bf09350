// The kernel of a page that runs in the reader's browser: Pyodide in a worker.
// live.js starts it and sends code, kernel.py answers with the messages of a Jupyter kernel. The
// runtime and its packages come from RUNTIME; mvref and its stored rows come from the site.
const RUNTIME = "https://cdn.jsdelivr.net/pyodide/v314.0.7/full/";
// What mvref requires (without pooch, which downloads data sets), and what runs a notebook.
const PACKAGES = [
  "numpy", "scipy", "scikit-learn", "joblib", "tqdm", "pandas", "threadpoolctl", "ipython",
];
let execute;

// first: the first cell of the page's copy, which names all that the page needs.
async function start({ site, first }) {
  const say = (text) => postMessage({ text });
  const get = async (name) => {
    const reply = await fetch(`${site}_static/${name}`);
    if (!reply.ok) throw new Error(`${name} is not on the site`);
    return reply;
  };
  say("Python is loading (1 of 3).");
  const { loadPyodide } = await import(`${RUNTIME}pyodide.mjs`);
  const pyodide = await loadPyodide();
  const [, wheel, others] = /%pip install --quiet \S*\/(\S+) (.*)/.exec(first);
  const has = (name) => name in pyodide.lockfile.packages;
  const needs = others.split(" "), errors = [];
  say("Packages are loading (2 of 3).");
  await pyodide.loadPackage(
    [...PACKAGES, ...needs.filter(has), `${site}_static/${wheel}`],
    { messageCallback() {}, errorCallback: (text) => errors.push(text) },
  );
  if (errors.length) throw new Error(errors.join(" "));
  for (const [rows] of first.matchAll(/(?<=fetch\(")\w+\.zip/g)) {
    pyodide.FS.writeFile(rows, new Uint8Array(await (await get(rows)).arrayBuffer()));
  }
  say("IPython is starting (3 of 3).");
  pyodide.runPython(await (await get("kernel.py")).text());
  execute = pyodide.globals.get("start")((text) => postMessage(JSON.parse(text)));
  execute(first.replace(/%pip .*/, "pass"));
  postMessage({ missing: needs.filter((name) => !has(name)) });
}

onmessage = async ({ data }) => {
  try {
    if ("code" in data) execute(data.code);
    else await start(data);
  } catch (error) {
    postMessage({ failed: error.message });
  }
};
