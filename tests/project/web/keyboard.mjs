// From the search to a cell by keyboard alone: node keyboard.mjs ADDRESS prints as JSON where the
// focus was, whether one saw it (ring), and whether it came after the one before in the page.
import { launch } from "./browser.mjs";

const STOPS = {
  "skip link": "#pst-skip-link a",
  search: ".search-button__button",
  field: "#pst-search-dialog input",
  result: "#search-results a",
  cell: ".cell *",
};
const [address] = process.argv.slice(2);
const browser = await launch();
const page = await browser.newPage();
await page.setViewport({ width: 1280, height: 900 });
const steps = [];

// What has the focus, and whether one sees that.
async function look(stop) {
  const step = await page.evaluate((selector) => {
    const at = document.activeElement;
    // In the sidebar the ring is around the arrow, all of the summary that is to be seen, and in
    // the search around the form.
    const places = [at, at.form, ...at.querySelectorAll(".toctree-toggle")].filter(Boolean);
    const looks = () =>
      places.map((place) => {
        const { outline, boxShadow, borderColor } = getComputedStyle(place);
        return outline + boxShadow + borderColor;
      });
    const focused = looks();
    at.blur();
    const ring = looks().some((look, i) => look !== focused[i]);
    at.focus({ preventScroll: true });
    const before = window.before;
    window.before = at;
    return {
      name: `${at.tagName} ${at.className} ${at.textContent.trim().slice(0, 40)}`,
      ring,
      after: !before || Boolean(before.compareDocumentPosition(at) & 4),
      there: at.matches(selector),
    };
  }, STOPS[stop]);
  if (step.there) step.stop = stop;
  steps.push(step);
  return step.there;
}

// Press Tab until the focus is at this stop.
async function go(stop) {
  for (let presses = 0; presses < 300; presses++) {
    await page.keyboard.press("Tab");
    if (await look(stop)) return;
  }
  throw new Error(`no ${stop} after 300 presses of Tab`);
}

const enter = (wait) => Promise.all([wait, page.keyboard.press("Enter")]);

await page.goto(`${address}/book/intro.html`);
await go("skip link");
await go("search");
await enter(page.waitForSelector("#pst-search-dialog[open]"));
await page.evaluate(() => delete window.before); // the dialog stands above the page
await look("field");
await page.keyboard.type("landmarks");
await enter(page.waitForNavigation());
await page.waitForSelector(STOPS.result);
await go("result");
await enter(page.waitForNavigation());
await go("skip link");
await page.keyboard.press("Enter");
await go("cell");
await browser.close();
console.log(JSON.stringify(steps));
