// Lighthouse: node lighthouse.mjs RUNS ADDRESS... prints as JSON, for every page on a phone and on a
// desktop, the median performance of some runs, the least of the other scores, what failed, and the
// measures of the last run.
import lighthouse, { desktopConfig } from "lighthouse";
import { launch } from "./browser.mjs";

const MEASURES = ["largest-contentful-paint", "total-blocking-time", "cumulative-layout-shift"];
const [runs, ...addresses] = process.argv.slice(2);
const browser = await launch();
const port = Number(new URL(browser.wsEndpoint()).port);
const rows = [];

for (const address of addresses)
  for (const [form, config] of Object.entries({ phone: undefined, desktop: desktopConfig })) {
    const scores = {};
    let row;
    for (let run = 0; run < Number(runs); run++) {
      const { lhr } = await lighthouse(address, { port, logLevel: "silent" }, config);
      for (const { id, score } of Object.values(lhr.categories))
        (scores[id] ??= []).push(Math.round(100 * score));
      const audits = Object.values(lhr.audits);
      const failed = audits.filter((a) => a.scoreDisplayMode === "binary" && a.score === 0);
      row = { address, form, failed: failed.map((audit) => audit.id) };
      for (const id of MEASURES) row[id] = lhr.audits[id].displayValue;
    }
    for (const [id, values] of Object.entries(scores)) {
      values.sort((a, b) => a - b);
      row[id] = values[id === "performance" ? Math.floor(values.length / 2) : 0];
    }
    rows.push(row);
  }
await browser.close();
console.log(JSON.stringify(rows));
