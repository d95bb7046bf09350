// Blocks with a few numbers that change with a slider or a button. A cell of a notebook computes
// all states and prints one block (IPython.display.HTML); no server, and no library:
//
//   <div class="states" role="group" aria-label="What the block shows">
//     <svg viewBox="0 0 320 80" role="img" aria-label="Bars">
//       <rect y="10" height="20" width="120" data-bind="width:bars.0"/>
//     </svg>
//     <p>accuracy = right / all = <b data-bind="text:right">45</b> / 50</p>
//     <p class="told" aria-live="polite" data-bind="text:told">With 2 landmarks 0.90.</p>
//     <script type="application/json">
//       {"controls": [{"label": "Landmarks", "values": ["2", "5"], "at": 0}],
//        "states": [{"bars": [120], "right": 45, "told": "With 2 landmarks 0.90."}, {...}]}
//     </script>
//   </div>
//
// - The HTML is the first state as it stands: without scripts (paper, slides, JupyterLab) it reads.
//   The controls are made here, so that nothing dead stands there; `at` is the value of each
//   control (its place in `values`) in that first state, 0 unless given.
// - data-bind: pairs "attribute:path" with a blank between. "text" is the text of the element,
//   every other name an attribute (width, y, fill, class, aria-label, ...; null takes it away). A path
//   leads into the state: "told", "bars.0".
// - controls: a slider has label and values. A button has also "button", its name ("Next step"):
//   it goes through the values, and a second one goes back.
// - states: one for every combination, the values of the last control fastest, as
//   itertools.product gives them.
// - Format numbers in Python (text), with true minus signs; give attributes as numbers.
// - Colours: those of the palette as attributes, text in currentColor; both modes are readable.
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
        if (name !== "text") {
          if (value === null) element.removeAttribute(name);
          else element.setAttribute(name, value);
        } else if (element.textContent !== String(value)) {
          element.textContent = value;  // only what is new is read out
        }
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
