extension PageScript {
    /// The titles, searched page by page.
    static let titles = #"""
        // Titles.
        let titles = [], after, search = "", asked = null, loaded = 0;
        const describe = (node, item) => {
          const kept = item.kept === "first" ? "beginning kept" : item.kept;
          const marks = [kept, item.tag && "#" + item.tag, item.isStream && "stream"].filter(Boolean);
          const badges = part(node, "badges");
          if (badges.dataset.marks !== marks.join()) {
            badges.dataset.marks = marks.join();
            badges.replaceChildren(...marks.map(mark => make("span", "badge", make("bdi", "", mark))));
          }
          const words = item.isStream ? bytes(item.storedBytes) + " stored in " + count(item.files, "file")
            : storedWords(item.storedBytes, item.completeLength, item.spans?.length);
          const bar = part(node, "bar");
          bar.style.display = item.spans ? "" : "none";
          drawBar(bar, item.spans ?? [], item.completeLength ?? Math.max(item.storedBytes, 1), words);
          showFacts(node, [words, "played " + count(item.plays, "time"), item.lastUsed
            ? duration(Date.now() / 1000 - item.lastUsed) + " ago" : ""]);
          const verb = item.kept ? "unpin" : "pin";
          const actions = part(node, "actions");
          if (actions.dataset.verb === verb) return;
          actions.dataset.verb = verb;
          const had = [...actions.children].indexOf(document.activeElement), name = node.dataset.name;
          const buttons = [button("Play", name, () => play(item, name))];
          if (can.has(verb)) buttons.push(button(item.kept ? "Unpin" : "Pin", name, () => act(verb, item.kept
            ? { urls: ["id:" + item.id], names } : { url: "id:" + item.id, names },
            () => (item.kept ? "Unpinned " : "Pinned ") + name + ".")));
          if (can.has("remove")) buttons.push(button("Remove", name, async () => {
            const although = item.kept ? ", although it is kept" : "";
            const text = bytes(item.storedBytes) + " are removed from the disk" + although
              + ". It can be fetched again.";
            if (await ask("Remove " + name + "?", text, "Remove"))
              act("remove", { urls: ["id:" + item.id], names },
                outcome => "Removed " + name + ", " + bytes(outcome.freedBytes) + " freed.");
          }, "danger"));
          actions.replaceChildren(...buttons);
          if (had >= 0) buttons[had]?.focus();
        };
        const showTitles = () => {
          const hadFocus = byId("titles").contains(document.activeElement);
          fill(byId("titles"), titles, item => item.id, item => itemOf(item, true), describe);
          if (hadFocus && !byId("titles").contains(document.activeElement)) byId("search").focus();
          byId("no-titles").hidden = !!titles.length || !!after;
          put(byId("no-titles"), search ? "No title has these words." : "Nothing is stored yet.");
          byId("more").hidden = !after;
          put(byId("more"), search ? "Search further" : "More titles");
        };
        const loadTitles = async (goesOn = false) => {
          asked?.abort();
          loaded = Date.now();
          const request = asked = new AbortController();
          const wanted = goesOn ? titles.length + 25 : Math.max(titles.length, 25);
          let found = goesOn ? titles : [], place = goesOn ? after : undefined, questions = 0;
          try {
            do {
              const query = new URLSearchParams({ limit: Math.min(wanted - found.length, 200), search });
              if (place) query.set("after", place);
              const answer = await (await fetch(root + "-/titles.json?" + query, { signal: request.signal })).json();
              if (answer.error) throw new Error(answer.error);
              const known = new Set(found.map(item => item.id));
              found = found.concat(answer.titles.filter(item => !known.has(item.id)));
              place = answer.next;
              // A search is answered now and then, and goes on where it was.
            } while (place && found.length < wanted && ++questions < 20);
            [titles, after] = [found, place];
            showTitles();
          } catch (error) {
            if (error.name !== "AbortError") say("The titles cannot be listed: " + error.message, true);
          }
        };
        """#

    /// What changes the cache, and the player.
    static let actions = #"""
        // Actions.
        const act = async (name, body, words) => {
          try {
            const answer = await fetch(root + "-/api/" + name, {
              method: "POST", referrerPolicy: "same-origin", headers: { "Content-Type": "application/json" },
              body: JSON.stringify(body) });
            const last = JSON.parse((await answer.text()).trim().split("\n").pop());
            if (!last.outcome) throw new Error(last.error ?? "it was ended");
            const problem = last.outcome.problem;
            if (problem) throw new Error(problem.message);
            say(words(last.outcome), true);
          } catch (error) { say("That failed: " + error.message, true) }
          loadTitles();
        };
        const ask = (title, text, verb, isDangerous = true) => new Promise(done => {
          const dialog = byId("ask");
          put(byId("ask-title"), title);
          put(byId("ask-text"), text);
          byId("prune-choice").hidden = verb !== "Prune";
          const yes = byId("ask-yes");
          put(yes, verb);
          yes.classList.toggle("danger", isDangerous);
          yes.onclick = () => dialog.close("yes");
          byId("ask-no").onclick = () => dialog.close("");
          dialog.onclose = () => done(dialog.returnValue === "yes");
          dialog.returnValue = "";
          dialog.showModal();
          byId("ask-no").focus();
        });
        const play = (item, name) => {
          const dialog = byId("player"), type = item.mediaType ?? "";
          const media = make(type.startsWith("audio/") ? "audio" : "video");
          media.controls = media.autoplay = true;
          put(byId("player-title"), name);
          put(byId("player-problem"), "");
          media.onerror = () => put(byId("player-problem"), "This browser cannot play it.");
          media.src = root + "-/play?id=" + item.id;
          byId("player-place").replaceChildren(media);
          dialog.onclose = () => { media.onerror = null; media.removeAttribute("src"); media.load(); media.remove() };
          dialog.showModal();
        };
        byId("player-close").onclick = () => byId("player").close();
        byId("more").onclick = () => loadTitles(true);
        let typing = 0;
        byId("search").oninput = event => {
          clearTimeout(typing);
          typing = setTimeout(() => { [search, titles] = [event.target.value.trim(), []]; loadTitles() }, 250);
        };
        byId("prune").hidden = !can.has("prune");
        byId("prune").onclick = async () => {
          const text = "The least recently used titles go first. Pinned ones and downloads stay.";
          if (!last || !await ask("Prune the cache?", text, "Prune")) return;
          const [member, value] = byId("prune-what").value.split(":");
          const size = Math.floor(last.store.mediaBytes * value);
          act("prune", member === "size" ? { size } : { olderThan: Number(value) },
            outcome => bytes(outcome.freedBytes) + " freed, " + bytes(outcome.leftBytes) + " left.");
        };
        """#

    /// The status, by events or else by asking.
    static let news = #"""
        // News, by events or else by asking. A page that is not looked at asks for nothing.
        let last = null, source = null, polling = 0, polls = 0, isLost = false;
        const receive = status => {
          if (isLost) say("The server answers again.", true);
          isLost = false;
          last = status;
          show(status);
          if (Date.now() - loaded > 30000) loadTitles();
        };
        const lose = () => {
          if (!isLost) say("The server does not answer. Trying again.", true);
          isLost = true;
          put(byId("state"), "No connection");
          byId("state").classList.add("bad");
        };
        const poll = async () => {
          clearTimeout(polling);
          try { receive(await (await fetch(root + "-/status.json")).json()) } catch { lose() }
          // Now and then it tries whether it can listen again.
          polling = setTimeout(isLost || ++polls % 6 === 0 ? listen : poll, 5000);
        };
        const listen = () => {
          stop();
          source = new EventSource(root + "-/events");
          source.addEventListener("status", event => receive(JSON.parse(event.data)));
          source.onerror = () => { stop(); poll() };
        };
        const stop = () => { source?.close(); source = null; clearTimeout(polling) };
        document.addEventListener("visibilitychange", () => document.hidden ? stop() : listen());
        for (const id of ["playing", "downloads", "titles", "events", "health"]) byId(id).replaceChildren();
        for (const node of document.querySelectorAll("[data-script]")) node.hidden = false;
        listen();
        loadTitles();
        })();
        """#
}
