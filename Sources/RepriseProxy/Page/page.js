"use strict";
(() => {
const root = location.pathname.replace(/\/*$/, "/");
const own = location.origin + root;
// Addresses that leave the page have a token that cannot control the server.
const { player } = document.documentElement.dataset, forPlayers = player ? `${location.origin}/${player}/` : own;
const at = new Proxy({}, { get: (_, id) => document.getElementById(id) });
let can = new Set();

// Words.
const bytes = value => {
  let unit = "B", rest = value;
  for (const next of ["kB", "MB", "GB", "TB", "PB"]) if (Math.abs(rest) >= 999.5) { rest /= 1000; unit = next }
  const digits = unit === "B" ? 0 : Math.abs(rest) < 9.995 ? 2 : Math.abs(rest) < 99.95 ? 1 : 0;
  const scale = 10 ** digits, rounded = Math.round(Math.abs(rest) * scale) / scale;
  return (rest < 0 ? -rounded : rounded).toFixed(digits) + " " + unit;
};
// A billionth more, so that 0.29 is 29 %.
const percentOf = share => (share < 1 ? Math.min(99, Math.floor(Math.max(share, 0) * 100 + 1e-9)) : 100) + " %";
const percent = (part, whole) => percentOf(whole > 0 ? part / whole : 0);
// The place and width of a part of a bar, of 1000.
const placeOf = (from, to, length) => {
  const width = to > from ? Math.min(Math.max((to - from) / length * 1000, 3), 1000) : 0;
  return [Math.min(Math.max(from / length * 1000, 0), 1000 - width), width];
};
const count = (number, noun, plural = noun + "s") =>
  number.toLocaleString("en") + " " + (number === 1 ? noun : plural);
const duration = seconds => {
  for (const [unit, length] of [["day", 86400], ["hour", 3600], ["minute", 60]])
    if (seconds >= length) return count(Math.floor(seconds / length), unit);
  return count(Math.max(0, Math.floor(seconds)), "second");
};
const dayOf = seconds => new Date(seconds * 1000).toLocaleDateString("en-US", { month: "short", day: "numeric" });
const clock = seconds => {
  const date = new Date(seconds * 1000);
  return Date.now() - date < 864e5 ? date.toTimeString().slice(0, 8) : dayOf(seconds);
};
// Without directional formatting characters.
const plain = text => text.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "");
const decoded = text => { try { return plain(decodeURIComponent(text)) } catch { return plain(text) } };
// As TitleName.swift does it.
const common = new Set(["chunklist", "dash", "hls", "index", "live", "main", "manifest", "master", "media",
  "playlist", "prog_index", "stream", "vod"]);
const isCommon = segment => common.has(segment.split(".")[0].toLowerCase());
const nameOf = url => {
  const [host, ...path] = url.slice(url.indexOf("://") + 3).split(/[?#]/)[0].split("/").filter(Boolean);
  const last = path[path.length - 1];
  if (last === undefined || !isCommon(last)) return { file: decoded(last ?? host), host };
  const end = path.findLastIndex(segment => !isCommon(segment));
  return { file: decoded((end < 0 ? path : path.slice(0, end + 1)).slice(-3).join("/")), host };
};
const streamWords = (stored, files, share, isComplete) => {
  const amount = bytes(stored) + " in " + count(files, "file");
  if (isComplete) return amount + ", plays without a network";
  return share == null ? amount + ", of unknown share" : percentOf(share) + " stored, " + amount;
};
const storedWords = (stored, length, parts) => {
  if (length == null) return bytes(stored) + " stored";
  if (stored >= length) return bytes(length) + ", all stored";
  const places = parts > 1 ? ", " + count(parts, "part") : "";
  return percent(stored, length) + " of " + bytes(length) + " stored" + places;
};
const trackWords = ({ kind, name, language, width, height, bandwidth }) => [kind, width && width + "×" + height,
  name ? plain(name) : language && plain(language), bandwidth && (bandwidth / 1e6).toFixed(1) + " Mbit/s"]
  .filter(Boolean).join(" ");
// What stands for a missing picture.
const initials = name =>
  (name.match(/[\p{L}\p{N}]+/gu) ?? ["▸"]).slice(0, 2).map(word => [...word][0].toUpperCase()).join("");
const hueOf = name => [...name].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)) % 360, 7);
// The URL itself, or the one behind an address of this server.
const urlOf = text => {
  let told = text.trim();
  const base = [own, forPlayers].find(base => told.startsWith(base));
  if (base) told = told.slice(base.length).replace(/^(https?)\/+/, "$1://");
  else if (/^[\w-]+(\.[\w-]+)+(:\d+)?\/./.test(told)) told = "https://" + told;
  if (!/^https?:\/\/[^/]/i.test(told) || !URL.canParse(told)) return undefined;
  return new URL(told).href.split("#")[0];
};

// Elements.
const make = (name, className, ...content) => {
  const node = document.createElement(name);
  if (className) node.className = className;
  node.append(...content);
  return node;
};
const shape = (name, values, ...content) => {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const key in values) node.setAttribute(key, values[key]);
  node.append(...content);
  return node;
};
const icons = { play: "M7 4.5v15l12.5-7.5z", pin: "M6.5 3.5h11V21L12 16.8 6.5 21z",
  more: "M5 12h.1m6.8 0h.2m6.8 0h.1" };
const icon = name => shape("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, shape("path", { d: icons[name] }));
const bdi = (text = "") => make("bdi", "", plain(text));
const nodeOf = place => typeof place === "string" ? at[place] : place;
const put = (place, text) => { if (nodeOf(place).textContent !== text) nodeOf(place).textContent = text };
const show = (id, isShown) => { at[id].hidden = !isShown };
const part = (node, className) => node.querySelector("." + className);
const button = (verb, of, action, className = "") => {
  const node = make("button", className, verb);
  node.type = "button";
  if (of) node.append(make("span", "hidden", " " + of));
  node.onclick = action;
  return node;
};
const emptyBar = () => shape("svg", { class: "bar" });
const drawBar = (place, spans, length, words) => {
  const bar = nodeOf(place), drawn = spans.join(";") + "/" + length + words;
  if (bar.drawn === drawn) return;
  bar.drawn = drawn;
  const values = { viewBox: "0 0 1000 8", preserveAspectRatio: "none", role: "img", "aria-label": words };
  for (const name in values) bar.setAttribute(name, values[name]);
  bar.replaceChildren(...spans.map(([from, to, className = ""]) => {
    const [x, width] = placeOf(from, to, length);
    return shape("rect", { x, width, height: 8, class: className });
  }));
};
// Makes the children of a list those of `items`. Those that stay keep the focus.
const fill = (place, items, key, create, update) => {
  const list = nodeOf(place), keys = new Set(items.map(key)), old = new Map();
  for (const node of [...list.children]) {
    if (keys.has(node.key) && !old.has(node.key)) old.set(node.key, node); else node.remove();
  }
  let next = list.firstElementChild;
  for (const item of items) {
    const id = key(item), node = old.get(id) ?? create(item);
    old.delete(id);
    node.key = id;
    if (node.item !== item) update?.(node, item);
    node.item = item;
    if (node === next) next = next.nextElementSibling; else list.insertBefore(node, next);
  }
};
const idOf = item => item.id;
const lines = (list, texts) => fill(list, texts, text => text, text => make("li", "", bdi(text)));
const pairs = (place, items, texts = item => item) =>
  fill(place, items.map(texts), pair => pair[0] + pair[2], () => make("li", "", bdi(), make("span")), (node, pair) => {
    put(node.firstChild, plain(pair[0]));
    put(node.lastChild, plain(pair[1]));
  });
const shownName = item => item.name ? plain(item.name) : nameOf(item.url).file;
const hostOf = item => make("span", "host", bdi(nameOf(item.url).host));
const card = item => make("li", "item",
  make("div", "words", make("bdi", "name"), make("div", "actions"), hostOf(item)), emptyBar(), make("p", "facts"));
const facts = (...words) => words.filter(Boolean).join(" · ");
// Draws the stored parts of a title, and returns the words for them.
const drawStored = (bar, { isStream, files, storedBytes, completeLength, spans = [], storedShare, isComplete }) => {
  const words = isStream && files ? streamWords(storedBytes, files, storedShare, isComplete)
    : storedWords(storedBytes, completeLength, spans.length);
  if (isStream) drawBar(bar, [[0, storedShare ?? 0]], 1, words);
  else drawBar(bar, spans, completeLength ?? Math.max(storedBytes, 1), words);
  return words;
};

// Messages, at most every five seconds for screen readers. Results of actions go first.
let said = 0, next = null, timer = 0;
const say = (text, isUrgent) => {
  if (next?.isUrgent && !isUrgent) return;
  next = { text, isUrgent };
  timer ||= setTimeout(() => {
    // What is outside of an open dialog can neither be seen nor heard.
    ([...document.querySelectorAll("dialog[open]")].pop() ?? document.body).append(at.status);
    put("status", next.text);
    [said, next, timer] = [Date.now(), null, 0];
    setTimeout(() => { if (!next && Date.now() - said > 7000) put("status", "") }, 8000);
  }, Math.max(0, said + 5000 - Date.now()));
};
// Adds a button that copies the text of a node.
const copyable = (node, what) => {
  node.after(button("Copy", what, async () => {
    try {
      await navigator.clipboard.writeText(node.textContent);
    } catch {
      // Only https and this machine have a clipboard.
      getSelection().selectAllChildren(node);
      document.execCommand("copy");
    }
    say(what[0].toUpperCase() + what.slice(1) + " is copied.", true);
  }));
  return node.parentNode;
};
const copyBox = (text, what) => {
  const code = make("code", "", text);
  make("div", "copyable", code);
  return copyable(code, what);
};

// Numbers.
const mark = (id, text, isBad) => { put(id, text); at[id].classList.toggle("bad", isBad) };
const showSums = ({ time, started, sinceStart: sums, overall }) => {
  const saved = bytes(sums.savedBytes), served = sums.servedBytes, top = at["top-saved"];
  put(top.firstChild, saved);
  put(top.lastChild, "since " + (time - started < 86400 ? clock(started).slice(0, 5) : dayOf(started)));
  top.hidden = false;
  put("saved", saved);
  put("running", "The server started " + duration(time - started) + " ago");
  put("life", overall ? bytes(overall.savedBytes) : "unknown");
  put("ratio", percent(sums.storeBytes + sums.joinedBytes, served));
  let end = 0;
  const spans = [];
  for (const source of ["store", "joined", "origin"]) {
    const value = sums[source + "Bytes"];
    put(source, bytes(value));
    put(source + "-share", percent(value, served));
    spans.push([end, end += value, source]);
  }
  drawBar("sources", spans, Math.max(served, 1), "Sources of " + bytes(served) + " served");
};
const showDisk = ({ store }) => {
  const used = store.mediaBytes + store.indexBytes, limit = Math.max(store.limitBytes, used, 1);
  const words = bytes(used) + " of " + bytes(limit) + " used";
  drawBar("disk", [[0, used]], limit, words);
  put("disk-words", facts(words, store.freeBytes != null && bytes(store.freeBytes) + " free on the disk"));
};
const showHistory = async () => {
  const { days } = await getJSON("history.json"), chart = at.history, today = new Date();
  const saved = new Map(days.map(({ day, savedBytes }) => [day, savedBytes]));
  // At noon, because days may have 23 hours or 25.
  const dates = Array.from({ length: 31 }, (_, index) =>
    new Date(today.getFullYear(), today.getMonth(), today.getDate() - 30 + index, 12));
  const times = dates.map(date => date / 1000);
  const values = dates.map(date => Math.max(0, saved.get(date.toLocaleDateString("en-CA")) ?? 0));
  const most = Math.max(...values), sum = bytes(values.reduce((all, value) => all + value));
  part(chart, "days").replaceChildren(...values.map((value, index) => {
    const height = value && Math.max(2, value / most * 100);
    return shape("rect", { x: index * 20 + 3, width: 14, y: 100 - height, height },
      shape("title", {}, dayOf(times[index]) + ": " + bytes(value)));
  }));
  put("history-words", sum + " since " + dayOf(times[0]) + ", most on " + dayOf(times[values.indexOf(most)]) + ": "
    + bytes(most));
  chart.hidden = !most;
};
const showHosts = ({ hosts, remarks }) => {
  lines("remarks", [...new Set(remarks.map(({ host, reason }) => host + ": " + reason))]);
  mark("hosts-count", facts(count(hosts.length, "host"), remarks.length && count(remarks.length, "remark")),
    remarks.length > 0);
  pairs("hosts", hosts, ({ host, servedBytes, fetchedBytes }) =>
    [host, bytes(servedBytes) + " served, " + bytes(fetchedBytes) + " fetched"]);
};
const peerStates = { degraded: "ready, not storing", draining: "about to end", unreachable: "not reached",
  foreign: "no server of Reprise", unknown: "not asked yet" };
const showPeers = ({ peers }) => {
  show("servers", peers);
  if (!peers) return;
  const { servers, counted } = peers, known = counted + " of " + servers.length + " reached";
  mark("servers-count", known, counted < servers.length);
  const sumsOf = ({ sinceStart: sums, usedBytes }) => sums && bytes(sums.savedBytes) + " saved · "
    + percent(sums.storeBytes + sums.joinedBytes, sums.servedBytes) + " hits · " + bytes(usedBytes) + " on disk";
  const all = { ...peers, name: "All", address: "", state: known };
  pairs("peers", [...servers, all], ({ name, address, state, ...sums }) =>
    [facts(name, address ?? "this server"), facts(peerStates[state] ?? state, sumsOf(sums))]);
};
const showHealth = status => {
  const { name, time, started, store, isOffline, sinceStart } = status;
  const problem = store.problem ?? (store.isStoring ? "" : "everything streams.");
  const mood = problem ? "Not storing: " + problem : isOffline ? "Offline" : "Serving and storing";
  put("state", mood);
  at.state.className = problem ? "state bad" : isOffline ? "state idle" : "state";
  mark("health-mood", problem ? "Not storing" : "", !!problem);
  put("server", name === "reprise" ? "" : plain(name));
  pairs("health", [["Running", duration(time - started)],
    ["Cache", status.isShared ? "shared" : "private"], ["Connections", count(status.connections, "connection") + ", "
      + count(status.answers, "answer") + " under way"], ["Served", bytes(sinceStart.servedBytes)],
    ["Fetched from origins", bytes(sinceStart.fetchedBytes) + " in " + count(sinceStart.originRequests, "request")]]);
};
const showEvents = ({ events }) => {
  put("events-count", events.length ? count(events.length, "event") : "nothing out of the ordinary");
  pairs("events", events.slice().reverse(), ({ words, time }) => [words, clock(time), time]);
};

// What plays, and downloads.
const arriving = (node, { storedBytes }, time) => {
  const { before } = node, rate = time > before?.time ? (storedBytes - before.storedBytes) / (time - before.time) : 0;
  node.before = { time, storedBytes };
  return rate >= 1000 && "arriving at " + bytes(rate) + "/s";
};
let playing = "";
const showPlaying = ({ playing: items, time }) => {
  show("now", items.length);
  fill("playing", items, idOf, card, (node, item) => {
    put(part(node, "name"), shownName(item));
    put(part(node, "facts"), facts(drawStored(part(node, "bar"), item), item.players && count(item.players, "player"),
      arriving(node, item, time)));
  });
  const now = items.length ? count(items.length, "title") + " playing." : "Nothing is playing.";
  if (playing && playing !== now) { say(now); refreshTitles() }
  playing = now;
};
const stateWords = state =>
  state[0].toUpperCase() + state.slice(1).replace(/[A-Z]/g, letter => " " + letter.toLowerCase());
const showDownloads = ({ downloads }) => {
  const items = downloads.filter(item => item.state !== "done");
  show("under-way", items.length);
  fill("downloads", items, idOf, card, (node, item) => {
    const { state, fraction, completeLength, bytesPerSecond, error } = node.item = item;
    const words = percentOf(fraction), name = shownName(item);
    put(part(node, "name"), name);
    drawBar(part(node, "bar"), [[0, fraction]], 1, words + " downloaded");
    node.classList.toggle("failed", state === "failed");
    put(part(node, "facts"), facts(stateWords(state), words + (completeLength ? " of " + bytes(completeLength) : ""),
      state === "running" && bytesPerSecond && bytes(bytesPerSecond) + "/s", error && plain(error)));
    const [verb, said] = {
      paused: ["Resume", "Resumed "], failed: ["Retry", "Trying again: "],
      waitingForHours: ["Download now", "Downloading "],
    }[state] || ["Pause", "Paused "];
    const actions = part(node, "actions"), hadFocus = actions.contains(document.activeElement);
    if (!can.has("downloads") || node.verb === verb) return;
    node.verb = verb;
    const does = (verb, said) => button(verb, name, () => act("downloads",
      { pause: [], resume: [], [verb === "Pause" ? "pause" : "resume"]: ["id:" + item.id] }, () => said + name + "."));
    actions.replaceChildren(does(verb, said));
    if (verb === "Download now") actions.append(does("Pause", "Paused "));
    if (verb === "Retry" && can.has("remove")) actions.append(button("Remove…", name, () => remove(node.item)));
    if (hadFocus) actions.firstChild.focus();
  });
};

// The library, page by page.
const wanted = {}, keptWords = { pinned: "Pinned", download: "Kept", first: "Beginning kept" };
let titles = [], mostByItself = 200, after, asked = null, isDue = false, isNew = true, loaded = 0, trouble = "";
let picturesDue = 0;
const showBadges = (list, { kept, tag, isStream, isComplete }) => {
  const texts = [isComplete && "Plays offline", keptWords[kept], tag && "#" + plain(tag), isStream && "Stream"];
  fill(list, texts.filter(Boolean), text => text, text =>
    make("bdi", text === texts[0] ? "badge good" : "badge", text));
  return list;
};
const usedWords = ({ plays, lastUsed }) =>
  facts("Used " + count(plays, "time"), lastUsed && duration(Date.now() / 1000 - lastUsed) + " ago");
const isAudio = item => item.mediaType?.startsWith("audio/");
const rowOf = item => {
  const poster = make("div", isAudio(item) ? "poster audio" : "poster", make("span"), icon("play"));
  const node = make("li", "item", poster);
  poster.ariaHidden = true;
  const opener = button(make("span", "hidden", "Play "), "", () => play(node.item), "play");
  opener.append(make("bdi", "name"));
  const buttons = make("div", "buttons", button(icon("more"), " ", () => showDetails(node.item.id), "icon more"));
  if (can.has("pin")) buttons.prepend(button(icon("pin"), " ", () => pin(node.item), "icon pin"));
  node.append(make("div", "words", opener,
    make("div", "sub", hostOf(item), make("div", "badges")), make("span", "facts")),
    make("div", "share", emptyBar(), make("span", "note")), buttons);
  return node;
};
const drawPoster = (poster, name, picture) => {
  if (poster.name !== name) poster.style.setProperty("--hue", hueOf(name));
  put(poster.firstChild, initials(poster.name = name));
  if (poster.picture === picture) return;
  poster.picture = picture;
  poster.querySelector("img")?.remove();
  if (!picture) return;
  const image = Object.assign(make("img"), { alt: "", src: root + picture });
  image.onerror = () => image.remove();
  poster.firstChild.after(image);
};
const describe = (node, item) => {
  const name = shownName(item), pinner = part(node, "pin"), verb = item.kept ? "Unpin" : "Pin";
  put(part(node, "name"), name);
  put(part(node, "more").lastChild, "Details of " + name);
  drawPoster(part(node, "poster"), name, item.picture);
  showBadges(part(node, "badges"), item);
  put(part(node, "note"), drawStored(part(node, "bar"), item));
  put(part(node, "facts"), usedWords(item));
  if (!pinner || pinner.textContent === verb + " " + name) return;
  put(pinner.lastChild, verb + " " + name);
  pinner.title = verb;
  pinner.classList.toggle("on", !!item.kept);
};
const showTitles = () => {
  const list = at.titles, hadFocus = list.contains(document.activeElement), more = at.more;
  fill(list, titles, idOf, rowOf, describe);
  if (hadFocus && !list.contains(document.activeElement)) at.search.focus();
  const isSearching = !!asked && isNew, isEmpty = !titles.length && !after && !isSearching;
  const isNarrowed = ["search", "kept", "offline", "host", "tag"].some(name => wanted[name]);
  const isFirst = isEmpty && !isNarrowed && !trouble;
  list.ariaBusy = isSearching;
  show("first-steps", isFirst);
  show("tools", !isFirst);
  show("sort", !isFirst);
  show("no-titles", !titles.length && !isFirst);
  put("no-titles", isSearching ? isNarrowed ? "Searching…" : "Loading…" : trouble || "No title has these words.");
  show("show-all", isEmpty && isNarrowed);
  more.hidden = !after || isSearching;
  put(more, wanted.search ? "Search further" : "Show more");
  show("prune", can.has("prune") && !isFirst);
  if (!asked) { nearEnd.unobserve(more); nearEnd.observe(more) }
};
// More come by themselves up to 200, so that the end of the page can be reached.
const nearEnd = new IntersectionObserver(seen => {
  if (seen.at(-1).isIntersecting && after && !asked && titles.length < mostByItself) loadTitles(true);
}, { rootMargin: "800px" });
// Changes a title, or removes it.
const change = (id, members) => {
  titles = titles.flatMap(item => item.id !== id ? item : members ? { ...item, ...members } : []);
  showTitles();
};
const getJSON = async (path, signal) => {
  const answer = await (await fetch(root + "-/" + path, { signal })).json();
  if (answer.error) throw new Error(answer.error);
  return answer;
};
const choices = (name, all, values = []) => {
  const select = at[name], known = new Set([...values, wanted[name]].filter(Boolean));
  select.hidden = known.size < 2 && !wanted[name];
  fill(select, ["", ...known], value => value, value => new Option(value ? plain(value) : all, value));
};
const loadTitles = async (goesOn = false) => {
  asked?.abort();
  loaded = Date.now();
  const request = asked = new AbortController();
  const most = goesOn || isNew ? 50 : Math.min(Math.max(titles.length, 50), 200);
  let found = [], place = goesOn ? after : undefined, questions = 0;
  if (isNew) showTitles();
  try {
    do {
      const query = new URLSearchParams({ limit: most - found.length, pictures: "yes", ...wanted, ...place && { after: place } });
      const answer = await getJSON("titles.json?" + query, request.signal);
      if (asked !== request) return;
      found = found.concat(answer.titles);
      place = answer.next;
      clearTimeout(picturesDue);
      if (answer.makesPictures) picturesDue = setTimeout(refreshTitles, 2000);
      if (answer.count != null) put("titles-count", answer.count ? count(answer.count, "title") : "");
      if (answer.facets) {
        choices("host", "All hosts", answer.facets.hosts);
        choices("tag", "All tags", answer.facets.tags);
      }
      // An answer has fewer titles than wanted if some of them do not play offline.
    } while (place && found.length < most && ++questions < 20);
    if (isNew) titles = [];
    const known = new Set(found.map(idOf));
    if (goesOn) [titles, after] = [[...titles.filter(item => !known.has(item.id)), ...found], place];
    else {
      // A second look is at the beginning only.
      const rest = place ? titles.slice(titles.findLastIndex(item => known.has(item.id)) + 1) : [];
      titles = [...found, ...rest];
      if (!rest.length) after = place;
    }
    [trouble, isNew] = ["", false];
  } catch (error) {
    if (error.name !== "AbortError") say(trouble = "The titles cannot be listed: " + error.message);
  }
  if (asked !== request) return;
  asked = null;
  showTitles();
  if (isDue) refreshTitles();
};
// Looks again, but not during another look, and not for a search, which would start over.
const refreshTitles = () => {
  isDue = !!asked;
  if (!asked && !wanted.search) loadTitles();
};
const narrow = members => {
  Object.assign(wanted, members);
  for (const name in wanted) if (!wanted[name]) delete wanted[name];
  [after, isNew, mostByItself] = [undefined, true, 200];
  loadTitles();
};
let typing = 0;
at.search.oninput = event => {
  clearTimeout(typing);
  typing = setTimeout(() => narrow({ search: event.target.value.trim() }), 250);
};
for (const name of ["host", "tag", "sort"]) at[name].onchange = event => narrow({ [name]: event.target.value });
const chips = document.querySelectorAll(".chips button");
const choose = value => {
  for (const chip of chips) chip.ariaPressed = chip.value === value;
  return { kept: value === "kept" && "yes", offline: value === "offline" && "yes" };
};
for (const chip of chips) chip.onclick = () => narrow(choose(chip.value));
at["show-all"].onclick = () => {
  for (const name of ["search", "host", "tag"]) at[name].value = "";
  narrow({ search: "", host: "", tag: "", ...choose("") });
  at.search.focus();
};
at.more.onclick = () => {
  mostByItself = titles.length + 200;
  loadTitles(true);
};

// Actions.
const post = (name, body, signal) => fetch(root + "-/api/" + name, {
  method: "POST", referrerPolicy: "same-origin", headers: { "Content-Type": "application/json" }, signal,
  body: JSON.stringify(body) });
const outcomeOf = line => {
  let told;
  try { told = JSON.parse(line) } catch { throw new Error("the answer cannot be read") }
  const problem = told.error ?? told.outcome?.problem?.message;
  if (problem) throw new Error(problem);
  return told.outcome;
};
const act = async (name, body, words, then) => {
  try {
    const outcome = outcomeOf((await (await post(name, body)).text()).trim().split("\n").pop());
    if (!outcome) throw new Error("it was ended");
    say(words(outcome), true);
    then?.();
  } catch (error) { say("That failed: " + error.message, true) }
  refreshTitles();
};
const ask = (title, text, verb) => new Promise(done => {
  const dialog = at.ask;
  put("ask-title", title);
  put("ask-text", text);
  show("prune-choice", verb === "Prune");
  put("ask-yes", verb);
  at["ask-yes"].onclick = () => dialog.close("yes");
  at["ask-no"].onclick = () => dialog.close("");
  // The event is late. It may be open again.
  dialog.onclose = () => { if (!dialog.open) done(dialog.returnValue === "yes") };
  dialog.returnValue = "";
  dialog.showModal();
  at["ask-no"].focus();
});
const pin = item => {
  const { kept, id } = item, url = "id:" + id;
  return act(kept ? "unpin" : "pin", kept ? { urls: [url] } : { url },
    () => (kept ? "Unpinned " : "Pinned ") + shownName(item) + ".",
    () => change(id, { kept: kept ? undefined : "pinned" }));
};
const remove = async item => {
  const name = shownName(item), text = bytes(item.storedBytes) + " are removed from the disk"
    + (item.kept ? ", although it is kept" : "") + ". It can be fetched again.";
  if (await ask("Remove " + name + "?", text, "Remove")) act("remove", { urls: ["id:" + item.id] },
    outcome => "Removed " + name + ", " + bytes(outcome.freedBytes) + " freed.", () => {
      at.details.close();
      change(item.id);
      at.search.focus();
    });
};
at.prune.onclick = async () => {
  const text = "The least recently used titles go first. Pinned ones and downloads stay.";
  if (!last || !await ask("Prune the cache?", text, "Prune")) return;
  const [member, value] = at["prune-what"].value.split(":");
  act("prune", member === "size" ? { size: Math.floor(last.store.mediaBytes * value) } : { olderThan: Number(value) },
    outcome => bytes(outcome.freedBytes) + " freed, " + bytes(outcome.leftBytes) + " left.", () => narrow({}));
};
const linkOf = item => forPlayers + "-/play?id=" + item.id;
const openPlayer = (source, name, isSound) => {
  const dialog = at.player, media = make(isSound ? "audio" : "video");
  media.controls = media.autoplay = true;
  put("player-title", name);
  put("player-problem", "");
  media.onerror = () => put("player-problem", "This browser cannot play it. A player such as VLC or mpv may.");
  media.src = source;
  at["player-place"].firstChild?.pause?.();
  at["player-place"].replaceChildren(media, copyBox(source, "the link"));
  dialog.onclose = () => {
    if (dialog.open) return;
    media.onerror = null;
    media.removeAttribute("src");
    media.load();
    media.remove();
  };
  dialog.showModal();
};
const play = item => openPlayer(linkOf(item), shownName(item), isAudio(item));
for (const name of ["player", "details"]) at[name + "-close"].onclick = () => at[name].close();

// The field for an address.
const enteredURL = () => {
  const field = at.url, url = urlOf(field.value);
  put("open-problem", url ? "" : "Enter the address of a film or a song. It begins with https:// or http://.");
  field.ariaInvalid = !url;
  if (!url) field.focus();
  return url;
};
at.open.onsubmit = event => {
  event.preventDefault();
  const url = enteredURL(), sounds = /\.(mp3|m4a|aac|flac|og[ga]|opus|wav)(\?|$)/i;
  if (url) openPlayer(forPlayers + url.replace("://", "/"), nameOf(url).file, sounds.test(url));
};
at.keep.onclick = async ({ target }) => {
  const url = enteredURL(), request = new AbortController();
  if (!url) return;
  target.disabled = true;
  try {
    const { body } = await post("download", { url }, request.signal);
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "", read;
    while (!text.includes("\n") && !(read = await reader.read()).done) text += read.value;
    outcomeOf(text.split("\n")[0]);
    say("Keeping " + nameOf(url).file + ".", true);
    at.url.value = "";
  } catch (error) { put("open-problem", "It cannot be kept: " + error.message) }
  // The download goes on, and this frees its connection.
  request.abort();
  target.disabled = false;
  target.focus();
  refreshTitles();
};

// Details of a title.
let looking = null, shown = null;
const listed = (title, items, texts) => {
  const list = make("ul", "pairs");
  pairs(list, items, texts);
  return items.length ? [make("h3", "", title), list] : [];
};
const describeDetails = item => {
  const { url, tracks = [], list = [], isStream, kept, keptUntil } = item, verb = kept ? "Unpin" : "Pin";
  const name = shownName(item), bar = emptyBar(), remarks = make("ul", "remarks"), actions = at["details-actions"];
  put("details-title", name);
  lines(remarks, item.remarks ?? []);
  at["details-top"].replaceChildren(showBadges(make("div", "badges"), item), bar, make("p", "", drawStored(bar, item)),
    make("p", "note", facts(usedWords(item), item.mediaType && plain(item.mediaType),
      keptUntil && "kept until " + dayOf(keptUntil))), remarks);
  const number = count(item.listed ?? 0, "file") + (item.listed > list.length ? ", the first " + list.length : "");
  at["details-more"].replaceChildren(make("h3", "", "Address"), copyBox(plain(url), "the title’s address"),
    make("h3", "", "Link for other players"), copyBox(linkOf(item), "the link"),
    ...isStream && !url.includes("?") ? [make("h3", "", "Save to this computer"),
      copyBox("reprise export --output film.mkv '" + plain(url).replaceAll("'", "'\\''") + "'", "the command")] : [],
    ...listed("Quality", tracks, track => [trackWords(track), track.storedShare == null ? "not listed yet"
      : percentOf(track.storedShare) + ", " + track.storedSegments + " of " + count(track.segments, "segment")]),
    ...listed(number, list.length > 1 ? list : [], file =>
      [decoded(file.url.split("/").slice(3).join("/")), storedWords(file.storedBytes, file.completeLength)]));
  shown = item;
  // Buttons that stay keep the focus.
  const key = [item.id, verb, item.isComplete, name].join(), save = make("a", "button", "Save to this computer");
  if (actions.key === key) return;
  const had = [...actions.children].indexOf(document.activeElement);
  actions.key = key;
  save.href = linkOf(item);
  save.download = name;
  actions.replaceChildren(...[can.has("remove") && button("Remove…", "", () => remove(shown), "danger"),
    can.has(verb.toLowerCase()) && button(verb, "", async () => { await pin(shown); showDetails(item.id) }),
    item.isComplete && !isStream && save, button("Play", "", () => play(item), "main")].filter(Boolean));
  actions.children[had]?.focus();
};
const showDetails = async id => {
  const dialog = at.details, known = titles.find(item => item.id === id);
  looking?.abort();
  if (!known) return;
  const { signal } = looking = new AbortController(), fields = [at["new-name"], at["new-tag"]];
  describeDetails(known);
  show("naming", can.has("title"));
  if (!dialog.open) {
    [fields[0].value, fields[1].value] = [known.name ?? "", known.tag ?? ""];
    dialog.showModal();
  }
  at.naming.onsubmit = async event => {
    event.preventDefault();
    const [name, tag] = fields.map(field => field.value.trim());
    await act("title", { url: "id:" + id, title: name, tag }, () => "The names are saved.",
      () => change(id, { name: name || undefined, tag: tag || undefined }));
    showDetails(id);
  };
  try {
    describeDetails({ ...known, ...await getJSON("title.json?id=" + id, signal) });
  } catch (error) { if (!signal.aborted) say("The details cannot be read: " + error.message, true) }
};
at.details.onclose = () => looking?.abort();

// QR codes (ISO/IEC 18004): bytes, level L, versions 1 to 5, mask 0.
const qrCode = text => {
  const content = [...new TextEncoder().encode(text)], binary = value => value.toString(2).padStart(8, "0");
  const rooms = [19, 34, 55, 80, 108], index = rooms.findIndex(room => room >= content.length + 2);
  if (index < 0) return undefined;
  const bits = "0100" + [content.length, ...content].map(binary).join("") + "0000";
  const words = bits.match(/.{8}/g).map(byte => parseInt(byte, 2));
  for (let pad = 0xec; words.length < rooms[index]; pad ^= 0xfd) words.push(pad);
  // Reed-Solomon over GF(256).
  const powers = [1], logs = [], checks = [7, 10, 15, 20, 26][index];
  for (let power = 0; power < 255; power++) {
    logs[powers[power]] = power;
    powers.push(powers[power] << 1 ^ (powers[power] > 127 ? 0x11d : 0));
  }
  const times = (a, b) => a && b ? powers[(logs[a] + logs[b]) % 255] : 0;
  let generator = [1];
  for (let power = 0; power < checks; power++)
    generator = [...generator, 0].map((value, place) => value ^ times(generator[place - 1], powers[power]));
  let rest = Array(checks).fill(0);
  for (const word of words) {
    const factor = word ^ rest[0];
    rest = rest.map((_, place) => (rest[place + 1] ?? 0) ^ times(generator[place + 1], factor));
  }
  const stream = [...words, ...rest].map(binary).join("");
  // Timing, finders, alignment, format (table C.1).
  const size = index * 4 + 21, grid = Array.from({ length: size }, () => Array(size));
  const set = (x, y, isDark) => { if (x >= 0 && y >= 0 && x < size && y < size) grid[y][x] = isDark };
  const square = (x, y, radius, light) => {
    for (let row = -radius; row <= radius; row++) for (let column = -radius; column <= radius; column++)
      set(x + column, y + row, !light.includes(Math.max(Math.abs(row), Math.abs(column))));
  };
  for (let place = 0; place < size; place++) { set(6, place, place % 2 === 0); set(place, 6, place % 2 === 0) }
  for (const [x, y] of [[3, 3], [size - 4, 3], [3, size - 4]]) square(x, y, 4, [2, 4]);
  if (index) square(size - 7, size - 7, 2, [1]);
  for (let place = 0; place < 15; place++) {
    const isDark = (0x77c4 >> place & 1) === 1;
    set(8, place < 6 ? place : place < 8 ? place + 1 : size - 15 + place, isDark);
    set(place < 8 ? size - 1 - place : place < 9 ? 7 : 14 - place, 8, isDark);
  }
  set(8, size - 8, true);
  let place = 0;
  for (let right = size - 1; right > 0; right -= right === 8 ? 3 : 2) {
    for (let step = 0; step < size; step++) for (const x of [right, right - 1]) {
      const y = (right > 6 ? right : right + 1) & 2 ? step : size - 1 - step;
      grid[y][x] ??= (stream[place++] === "1") !== ((x + y) % 2 === 0);
    }
  }
  return grid;
};

// Addresses, as the browser knows them.
const example = forPlayers + "https/example.com/film.mp4";
const isLocal = /^(localhost|127\.|\[::1\])/.test(location.hostname);
put("address", forPlayers);
put("example", example);
put("playlist", forPlayers + "-/titles.m3u");
copyable(at.address, "the address");
copyable(at.playlist, "the playlist’s address");
at["first-command"].append(copyBox("mpv " + example, "the command"));
show("reach", isLocal);
show("token-note", player);
show("qr-place", !isLocal && qrCode(own));
at["show-qr"].onclick = ({ target }) => {
  const place = at.qr, code = qrCode(own), size = code.length + 8;
  const path = code.flatMap((row, y) => row.map((isDark, x) => isDark && `M${x + 4} ${y + 4}h1v1h-1z`));
  place.replaceChildren(shape("svg", { viewBox: `0 0 ${size} ${size}`, role: "img", "aria-label": "QR code of " + own,
    "shape-rendering": "crispEdges" }, shape("path", { d: path.filter(Boolean).join("") })));
  place.hidden = !place.hidden;
  target.ariaExpanded = !place.hidden;
  put(target, place.hidden ? "Show QR code" : "Hide QR code");
};

// News, by events or else by asking, while the page is visible.
let last = null, source = null, polling = 0, asking = null, polls = 0, isLost = false, remembered = 0;
const receive = status => {
  if (isLost) say("The server answers again.", true);
  isLost = false;
  last = status;
  for (const tell of [showHealth, showSums, showPlaying, showDownloads, showDisk, showHosts, showPeers, showEvents])
    tell(status);
  if (Date.now() - loaded > 30000) refreshTitles();
  if (Date.now() - remembered < 300000) return;
  remembered = Date.now();
  showHistory().catch(() => {});
};
const lose = () => {
  if (!isLost) say("The server does not answer. Trying again.", true);
  isLost = true;
  put("state", "No connection");
  at.state.className = "state bad";
};
const poll = async () => {
  stop();
  const { signal } = asking = new AbortController();
  try {
    receive(await getJSON("status.json", signal));
  } catch { if (!signal.aborted) lose() }
  if (signal.aborted) return;
  // Now and then, try to listen again.
  polling = setTimeout(isLost || ++polls % 6 === 0 ? listen : poll, 5000);
};
const listen = () => {
  stop();
  source = new EventSource(root + "-/events");
  source.addEventListener("status", event => receive(JSON.parse(event.data)));
  source.onerror = poll;
};
const stop = () => { source?.close(); source = null; clearTimeout(polling); asking?.abort() };
const look = () => document.hidden ? stop() : listen();
const begin = async () => {
  try { can = new Set((await getJSON("server.json")).operations) } catch {}
  show("keep", can.has("download"));
  document.addEventListener("visibilitychange", look);
  look();
  loadTitles();
};
begin();
})();
