extension PageScript {
    /// Numbers and names in words, as ``ShownText`` writes them, and bars as ``StoredBar`` draws them.
    ///
    /// Functions of their arguments only, so that a test can compare them.
    static let words: StaticString = #"""
        // Words.
        const bytes = value => {
          let unit = "B", rest = value;
          for (const next of ["kB", "MB", "GB", "TB", "PB"]) if (Math.abs(rest) >= 999.5) { rest /= 1000; unit = next }
          const digits = unit === "B" ? 0 : Math.abs(rest) < 9.995 ? 2 : Math.abs(rest) < 99.95 ? 1 : 0;
          const scale = 10 ** digits, rounded = Math.round(Math.abs(rest) * scale) / scale;
          return (rest < 0 ? -rounded : rounded).toFixed(digits) + " " + unit;
        };
        // A billionth more than it is, so that 0.29 is 29 % and not 28.
        const percentOf = share =>
          (share < 1 ? Math.min(99, Math.floor(Math.max(share, 0) * 100 + 1e-9)) : 100) + " %";
        const percent = (part, whole) => percentOf(whole > 0 ? part / whole : 0);
        // Where a part of a bar begins, and its width, of 1000.
        const placeOf = (from, to, length) => {
          const width = to > from ? Math.min(Math.max((to - from) / length * 1000, 3), 1000) : 0;
          return [Math.min(Math.max(from / length * 1000, 0), 1000 - width), width];
        };
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
        // Without characters that turn around what is shown behind them.
        const plain = text => text.replace(/[\u202a-\u202e\u2066-\u2069]/g, "");
        const decoded = text => { try { return plain(decodeURIComponent(text)) } catch { return text } };
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
        """#
}
