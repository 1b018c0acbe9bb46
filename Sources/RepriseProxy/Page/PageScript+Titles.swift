extension PageScript {
    /// The titles, searched page by page.
    static let titles: StaticString = #"""
        // Titles.
        let titles = [], after, search = "", asked = null, isDue = false, loaded = 0, trouble = "";
        const describe = (node, item) => {
          node.item = item;
          showName(node, item);
          const kept = item.kept === "first" ? "beginning kept" : item.kept;
          const marks = [kept, item.tag && "#" + plain(item.tag), item.isStream && "stream"].filter(Boolean);
          const badges = part(node, "badges");
          if (badges.dataset.marks !== marks.join()) {
            badges.dataset.marks = marks.join();
            badges.replaceChildren(...marks.map(mark => make("span", "badge", make("bdi", "", mark))));
          }
          const { storedBytes, completeLength, spans, storedShare: share } = item;
          const [words, parts, length] = item.isStream
            ? [streamWords(storedBytes, item.files, share, item.isComplete), share ? [[0, share]] : [], 1]
            : [storedWords(storedBytes, completeLength, spans?.length), spans ?? [],
              completeLength ?? Math.max(storedBytes, 1)];
          drawBar(part(node, "bar"), parts, length, words);
          showFacts(node, [words, "played " + count(item.plays, "time"), item.lastUsed
            ? duration(Date.now() / 1000 - item.lastUsed) + " ago" : ""]);
          const verb = item.kept ? "unpin" : "pin", name = node.dataset.name, id = "id:" + item.id;
          const actions = part(node, "actions");
          if (actions.dataset.verb === verb + name) return;
          actions.dataset.verb = verb + name;
          const had = [...actions.children].indexOf(document.activeElement);
          // The buttons stay while the title changes: what else they need of it is read when they act.
          const buttons = [button("Play", name, () => play(node.item, name))];
          if (can.has(verb)) buttons.push(button(item.kept ? "Unpin" : "Pin", name, () => act(verb,
            verb === "unpin" ? { urls: [id], names } : { url: id, names },
            () => (verb === "unpin" ? "Unpinned " : "Pinned ") + name + ".",
            () => change(id, { kept: verb === "pin" ? "pinned" : undefined }))));
          if (can.has("remove")) buttons.push(button("Remove", name, async () => {
            const although = node.item.kept ? ", although it is kept" : "";
            const text = bytes(node.item.storedBytes) + " are removed from the disk" + although
              + ". It can be fetched again.";
            if (await ask("Remove " + name + "?", text, "Remove"))
              act("remove", { urls: [id], names },
                outcome => "Removed " + name + ", " + bytes(outcome.freedBytes) + " freed.", () => change(id));
          }, "danger"));
          actions.replaceChildren(...buttons);
          if (had >= 0) buttons[had]?.focus();
        };
        const showTitles = () => {
          const hadFocus = byId("titles").contains(document.activeElement);
          fill(byId("titles"), titles, item => item.id, item => itemOf(item, true), describe);
          if (hadFocus && !byId("titles").contains(document.activeElement)) byId("search").focus();
          const isSearching = !!asked && !!search;
          byId("titles").ariaBusy = isSearching;
          byId("no-titles").hidden = !!titles.length || !!after && !isSearching;
          put(byId("no-titles"), isSearching ? "Searching…"
            : trouble || (search ? "No title has these words." : "Nothing is stored yet."));
          byId("more").hidden = !after;
          put(byId("more"), isSearching ? "Searching…" : search ? "Search further" : "More titles");
        };
        // What an action has done to a title; without `members`, it is gone.
        const change = (id, members) => {
          titles = titles.flatMap(item => "id:" + item.id !== id ? item : members ? { ...item, ...members } : []);
          showTitles();
        };
        const loadTitles = async (goesOn = false) => {
          asked?.abort();
          loaded = Date.now();
          const request = asked = new AbortController();
          const wanted = goesOn ? titles.length + 25 : Math.max(titles.length, 25);
          let found = goesOn ? titles : [], place = goesOn ? after : undefined, questions = 0;
          const add = items => {
            const known = new Set(found.map(item => item.id));
            found = found.concat(items.filter(item => !known.has(item.id)));
          };
          if (search) showTitles();
          try {
            do {
              const query = new URLSearchParams({ limit: Math.min(wanted - found.length, 200), search });
              if (place) query.set("after", place);
              const answer = await (await fetch(root + "-/titles.json?" + query, { signal: request.signal })).json();
              if (answer.error) throw new Error(answer.error);
              add(answer.titles);
              place = answer.next;
              // A search is answered now and then, and goes on where it was.
            } while (place && found.length < wanted && ++questions < 20);
            // A second look that ended early leaves what else was known, and the place where it goes on.
            const endedEarly = place && found.length < wanted;
            if (!goesOn && endedEarly && (titles.length || after)) add(titles); else after = place;
            titles = found;
            trouble = "";
          } catch (error) {
            if (error.name !== "AbortError") say(trouble = "The titles cannot be listed: " + error.message);
          }
          if (asked !== request) return;
          asked = null;
          showTitles();
          if (isDue) refreshTitles();
        };
        // Looks again, but never in the middle of another look.
        const refreshTitles = () => { isDue = !!asked; if (!asked) loadTitles() };
        """#
}
