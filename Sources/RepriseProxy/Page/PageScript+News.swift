extension PageScript {
    /// The status, by events or else by asking.
    static let news: StaticString = #"""
        // News, by events or else by asking. A page that is not looked at asks for nothing.
        let last = null, source = null, polling = 0, asking = null, polls = 0, isLost = false;
        const receive = status => {
          if (isLost) say("The server answers again.", true);
          isLost = false;
          last = status;
          show(status);
          // A search would begin again.
          if (!search && Date.now() - loaded > 30000) refreshTitles();
        };
        const lose = () => {
          if (!isLost) say("The server does not answer. Trying again.", true);
          isLost = true;
          put(byId("state"), "No connection");
          byId("state").classList.add("bad");
        };
        const poll = async () => {
          stop();
          const { signal } = asking = new AbortController();
          try {
            receive(await (await fetch(root + "-/status.json", { signal })).json());
          } catch { if (!signal.aborted) lose() }
          if (signal.aborted) return;
          // Now and then it tries whether it can listen again.
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
        document.addEventListener("visibilitychange", look);
        for (const id of ["playing", "downloads", "titles", "events", "hosts", "remarks", "health"]) byId(id).replaceChildren();
        for (const node of document.querySelectorAll("[data-script]")) node.hidden = false;
        look();
        loadTitles();
        })();
        """#
}
