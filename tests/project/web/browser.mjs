// The browser that the other files share; CHROME is its path.
import puppeteer from "puppeteer-core";

export const launch = () =>
  puppeteer.launch({
    executablePath: process.env.CHROME,
    args: [
      "--disable-background-timer-throttling", // pages are read side by side
      "--disable-renderer-backgrounding",
      "--disable-backgrounding-occluded-windows",
      ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []), // Chromium refuses root otherwise
    ],
    protocolTimeout: 300_000,
  });
