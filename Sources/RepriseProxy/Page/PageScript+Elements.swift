extension PageScript {
    /// Elements, and what a screen reader is told.
    static let elements: StaticString = #"""
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
          bar.replaceChildren(...spans.map(([from, to, className = ""]) => {
            const [x, width] = placeOf(from, to, length);
            return shape("rect", { x, width, height: 8, class: className });
          }));
        };
        // Makes the children of a list those of `items`; what is there already stays, and keeps the focus. What is no
        // longer there goes first, so that the others need not move.
        const fill = (list, items, key, create, update) => {
          const keys = new Set(items.map(item => String(key(item)))), old = new Map();
          for (const node of [...list.children]) {
            const id = node.dataset.key;
            if (keys.has(id) && !old.has(id)) old.set(id, node); else node.remove();
          }
          let place = list.firstElementChild;
          for (const item of items) {
            const id = String(key(item));
            const node = old.get(id) ?? create(item);
            old.delete(id);
            node.dataset.key = id;
            update(node, item);
            if (node === place) place = place.nextElementSibling; else list.insertBefore(node, place);
          }
        };
        const itemOf = (item, hasActions) => {
          const node = make("li", "item");
          node.append(make("div", "", make("span", "name", make("bdi")),
            make("span", "host", make("bdi", "", nameOf(item.url).host)), make("span", "badges"), emptyBar(),
            make("p", "facts")));
          if (hasActions) node.append(make("div", "actions"));
          showName(node, item);
          return node;
        };
        const part = (node, className) => node.querySelector("." + className);
        const showName = (node, item) => {
          node.dataset.name = item.name ? plain(item.name) : nameOf(item.url).file;
          put(part(node, "name").firstChild, node.dataset.name);
        };
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
