// Blocks with a few numbers that change with a slider or a button. A cell of a notebook computes
// all states and prints one block (IPython.display.HTML); no server, and no library:
//
//   <div class="states" role="group" aria-label="What the block shows">
//     <div style="background:#0072B2;height:1em;width:90%" data-bind="style.width:bars.0"></div>
//     <p>accuracy = right / all = <b data-bind="text:right">45</b> / 50</p>
//     <p class="told" aria-live="polite" data-bind="text:told">With 2 landmarks 0.90.</p>
//     <script type="application/json">
//       {"controls": [{"label": "Landmarks", "values": ["2", "5"], "at": 0}],
//        "states": [{"bars": ["90%"], "right": 45, "told": "With 2 landmarks 0.90."}, {...}]}
//     </script>
//   </div>
//
// - The HTML is one of the states as it stands: without scripts (paper, slides, JupyterLab) it
//   reads. The controls are made here, so that nothing dead stands there; `at` is the value of each
//   control (its place in `values`) in that state, 0 unless given.
// - data-bind: pairs "name:path" with a blank between. "text" is the text of the element,
//   "style.width" a property of its style, every other name an attribute (src, alt, class, hidden,
//   aria-label, ...; null takes it away). A path leads into the state: "told", "bars.0".
// - controls: a slider has label and values. A button has also "button", its name ("Next step"):
//   it goes through the values, and a second one goes back.
// - states: one for every combination, the values of the last control fastest, as
//   itertools.product gives them.
// - Format numbers in Python (text), with true minus signs.
// - JupyterLab takes inline SVG and style sheets from a notebook that was not run there. Boxes with
//   a style of their own (position, left, width, height, background, display: flex) stay, so do
//   tables and <img src="data:...">. A <figure> inside would confuse live.js.
// - Colours: those of the palette; text keeps the page's colour, or both modes are not readable.
"use strict";
{
  function make(name, properties, ...children) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  }

  function show(block, state) {
    for (const element of block.querySelectorAll("[data-bind]")) {
      for (const pair of element.dataset.bind.split(/\s+/)) {
        const [name, path] = pair.split(":");
        const value = path.split(".").reduce((inside, key) => inside[key], state);
        if (name.startsWith("style.")) element.style.setProperty(name.slice(6), value);
        else if (name !== "text" && value === null) element.removeAttribute(name);
        else if (name !== "text") element.setAttribute(name, value);
        else if (element.textContent !== String(value)) element.textContent = value;
      }
    }
  }

  function slider({ label, values, at }, changed) {
    const shown = make("output", {}, values[at]);
    const input = make("input", { type: "range", min: 0, max: values.length - 1, step: 1 });
    input.value = at;
    input.setAttribute("aria-valuetext", values[at]);
    input.addEventListener("input", () => {
      shown.textContent = values[input.value];
      input.setAttribute("aria-valuetext", values[input.value]);
      changed(Number(input.value));
    });
    return make("label", {}, `${label} `, input, " ", shown);
  }

  function buttons({ label, values, button, at }, changed) {
    const last = values.length - 1, name = make("span");
    const back = make("button", { type: "button", className: "btn btn-sm" }, "Back");
    const next = make("button", { type: "button", className: "btn btn-sm" });
    function go(to) {
      at = to;
      name.textContent = `${label} ${values[at]}`;
      next.textContent = at < last ? button : "Start again";
      back.setAttribute("aria-disabled", at === 0);  // and keeps the focus
    }
    back.addEventListener("click", () => { if (at > 0) { go(at - 1); changed(at); } });
    next.addEventListener("click", () => { go(at < last ? at + 1 : 0); changed(at); });
    go(at);
    return make("span", {}, next, back, name);
  }

  function wire(block) {
    const { controls, states } = JSON.parse(block.querySelector("script").textContent);
    const places = controls.map(({ at }) => at ?? 0);
    block.classList.add("is-live");
    const bar = make("div", { className: "states-controls" });
    controls.forEach((control, i) => {
      const build = control.button ? buttons : slider;
      bar.append(build({ ...control, at: places[i] }, (at) => {
        places[i] = at;
        const place = controls.reduce((sum, { values }, k) => sum * values.length + places[k], 0);
        show(block, states[place]);
      }));
    });
    block.prepend(bar);
  }

  // Now, and when "Run it here" has run a cell that prints such a block.
  const wireAll = () => document.querySelectorAll(".states:not(.is-live)").forEach(wire);
  wireAll();
  if (document.querySelector(".states")) {
    new MutationObserver(wireAll).observe(document.body, { childList: true, subtree: true });
  }
}
