extension PageScript {
    /// What changes the cache, and the player.
    static let actions: StaticString = #"""
        // Actions.
        const act = async (name, body, words, then) => {
          try {
            const answer = await fetch(root + "-/api/" + name, {
              method: "POST", referrerPolicy: "same-origin", headers: { "Content-Type": "application/json" },
              body: JSON.stringify(body) });
            const last = JSON.parse((await answer.text()).trim().split("\n").pop());
            if (!last.outcome) throw new Error(last.error ?? "it was ended");
            const problem = last.outcome.problem;
            if (problem) throw new Error(problem.message);
            say(words(last.outcome), true);
            then?.();
          } catch (error) { say("That failed: " + error.message, true) }
          refreshTitles();
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
        // As the browser knows it, also behind a server that speaks TLS for this one.
        put(byId("address"), location.origin + root);
        put(byId("example"), location.origin + root + "https/example.com/film.mp4");
        byId("copy").onclick = async () => {
          const text = byId("address").textContent;
          try {
            await navigator.clipboard.writeText(text);
          } catch {
            // Only https and this machine have a clipboard.
            getSelection().selectAllChildren(byId("address"));
            document.execCommand("copy");
          }
          say("The address is copied.", true);
        };
        byId("more").onclick = () => loadTitles(true);
        let typing = 0;
        byId("search").oninput = event => {
          clearTimeout(typing);
          typing = setTimeout(() => { [search, titles, after] = [event.target.value.trim(), []]; loadTitles() }, 250);
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
}
