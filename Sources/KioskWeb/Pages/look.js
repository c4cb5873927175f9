// The theme: colours, boxes, direction, logo.

const gradients = { down: "to bottom", right: "to right", downRight: "to bottom right", downLeft: "to bottom left" };
const root = document.documentElement;
const logo = document.getElementById("logo");
const club = document.getElementById("club");
let last = "";

logo.onload = () => (logo.hidden = !(club.hidden = true));
logo.onerror = () => (logo.hidden = !(club.hidden = false));

export const list = (value) => (Array.isArray(value) ? value : []);
export const text = (value) => (value === undefined || value === null ? "" : String(value));

// The address of a file of the theme. Another theme's file is another one, though its name is the same.
export function fileOf(theme, path) {
  return theme.version === undefined ? path : `${path}?${encodeURIComponent(theme.version)}`;
}

const color = (value) => (/^#[0-9a-f]{6}$/i.test(value) ? value : "");
const pixels = (value) => `${Number.isFinite(value) ? value : 0}px`;

// Draws the theme, if it is another than before, and returns whether it is.
export function dress(theme) {
  const now = JSON.stringify(theme);
  if (now === last) return false;
  last = now;

  root.lang = text(theme.language);
  root.dir = theme.direction === "rtl" ? "rtl" : "ltr";
  for (const name of ["background", "text", "muted", "accent", "success", "warning", "failure"]) {
    set(name, color(theme.colors?.[name]));
  }
  const { gradient, border, shadow } = theme;
  const backdrop = [gradients[gradient?.direction], color(theme.colors?.background), color(gradient?.to)];
  set("backdrop", backdrop.every(Boolean) ? `linear-gradient(${backdrop.join(", ")})` : "");
  set("border", border ? `${pixels(border.width)} solid ${color(border.color) || "currentColor"}` : "");
  set("radius", pixels(theme.radius));
  set("shadow", shadow ? [shadow.x, shadow.y, shadow.blur].map(pixels).join(" ") + ` ${color(shadow.color)}80` : "");
  root.classList.toggle("light", isLight(color(theme.colors?.background)));

  setText(club, theme.clubName);
  logo.alt = text(theme.clubName);
  logo.hidden = !theme.logo;
  club.hidden = false;
  if (theme.logo) logo.src = fileOf(theme, "/theme/logo");
  else logo.removeAttribute("src");
  return true;
}

function set(name, value) {
  if (value) root.style.setProperty(`--${name}`, value);
  else root.style.removeProperty(`--${name}`);
}

function isLight(color) {
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
  return red * 0.3 + green * 0.6 + blue * 0.1 > 128;
}

// Sets an element's text. Its text node is kept, so that a screen that runs for months makes no new ones.
export function setText(element, value) {
  const node = element.firstChild ?? element.appendChild(document.createTextNode(""));
  const now = text(value);
  if (node.textContent !== now) node.textContent = now;
}

// Draws values as children of an element. Children are made once; those without a value are hidden.
export function fill(parent, values, make, draw) {
  while (parent.children.length < values.length) parent.append(make());
  for (let at = 0; at < parent.children.length; at++) {
    const child = parent.children[at];
    // `hidden` is no property of SVG elements.
    child.toggleAttribute("hidden", at >= values.length);
    if (at < values.length) draw(child, values[at], at);
  }
  parent.hidden = values.length === 0;
}

const template = (name) => () => document.getElementById(name).content.firstElementChild.cloneNode(true);
export const make = { row: template("row"), reward: template("reward"), stamp: template("stamp") };

// Draws taps, the newest first. The elements of the oldest serve the newest, and all others stay as they are.
export function fillRows(parent, taps, name = (tap) => tap.text) {
  const first = parent.firstElementChild?.dataset.id;
  for (let fresh = taps.findIndex((tap) => tap?.id === first); fresh > 0; fresh--) {
    parent.prepend(parent.children.length < taps.length ? make.row() : parent.lastElementChild);
  }
  fill(parent, taps, make.row, (row, tap) => {
    if (row.dataset.id !== tap?.id) row.dataset.id = text(tap?.id);
    const [time, who, detail] = row.children;
    setText(time, tap?.time);
    setText(who.firstChild, name(tap ?? {}));
    setText(detail, tap?.detail);
  });
}
