// The visitor's page: the scene, and the latest taps.
import { dress, fill, fillRows, list, make, setText, text } from "./look.js";
import { recall, remember } from "./memory.js";
import { play, tune } from "./sounds.js";
import { follow } from "./stream.js";

const mostLines = 20;
const mostRows = 5;
// More stamps than these are too small to be counted by eye.
const mostStamps = 20;
const privacySeconds = 8;
// The light edge that a code needs on a dark screen, in modules (ISO/IEC 18004).
const quietZone = 4;

const signs = {
  rest: "card", idle: "card", reading: "card", firstVisit: "welcome", visit: "check", milestone: "star",
  birthday: "cake", alreadyCounted: "again", refused: "stop", holdLonger: "longer", readerTrouble: "trouble",
  storageTrouble: "trouble", maintenance: "tool", announcement: "news",
};
// For kinds of scenes that this page does not know.
const signsOfTones = { success: "check", celebration: "welcome", warning: "trouble", failure: "stop" };
const kindsAtRest = ["rest", "idle"];
const kindsWithNames = ["firstVisit", "visit", "milestone", "birthday"];

const $ = (id) => document.getElementById(id);
const sign = $("sign").querySelector("use");
const calm = matchMedia("(prefers-reduced-motion: reduce)");

let message = null;
let shown = "";
let shownWhat = "";
let isFirst = true;
let words = recall("words") ?? {};
let privacy;
let join = "";
let isSecond = false;

function show(next) {
  message = next;
  const scene = message.scene ?? {};
  const theme = message.theme ?? {};
  const isNewLook = dress(theme);
  const newWords = message.words ?? {};
  const areNewWords = JSON.stringify(newWords) !== JSON.stringify(words);
  if (areNewWords) {
    words = newWords;
    remember("words", words);
  }
  if (isNewLook || areNewWords) {
    document.title = text(theme.clubName);
    setText($("latest"), words.latest);
    drawCode(theme.join);
    tune(theme, words);
  }
  drawRows((tap) => tap.text);
  // Two visitors may be given the same answer one after the other, which `id` tells apart. Other words are no news.
  const now = JSON.stringify(scene);
  if (now !== shown) {
    const what = `${scene.kind} ${scene.id}`;
    const isNews = !isFirst && what !== shownWhat;
    [shown, shownWhat] = [now, what];
    draw(scene);
    if (isNews) {
      greet();
      play(scene.tone);
    }
  }
  isFirst = false;
}

function draw(scene) {
  const isAtRest = kindsAtRest.includes(scene.kind);
  const address = text(message?.theme?.join?.address);
  let lines = list(scene.lines).slice(0, mostLines).map(text);
  // The line with the address stands below its code.
  const caption = (isAtRest && join && lines.find((line) => line.includes(address))) || "";
  if (caption) lines = lines.filter((line) => line !== caption);

  document.body.dataset.tone = text(scene.tone);
  document.body.dataset.kind = text(scene.kind);
  const name = `#sign-${signs[scene.kind] ?? signsOfTones[scene.tone] ?? "card"}`;
  if (sign.getAttribute("href") !== name) sign.setAttribute("href", name);

  const title = text(scene.title);
  $("title").dataset.length = lengthOf(title);
  setText($("title"), title);
  fill($("lines"), lines, () => document.createElement("p"), setText);
  // What a club announces may be in another language than the screen.
  $("lines").dir = scene.kind === "announcement" ? "auto" : "";
  $("lines").dataset.length = lengthOf(lines.join());
  drawStamps(scene.stamps);
  const rewards = list(scene.rewards).slice(0, mostLines).map(text);
  fill($("rewards"), rewards, make.reward, (row, reward) => setText(row.lastChild, reward));
  setText($("note"), scene.note);
  $("note").hidden = !scene.note;
  $("join").hidden = !(isAtRest && join);
  setText($("joinText"), caption);

  const isUrgent = scene.tone === "failure" || scene.kind === "holdLonger";
  const sentences = [title, ...lines, ...rewards, text(scene.note)].filter(Boolean);
  // A screen reader reads the same text again only if something about it is new.
  isSecond = !isSecond;
  const spoken = sentences.join(" \n") + (isSecond ? "\u00a0" : "");
  setText($("assertive"), isUrgent ? spoken : "");
  setText($("polite"), isUrgent ? "" : spoken);
}

function lengthOf(sentence) {
  return sentence.length > 90 ? "longest" : sentence.length > 45 ? "long" : "";
}

function drawStamps(stamps) {
  const total = Math.max(0, Math.floor(stamps?.total) || 0);
  const filled = Math.min(total, Math.max(0, Math.floor(stamps?.filled) || 0));
  const label = `${filled}/${total}`;
  const isBar = total > mostStamps;
  fill($("stamps"), Array(isBar ? 0 : total).fill(), make.stamp, (stamp, _, at) => {
    stamp.classList.toggle("filled", at < filled);
  });
  $("stamps").setAttribute("aria-label", label);
  $("stamps").style.setProperty("--columns", Math.min(10, total) || 1);
  $("bar").hidden = !isBar;
  $("bar").style.setProperty("--part", isBar ? filled / total : 0);
  setText($("bar").lastElementChild, label);
}

function drawCode(value) {
  const rows = list(value?.qr).map(text);
  join = "";
  rows.forEach((row, y) => {
    for (const { index, 0: run } of row.matchAll(/1+/g)) join += `M${index} ${y}h${run.length}v1h-${run.length}z`;
  });
  const width = rows.length + 2 * quietZone;
  $("code").setAttribute("viewBox", `${-quietZone} ${-quietZone} ${width} ${width}`);
  $("code").setAttribute("aria-label", text(value?.address));
  $("code").style.setProperty("--modules", width);
  $("code").firstElementChild.setAttribute("d", join);
}

function drawRows(name) {
  const taps = list(message?.taps).slice(0, mostRows);
  fillRows($("rows"), taps, name);
  $("aside").hidden = taps.length === 0;
}

// A small movement, so that the eye sees that the answer is a new one. The words are there already. What flies beside the
// sign stays, since it would move beyond the edge of a narrow window.
function greet() {
  if (calm.matches) return;
  const frames = [{ scale: 0.85 }, { scale: 1.04, offset: 0.6 }, { scale: 1 }];
  sign.ownerSVGElement.animate(frames, { duration: 350, easing: "ease-out" });
}

function connected(isConnected) {
  setText($("connection"), isConnected ? "" : message ? words.disconnected : words.connecting);
  clearTimeout(privacy);
  if (isConnected) return;
  // What is shown on coming back may have been there for a while.
  isFirst = true;
  if (message) privacy = setTimeout(forget, 1000 * (message.privacySeconds ?? privacySeconds));
}

// Takes the names from a screen that the kiosk cannot reach any more.
function forget() {
  drawRows(() => "");
  shown = "";
  if (!kindsWithNames.includes(message.scene?.kind)) return;
  draw({ kind: "readerTrouble", tone: "warning", title: words.disconnected });
}

setText($("connection"), words.connecting);
follow("/v1/screen", "screen", 1, show, connected);
