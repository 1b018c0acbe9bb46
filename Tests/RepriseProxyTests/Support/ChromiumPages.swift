/// Pages that attempt requests and report the results to their own server.
enum ChromiumPages {
    /// Functions shared by the pages; `origin` is the media origin's address, `proxy` the proxy's.
    static func script(proxy: String, origin: String, _ body: String) -> [UInt8] {
        Array(
            """
            <!DOCTYPE html><title>page</title><body>quiet<script>
            const proxied = "\(proxy)/http/\(origin)";
            const report = (name, value) => fetch("/report?" + name + "=" + encodeURIComponent(value));
            const attempt = async (name, body) => {
                let result;
                try { result = await body() } catch (error) { result = "failed" }
                await report(name, result);
            };
            const until = condition => new Promise(done => {
                const timer = setInterval(() => { if (condition()) { clearInterval(timer); done("yes") } }, 20);
            });
            const loaded = (name, event, set) => new Promise(done => {
                const element = document.createElement(name);
                element[event] = () => done("loaded");
                element.onerror = () => done("failed");
                set(element);
                document.body.append(element);
            });
            (async () => { \(body)
                await report("done", "yes");
            })();
            </script></body>
            """.utf8)
    }

    /// The attempts of a page of another site.
    static let attempts = """
        await attempt("read", async () => (await fetch(proxied + "/film.mp4")).status);
        await attempt("opaque", async () => (await fetch(proxied + "/film.mp4", {mode: "no-cors"})).type);
        await attempt("post", async () => (await fetch(proxied + "/form", {method: "POST", mode: "no-cors"})).type);
        await attempt("preflight", async () =>
            (await fetch(proxied + "/film.mp4", {headers: {Range: "bytes=0-1", "X-A": "b"}})).status);
        await attempt("video", () => loaded("video", "onloadedmetadata", video => video.src = proxied + "/film.mp4"));
        await attempt("script", () => loaded("script", "onload", script => script.src = proxied + "/worker.js"));
        await attempt("worker", async () => {
            await navigator.serviceWorker.register(proxied + "/worker.js");
            return "registered";
        });
        const frame = document.createElement("iframe");
        frame.src = proxied + "/attack.html";
        const isFramed = new Promise(done => frame.onload = done);
        document.body.append(frame);
        await isFramed;
        const tab = window.open(proxied + "/attack.html");
        await until(() => { try { return !tab.location.href } catch (error) { return true } });
        """

    /// The attempts of a hostile origin's document at the proxy's address.
    static func attack(reportTo pages: String, origin: String) -> [UInt8] {
        Array(
            """
            <!DOCTYPE html><title>attack</title><body>quiet<script>
            document.body.textContent = "ran";
            fetch("\(pages)/report?attack=ran", {mode: "no-cors"});
            fetch("/http/\(origin)/film.mp4");
            navigator.serviceWorker.register("/http/\(origin)/worker.js", {scope: "/"});
            document.cookie = "planted=1; Path=/";
            </script></body>
            """.utf8)
    }

    /// An allowed page plays, seeks, and reads a part as players written in JavaScript do.
    static let player = """
        const video = document.createElement("video");
        video.src = proxied + "/film.mp4";
        document.body.append(video);
        await video.play();
        await report("played", await until(() => video.currentTime > 0.3));
        video.currentTime = 15;
        await report("seeked", await until(() => !video.seeking && video.currentTime > 15.2));
        const part = await fetch(proxied + "/film.mp4", {headers: {Range: "bytes=10-19", "If-Range": "\\"v1\\""}});
        await report("status", part.status);
        await report("range", part.headers.get("Content-Range"));
        await report("length", (await part.arrayBuffer()).byteLength);
        """
}
