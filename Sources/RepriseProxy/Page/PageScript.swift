/// The script of the page, which keeps it up to date and acts.
///
/// What comes from outside becomes text and attributes only; the policy of the page forbids to parse it as HTML.
enum PageScript {
    /// What stands between the tags of `script`.
    static let text = [words, elements, numbers, activity, titles, actions, news].joined(separator: "\n")

    /// Numbers and names in words, as ``ShownText`` writes them.
    private static let words = #"""
        "use strict";
        (() => {
        const root = location.pathname.replace(/\/*$/, "/");
        const can = new Set(document.body.dataset.operations.split(" "));
        // The keys of the server's own rule.
        const names = { dropQueryItem: [] };
        const byId = id => document.getElementById(id);

        // Words. What comes from outside goes into text nodes and attributes only.
        const bytes = value => {
          let unit = "B", rest = value;
          for (const next of ["kB", "MB", "GB", "TB", "PB"]) if (Math.abs(rest) >= 999.5) { rest /= 1000; unit = next }
          const digits = unit === "B" ? 0 : Math.abs(rest) < 9.995 ? 2 : Math.abs(rest) < 99.95 ? 1 : 0;
          return rest.toFixed(digits) + " " + unit;
        };
        const share = (part, whole) => whole > 0 ? Math.min(Math.max(part / whole, 0), 1) : 0;
        const percent = (part, whole) => Math.floor(share(part, whole) * 100) + " %";
        const count = (number, noun, plural = noun + "s") => number + " " + (number === 1 ? noun : plural);
        const duration = seconds => {
          for (const [unit, length] of [["day", 86400], ["hour", 3600], ["minute", 60]])
            if (seconds >= length) return count(Math.floor(seconds / length), unit);
          return count(Math.max(0, Math.floor(seconds)), "second");
        };
        const clock = seconds => {
          const date = new Date(seconds * 1000);
          return Date.now() - date < 864e5 ? date.toTimeString().slice(0, 8) : date.toISOString().slice(0, 10);
        };
        const decoded = text => { try { return decodeURIComponent(text) } catch { return text } };
        const nameOf = url => {
          const rest = url.slice(url.indexOf("://") + 3).replace(/\?…$/, ""), host = rest.split("/")[0];
          return { file: decoded(rest.slice(host.length).split("/").filter(Boolean).pop() ?? host), host };
        };
        const storedWords = (stored, length, parts) => {
          if (length == null) return bytes(stored) + " stored";
          if (stored >= length) return bytes(length) + ", all stored";
          const places = parts > 1 ? ", " + count(parts, "part") : "";
          return percent(stored, length) + " of " + bytes(length) + " stored" + places;
        };
        """#

    /// Elements, and what a screen reader is told.
    private static let elements = #"""
        // Elements.
        const make = (name, className, ...content) => {
          const node = document.createElement(name);
          if (className) node.className = className;
          node.append(...content);
          return node;
        };
        const shape = (name, values) => {
          const node = document.createElementNS("http://www.w3.org/2000/svg", name);
          for (const key in values) node.setAttribute(key, values[key]);
          return node;
        };
        const put = (node, text) => { if (node.textContent !== text) node.textContent = text };
        const button = (verb, of, action, className = "") => {
          const node = make("button", className, verb);
          node.type = "button";
          if (of) node.append(make("span", "hidden", " " + of));
          node.onclick = action;
          return node;
        };
        const emptyBar = () =>
          shape("svg", { class: "bar", viewBox: "0 0 1000 8", preserveAspectRatio: "none", role: "img" });
        const drawBar = (bar, spans, length, words) => {
          bar.setAttribute("aria-label", words);
          const drawn = spans.map(span => [].concat(span, length).join());
          if (bar.dataset.drawn === drawn.join(";")) return;
          bar.dataset.drawn = drawn.join(";");
          bar.replaceChildren(...spans.map(([from, to, className = ""]) => shape("rect", {
            x: from / length * 1000, width: to > from ? Math.max((to - from) / length * 1000, 3) : 0, height: 8,
            class: className })));
        };
        // Makes the children of a list those of `items`; what is there already stays, and keeps the focus.
        const fill = (list, items, key, create, update) => {
          const old = new Map([...list.children].map(node => [node.dataset.key, node]));
          let place = list.firstElementChild;
          for (const item of items) {
            const id = String(key(item));
            const node = old.get(id) ?? create(item);
            old.delete(id);
            node.dataset.key = id;
            update(node, item);
            if (node === place) place = place.nextElementSibling; else list.insertBefore(node, place);
          }
          for (const node of old.values()) node.remove();
        };
        const itemOf = (item, hasActions) => {
          const { file, host } = nameOf(item.url), node = make("li", "item");
          node.dataset.name = item.name ?? file;
          node.append(make("div", "", make("span", "name", make("bdi", "", node.dataset.name)),
            make("span", "host", make("bdi", "", host)), make("span", "badges"), emptyBar(), make("p", "facts")));
          if (hasActions) node.append(make("div", "actions"));
          return node;
        };
        const part = (node, className) => node.querySelector("." + className);
        const showFacts = (node, facts) => put(part(node, "facts"), facts.filter(Boolean).join(" · "));

        // What a screen reader is told, at most every five seconds; the result of an action goes first.
        let said = 0, next = null, timer = 0;
        const say = (text, isUrgent) => {
          if (next && !isUrgent && next.isUrgent) return;
          next = { text, isUrgent };
          if (timer) return;
          timer = setTimeout(() => {
            put(byId("status"), next.text);
            [said, next, timer] = [Date.now(), null, 0];
            setTimeout(() => { if (!next) put(byId("status"), "") }, 8000);
          }, Math.max(0, said + 5000 - Date.now()));
        };
        """#
}
