/// A script that looks for what shuts people out of a page: names, roles, captions, order of headings, contrast.
enum PageCheck {
    /// Returns the problems as lines; none is an empty text.
    static let script = #"""
        (() => {
        const problems = [], seen = new Set();
        const isShown = node => node.checkVisibility({ visibilityProperty: true });
        const label = node => node.getAttribute("aria-label")
            ?? document.getElementById(node.getAttribute("aria-labelledby"))?.textContent
            ?? node.labels?.[0]?.textContent ?? node.textContent;
        const say = (node, text) => problems.push(text + ": " + node.outerHTML.slice(0, 120));
        if (document.documentElement.lang !== "en") problems.push("no language");
        if (!document.title) problems.push("no title");
        for (const node of document.querySelectorAll("[id]")) {
            if (seen.has(node.id)) say(node, "second " + node.id);
            seen.add(node.id);
        }
        for (const name of ["aria-labelledby", "aria-describedby", "for"])
            for (const node of document.querySelectorAll("[" + name + "]"))
                if (!document.getElementById(node.getAttribute(name))) say(node, name + " names nothing");
        for (const node of document.querySelectorAll("button, a, input, select, [role=img], dialog, section"))
            if (isShown(node) && !label(node)?.trim()) say(node, "no name");
        for (const node of document.querySelectorAll("button, input, select"))
            if (isShown(node) && node.getBoundingClientRect().height < 24) say(node, "lower than 24 pixels");
        for (const node of document.querySelectorAll("table")) {
            if (!node.caption?.textContent) say(node, "no caption");
            for (const head of node.querySelectorAll("th"))
                if (!["col", "row"].includes(head.scope)) say(head, "no scope");
        }
        let level = 0;
        for (const node of document.querySelectorAll("h1, h2, h3, h4")) {
            if (!isShown(node)) continue;
            const next = Number(node.localName[1]);
            if (next > level + 1) say(node, "a level is skipped");
            level = next;
        }
        if (document.querySelectorAll("h1").length !== 1) problems.push("not one h1");
        if (document.querySelectorAll("main").length !== 1) problems.push("not one main");
        if (document.querySelectorAll("[role=status]").length !== 1) problems.push("not one status");
        if (document.querySelector("[tabindex]:not([tabindex='-1'], [tabindex='0'])"))
            problems.push("an order of its own");
        // Contrast (WCAG 2.2, 1.4.3): colors here are opaque.
        const light = color => {
            const parts = color.match(/[\d.]+/g).map(Number);
            const [red, green, blue] = parts.slice(0, 3).map(value => value / 255)
                .map(value => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
            return { value: 0.2126 * red + 0.7152 * green + 0.0722 * blue, isClear: parts[3] === 0 };
        };
        const behind = node => {
            for (let place = node; place; place = place.parentElement) {
                const color = light(getComputedStyle(place).backgroundColor);
                if (!color.isClear) return color.value;
            }
            return 1;
        };
        const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        while (words.nextNode()) {
            const node = words.currentNode.parentElement;
            if (!words.currentNode.data.trim() || !isShown(node)) continue;
            const pair = [light(getComputedStyle(node).color).value, behind(node)].sort((a, b) => b - a);
            const contrast = (pair[0] + 0.05) / (pair[1] + 0.05);
            if (contrast < 4.5) say(node, "contrast " + contrast.toFixed(2));
        }
        if (document.documentElement.scrollWidth > innerWidth) problems.push("wider than the window: "
            + document.documentElement.scrollWidth + " of " + innerWidth);
        return problems.join("\n");
        })()
        """#
}
