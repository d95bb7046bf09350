// Run it here: the cells of a page become editors and run, in the browser itself (kernel.js) or, on
// a page from `make live`, on the Jupyter server of which the page has the token.
// thebe makes the editors and shows the outputs (0.9.3, the two files of its npm package that the
// book needs). All of this is loaded when the reader asks for it.
"use strict";
{
  // The rocket of a chapter names its repository; a page without one has no notebook.
  const rocket = document.querySelector('a[href*="/v2/gh/"][href$=".ipynb"]');
  const root = new URL(document.documentElement.dataset.content_root, location);
  const address = new URL(location);
  const page = decodeURI(address.pathname.slice(root.pathname.length)).replace(/\.html$/, "");
  const isLocal = /^localhost$|^127\.|^\[::1\]$/.test(address.hostname);

  // The token stays in this tab: it leaves the address, which a reader may copy.
  if (address.searchParams.has("token")) {
    sessionStorage.setItem("token", address.searchParams.get("token"));
    address.searchParams.delete("token");
    history.replaceState(null, "", address);
  }
  const NEEDS = "It may need the cells above: Run down to here begins with them.";
  const token = isLocal ? sessionStorage.getItem("token") : null;

  const status = element("span", { role: "status" });
  const bar = element("div", { className: "live-bar" }, status);
  const say = (...parts) => status.replaceChildren(...parts);
  let notebook, session, running = false;

  function element(name, properties, ...children) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  }

  function button(text, title, onclick) {
    return element("button", { type: "button", className: "btn btn-sm", title, onclick }, text);
  }

  function load(name, properties) {
    return new Promise((resolve, reject) => {
      const failed = () => reject(new Error(`${properties.src ?? properties.href} did not load`));
      document.head.append(element(name, { ...properties, onload: resolve, onerror: failed }));
    });
  }

  // thebe pairs code and outputs by their order: every cell gets one of each.
  function prepare(cell, { source, outputs }) {
    let code = cell.querySelector(".cell_input pre");
    if (!code) {
      code = element("pre");
      const summary = element("summary", {}, "Code that the page leaves out");
      cell.prepend(element("details", { className: "live-left-out" }, summary, code));
    }
    cell.querySelector(".copybtn")?.remove();
    code.textContent = [source].flat().join("");
    code.dataset.executable = "";
    let output = cell.querySelector(".cell_output");
    if (!output) cell.append(output = element("div", { className: "cell_output" }));
    const figure = output.querySelector("figure");
    if (outputs.some(({ data }) => data?.["text/markdown"])) {
      // The book has set this text, thebe would show its source.
      output.after(output = element("div", { hidden: true }));
    } else if (figure) {
      const drawn = [...figure.children].filter((child) => child.localName !== "figcaption");
      const others = [...output.children].filter((child) => child !== figure);
      figure.prepend(output = element("div", {}, ...others, ...drawn));  // the caption stays
    }
    output.dataset.output = "";
    return output;
  }

  async function run(cells) {
    if (running) return;
    running = true;
    for (const cell of cells) {
      const name = `Cell ${notebook.cells.indexOf(cell) + 1} of ${notebook.cells.length}`;
      say(`${name} is running.`);
      const done = await cell.execute();
      for (const image of cell.area.node.querySelectorAll("img:not([alt])")) {
        image.alt = "Figure drawn by the code above";
      }
      const error = done?.error?.[0].ename;
      const end = error ? `ended in ${error}. ${NEEDS}` : done ? "has run." : "was stopped.";
      say(`${name} ${end}`);
      if (!done) cell.clear();
      if (!done || error) break;
    }
    running = false;
  }

  async function restart() {
    say("Restarting.");
    await session.kernel.restart();
    say("Restarted: no cell has run since, and what the page shows is from before.");
  }

  function addControls(cell, number) {
    const box = document.querySelector(`[data-thebe-id="${cell.id}"]`);
    const editor = box.querySelector(".CodeMirror").CodeMirror;
    const alone = () => run([cell]);
    // Tab leaves the editor, as everywhere on the page; Ctrl+] indents.
    editor.addKeyMap({ "Shift-Enter": alone, Tab: false, "Shift-Tab": false });
    editor.getInputField().setAttribute("aria-label", `Code of cell ${number}`);
    box.querySelector(".thebe-controls").append(
      button("Run", `Run cell ${number} (Shift+Enter)`, alone),
      button("Run down to here", `Run all cells from the first to cell ${number}`,
        () => run(notebook.cells.slice(0, number))),
    );
  }

  // A session as far as thebe asks for it: its kernel is kernel.js, and runs one cell at a time.
  function inBrowser(first) {
    let worker, fail;
    const requestComplete = async () => ({ content: {} });  // no completions
    const session = { kernel: { requestExecute, requestComplete, restart: start } };

    function start() {
      worker?.terminate();
      fail?.(new Error("stopped"));
      worker = new Worker(new URL("_static/kernel.js", root), { type: "module" });
      worker.postMessage({ site: root.href, first });
      return new Promise((resolve, reject) => {
        worker.onerror = ({ message }) => reject(new Error(message ?? "kernel.js did not load"));
        worker.onmessage = ({ data: { text, missing, failed } }) => {
          if (text) say(`${text} `, element("a", { href: rocket.href }, "Use Binder instead"));
          if (failed) reject(new Error(failed));
          if (missing) resolve(Object.assign(session, { missing }));
        };
      });
    }

    function requestExecute({ code }) {
      const future = { dispose() {} };
      future.done = new Promise((resolve, reject) => {
        fail = reject;
        worker.onmessage = ({ data }) => {
          if (data.failed) reject(new Error(data.failed));
          else if (data.header.msg_type === "execute_reply") resolve(data);
          else future.onIOPub(data);
        };
        worker.postMessage({ code });
      });
      return future;
    }
    return start();
  }

  // A kernel for this page alone, in the folder of its notebook.
  async function onServer(server, rendermime) {
    await server.ready;
    const started = await server.startNewSession(rendermime);
    const { baseUrl, token: key } = server.settings;
    addEventListener("pagehide", () => fetch(`${baseUrl}api/sessions/${started.id}`, {
      method: "DELETE", keepalive: true, headers: { Authorization: `token ${key}` },
    }));
    return started;
  }

  async function connect() {
    if (address.protocol === "file:") throw new Error("this page is a file, not on a server");
    const stored = await fetch(new URL(`_sources/${page}.ipynb`, root));
    const [first, ...code] = (await stored.json()).cells.filter((cell) => cell.cell_type === "code");
    if (!token) session = await inBrowser(first.source.join(""));
    const link = { rel: "stylesheet", href: new URL("_static/thebe/thebe.css", root) };
    const { sheet } = (await load("link", link)).target;
    for (let i = sheet.cssRules.length; i--;) {  // tables look as they did before they were run
      if (/^\S*jp-RenderedHTMLCommon/.test(sheet.cssRules[i].selectorText)) sheet.deleteRule(i);
    }
    await load("script", { src: new URL("_static/thebe/index.js", root) });
    document.querySelectorAll("div.cell").forEach((cell, i) => prepare(cell, code[i]));
    thebe.on("error", (_, { subject, message }) => {
      if (subject === "session") say(`${message}. Reload the page to begin again.`);
    });
    window.thebeLite = { startJupyterLiteServer: () => new Promise(() => {}) };  // no server
    const bound = await thebe.bootstrap({
      requestKernel: false, useBinder: false, useJupyterLite: !token,
      mathjaxUrl: "", mathjaxConfig: "",
      mountRunButton: false, mountRunAllButton: false,  // ours, in addControls, say what they do
      mountRestartButton: false, mountRestartAllButton: false,
      serverSettings: { baseUrl: new URL("/", location).href, token, appendToken: true },
      kernelOptions: { kernelName: "python3", path: `${page}-${Date.now()}.ipynb` },
      codeMirrorConfig: { theme: "mvref", lineNumbers: false },
    });
    notebook = bound.notebook;
    session ??= await onServer(bound.server, notebook.rendermime);
    notebook.attachSession(session);
  }

  async function runHere() {
    if (bar.isConnected) return;
    bar.style.top = `${document.querySelector(".bd-header-article").offsetHeight}px`;
    document.querySelector("article").prepend(bar);
    const binder = element("a", { href: rocket.href }, "Binder");
    const local = element("a", { href: new URL("book/setup.html#run-it-in-the-page", root) },
      "make live");
    say(token ? "Connecting to the Jupyter server." : "");
    try {
      await connect();
    } catch (error) {
      const what = token ? "Not connected" : "Python does not start in this browser";
      return say(`${what}: ${error.message ?? error}. Reload the page, or use `, local,
        " on your computer, or ", binder, ".");
    }
    notebook.cells.forEach((cell, i) => addControls(cell, i + 1));
    bar.append(
      button("Run all", "Run all cells of the page", () => run(notebook.cells)),
      button("Restart", "Stop what runs and forget all variables", restart),
    );
    say("Ready: change a cell and run it.");
    const missing = session.missing?.join(" and ");
    if (missing) {
      say(`Ready, but Python in the browser lacks ${missing}. Cells that need it run with `, local,
        " or on ", binder, ".");
    }
  }

  if (rocket) {
    const start = button("Run it here", "Change the code of this page and run it", runHere);
    start.classList.add("btn-live");
    document.querySelector(".article-header-buttons").prepend(start);
  }
}
