extension PageScript {
    /// Sums, rates, the disk and the health.
    static let numbers: StaticString = #"""
        // Numbers.
        const history = [];
        const drawChart = ({ time, sinceStart }) => {
          const now = { time, served: sinceStart.servedBytes, fetched: sinceStart.fetchedBytes, rates: {} };
          const before = history.at(-1);
          if (before && time <= before.time) return;
          const kinds = ["served", "fetched"];
          for (const name of kinds)
            now.rates[name] = before ? Math.max(0, now[name] - before[name]) / (time - before.time) : 0;
          history.push(now);
          while (history[0].time < time - 600) history.shift();
          const length = Math.max(60, time - history[0].time);
          const most = Math.max(1, ...history.flatMap(point => Object.values(point.rates)));
          for (const name of kinds) {
            const points = history.map(point => (600 - (time - point.time) / length * 600).toFixed(1) + ","
              + (98 - point.rates[name] / most * 96).toFixed(1));
            part(byId("chart"), name).setAttribute("points", points.join(" "));
          }
          byId("chart").hidden = history.length < 2;
          put(byId("rates"), "Served " + bytes(now.rates.served) + "/s, fetched " + bytes(now.rates.fetched) + "/s");
          const span = length < 90 ? "the last minute" : duration(length);
          put(byId("peak"), "Peak of " + span + ": " + bytes(most) + "/s");
        };
        const figure = (node, text) => {
          const [number, unit] = text.split(" ");
          put(node.firstChild, number);
          put(node.lastElementChild, unit);
        };
        const showSums = status => {
          const { sinceStart: sums, overall } = status;
          figure(byId("saved"), bytes(sums.savedBytes));
          put(byId("running"), duration(status.time - status.started));
          put(byId("life"), overall ? bytes(overall.savedBytes) : "unknown");
          const served = sums.servedBytes;
          let end = 0;
          const spans = [];
          for (const source of ["store", "joined", "origin"]) {
            const value = sums[source + "Bytes"];
            put(byId(source), bytes(value));
            put(byId(source + "-share"), percent(value, served));
            spans.push([end, end += value, source]);
          }
          drawBar(byId("sources"), spans, Math.max(served, 1), "Sources of " + bytes(served) + " served");
          put(byId("ratio"), percent(sums.storeBytes + sums.joinedBytes, served));
          for (const row of byId("sums").rows) {
            const name = row.dataset.sum, words = name.endsWith("Bytes") ? bytes : String;
            put(row.cells[1], words(sums[name]));
            put(row.cells[2], overall ? words(overall[name]) : "unknown");
          }
        };
        const showDisk = ({ store }) => {
          const used = store.mediaBytes + store.indexBytes, limit = Math.max(store.limitBytes, used, 1);
          drawBar(byId("disk"), [[0, used]], limit, bytes(used) + " of " + bytes(limit) + " used");
          const free = store.freeBytes == null ? "" : "; " + bytes(store.freeBytes) + " free on the disk";
          put(byId("disk-words"), bytes(used) + " of " + bytes(limit) + " used: " + bytes(store.mediaBytes)
            + " of media, " + bytes(store.indexBytes) + " of index" + free);
        };
        const showHosts = ({ hosts, remarks }) => {
          fill(byId("remarks"), remarks, item => item.host + ": " + item.reason,
            item => make("li", "", item.host + ": " + item.reason), () => {});
          byId("no-hosts").hidden = !!hosts.length;
          fill(byId("hosts"), hosts, item => item.host, item => {
            const name = make("th", "", make("bdi", "", item.host));
            name.scope = "row";
            return make("tr", "", name, make("td"), make("td"));
          }, (node, item) => {
            put(node.cells[1], bytes(item.servedBytes));
            put(node.cells[2], bytes(item.fetchedBytes));
          });
        };
        const showHealth = status => {
          const { problem: reason, isStoring } = status.store;
          const problem = reason ?? (isStoring ? "" : "Nothing is stored: everything streams.");
          const calm = status.isOffline ? "Offline: no origin is asked" : "Serving and storing";
          const mood = problem ? "Not storing" : calm;
          put(byId("state"), mood);
          byId("state").classList.toggle("bad", !!problem);
          const lines = [problem, mood + ".", count(status.connections, "connection") + ", "
            + count(status.answers, "answer") + " under way, " + count(status.listeners, "listener") + " to events.",
          "Running for " + duration(status.time - status.started) + ", by the rules of a "
            + (status.isShared ? "shared" : "private") + " cache."];
          fill(byId("health"), lines.filter(Boolean), text => text, () => make("li"), put);
        };
        """#

    /// What plays, downloads and events.
    static let activity: StaticString = #"""
        // What plays, and downloads.
        const arrived = new Map();
        const arriving = (item, time) => {
          const before = arrived.get(item.id);
          arrived.set(item.id, { time, stored: item.storedBytes });
          const rate = before && time > before.time ? (item.storedBytes - before.stored) / (time - before.time) : 0;
          return rate >= 1000 ? "arriving at " + bytes(rate) + "/s" : "";
        };
        let playing = "";
        const showPlaying = ({ playing: items, time }) => {
          byId("no-playing").hidden = !!items.length;
          fill(byId("playing"), items, item => item.id, item => itemOf(item), (node, item) => {
            const words = storedWords(item.storedBytes, item.completeLength, item.spans.length);
            drawBar(part(node, "bar"), item.spans, item.completeLength ?? Math.max(item.storedBytes, 1), words);
            showFacts(node, [words, item.readers ? count(item.readers, "reader") : "", item.fetches
              ? count(item.fetches, "fetch", "fetches") : "", arriving(item, time)]);
          });
          for (const id of arrived.keys()) if (!items.some(item => item.id === id)) arrived.delete(id);
          const now = items.length ? count(items.length, "file") + " active" : "Nothing is active";
          if (playing && playing !== now) { say(now + "."); if (!search) refreshTitles() }
          playing = now;
        };
        const states = { queued: "Queued", running: "Running", waitingForNetwork: "Waits for the network",
          waitingForAuthorization: "Waits for authorization", waitingForSpace: "Waits for space",
          waitingForHours: "Waits for its hours", waitingForPlayback: "Waits for a player", paused: "Paused",
          done: "Done", failed: "Failed" };
        const showDownloads = ({ downloads }) => {
          byId("no-downloads").hidden = !!downloads.length;
          fill(byId("downloads"), downloads, item => item.id, item => itemOf(item, true), (node, item) => {
            const words = percentOf(item.fraction);
            drawBar(part(node, "bar"), [[0, item.fraction]], 1, words + " downloaded");
            showFacts(node, [states[item.state] ?? item.state, words + (item.completeLength == null ? ""
              : " of " + bytes(item.completeLength)), item.state === "running" && item.bytesPerSecond
              ? bytes(item.bytesPerSecond) + "/s" : "", item.error]);
            const isFixed = !can.has("downloads") || item.state === "done";
            const verb = isFixed ? "" : item.state === "paused" ? "Resume" : "Pause";
            const actions = part(node, "actions");
            if (actions.dataset.verb === verb) return;
            actions.dataset.verb = verb;
            const hadFocus = actions.contains(document.activeElement);
            actions.replaceChildren(...verb ? [button(verb, node.dataset.name, () => act(
              "downloads", { pause: [], resume: [], [verb.toLowerCase()]: ["id:" + item.id], names },
              () => verb + "d " + node.dataset.name + "."))] : []);
            if (hadFocus) actions.firstChild?.focus();
          });
        };
        const showEvents = ({ events }) => {
          byId("no-events").hidden = !!events.length;
          const items = events.slice().reverse();
          fill(byId("events"), items, item => item.time + item.event + (item.url ?? ""), item => {
            const time = make("time", "", clock(item.time));
            time.dateTime = new Date(item.time * 1000).toISOString();
            return make("li", "", time, make("span", "", make("bdi", "", item.words)));
          }, () => {});
        };
        const show = status => {
          for (const part of [showSums, drawChart, showPlaying, showDisk, showHosts, showPeers, showDownloads, showEvents,
            showHealth])
            part(status);
        };
        """#
}
