// The desk's page: the taps of today.
import { dress, fillRows, list, setText, text } from "./look.js";
import { recall, remember } from "./memory.js";
import { follow } from "./stream.js";

const mostRows = 500;

const $ = (id) => document.getElementById(id);
let words = recall("words") ?? {};
let isConnectedOnce = false;
let newest;

function show(message) {
  dress(message.theme ?? {});
  const newWords = message.words ?? {};
  if (JSON.stringify(newWords) !== JSON.stringify(words)) {
    words = newWords;
    remember("words", words);
  }
  document.title = [words.title, message.theme?.clubName].map(text).filter(Boolean).join(" · ");
  setText($("title"), words.title);
  setText($("visits"), words.visitsToday);
  setText($("trouble"), message.trouble);

  const taps = list(message.taps).slice(0, mostRows);
  fillRows($("rows"), taps);
  const [tap] = taps;
  if (isConnectedOnce && tap && tap.id !== newest) setText($("polite"), [tap.text, tap.detail].map(text).join(", "));
  newest = tap?.id;
  isConnectedOnce = true;
}

function connected(isConnected) {
  setText($("connection"), isConnected ? "" : isConnectedOnce ? words.disconnected : words.connecting);
}

setText($("connection"), words.connecting);
follow("/v1/desk", "desk", 1, show, connected);
