// Follows server-sent events, each of which is whole: what to show now.
import { recall, remember } from "./memory.js";

const shortestPause = 250;
const longestPause = 5_000;
const longestOpening = 10_000;
const longestSilence = 30_000;
const reloadPause = 60_000;

// Calls `show` with the data of each event `name`, and `connected` with whether the server can be reached.
//
// EventSource gives up after an HTTP error and waits as long as it likes after others, so each attempt is a new one.
export function follow(path, name, version, show, connected) {
  let source;
  let timer;
  let pause = 0;
  let isHeard = false;
  let isWatched = false;

  function open() {
    source?.close();
    source = new EventSource(path);
    source.onerror = lose;
    source.addEventListener(name, receive);
    source.addEventListener("ping", () => {
      isWatched = true;
      wait(longestSilence, lose);
    });
    wait(longestOpening, lose);
  }

  function wait(time, then) {
    clearTimeout(timer);
    timer = setTimeout(then, time);
  }

  function receive(event) {
    let data;
    try {
      data = JSON.parse(event.data);
    } catch {
      return;
    }
    if (!data || typeof data !== "object") return;
    if (data.version !== version) return reload();
    // A server that sends no pings may be silent for hours.
    if (isWatched) wait(longestSilence, lose);
    else clearTimeout(timer);
    pause = 0;
    if (!isHeard) connected((isHeard = true));
    show(data);
  }

  function lose() {
    source.close();
    // Whoever may not look any more is told so by the page.
    if (!isHeard) fetch(path, { method: "HEAD" }).then((answer) => answer.status === 401 && reload(), () => {});
    pause = Math.min(longestPause, pause * 2 || shortestPause);
    // Screens that lost the same server do not all come back at the same moment.
    wait(pause * (0.75 + Math.random() / 4), open);
    if (isHeard) connected((isHeard = false));
  }

  function hurry() {
    if (!isHeard) open();
  }

  addEventListener("online", hurry);
  addEventListener("pageshow", (event) => event.persisted && hurry());
  document.addEventListener("visibilitychange", () => document.hidden || hurry());
  open();
}

// The server speaks another version after an update, and has the pages for it.
function reload() {
  if (Date.now() - Number(recall("reloaded")) < reloadPause) return;
  remember("reloaded", Date.now());
  location.reload();
}
