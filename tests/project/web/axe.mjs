// axe-core on pages of the book, in light and in dark: node axe.mjs ADDRESS... prints as JSON what
// is serious or critical, and every error in the console.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { launch } from "./browser.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const addresses = process.argv.slice(2);
const found = [];

async function check(page, address) {
  await page.goto(address, { waitUntil: "load" });
  await page.evaluate(axe);
  // Folded parts are read, too.
  await page.evaluate(() => document.querySelectorAll("details").forEach((d) => (d.open = true)));
  await page.addStyleTag({ content: "* { animation: none !important; transition: none !important }" });
  for (const mode of ["light", "dark"]) {
    const violations = await page.evaluate(async (mode) => {
      for (const name of ["mode", "theme"]) document.documentElement.dataset[name] = mode;
      await new Promise((done) => setTimeout(done, 100));
      const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
      return (await axe.run({ runOnly: tags, resultTypes: ["violations"] })).violations;
    }, mode);
    for (const { id, impact, nodes } of violations)
      for (const { html, target } of nodes)
        found.push({ address, mode, id, impact, html: html.slice(0, 200), at: target.join(" ") });
  }
}

const browser = await launch();
await Promise.all(
  [0, 1].map(async () => {
    const page = await browser.newPage();
    await page.setViewport({ width: 1280, height: 900 });
    page.on("console", (message) => {
      if (message.type() === "error")
        found.push({ address: page.url(), id: "console", impact: "serious", html: message.text() });
    });
    for (let address; (address = addresses.shift()); ) await check(page, address);
  }),
);
await browser.close();
console.log(JSON.stringify(found));
