public import Foundation
import Primitives

#if os(macOS) || os(Linux)
    /// A page of a running browser, used through the Chrome DevTools Protocol: JSON in a WebSocket (RFC 6455).
    ///
    /// One caller at a time.
    public final class DevTools: Sendable {
        /// What the browser refused or the page threw.
        public struct Failure: Error {
            /// As it was told.
            public let text: String

            /// Creates it.
            public init(text: String) { self.text = text }
        }

        /// Something that happened in the browser.
        public struct Event: Sendable {
            /// Its name.
            public let method: String
            /// The whole message, JSON.
            public let text: String
        }

        private let client: RawClient
        private let state = Mutex((calls: 0, events: [Event]()))

        private init(_ client: RawClient) { self.client = client }

        /// Connects to the first page of the browser that listens at `port`.
        static func connect(port: Int) async throws -> DevTools {
            let list = try await RawClient.exchange(port: port, "/json/list")
            let pages = try JSONSerialization.jsonObject(with: Data(list.body)) as? [[String: Any]] ?? []
            guard let address = pages.first(where: { $0["type"] as? String == "page" })?["webSocketDebuggerUrl"],
                let path = URL(string: "\(address)")?.path
            else { throw Failure(text: "The browser has no page.") }
            let client = try RawClient(port: port)
            try await client.get(
                path,
                [
                    "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
                    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
                ])
            let head = try await client.head()
            guard head.status == 101 else { throw Failure(text: "\(head)") }
            return DevTools(client)
        }

        /// What has happened so far; of what happened since the last call, as much as is known.
        public var events: [Event] { state.withLock { $0.events } }

        /// Calls `method` with JSON as its parameters; returns its result, JSON.
        @discardableResult
        public func call(_ method: String, _ parameters: String = "{}") async throws -> Data {
            let id = state.withLock { state in
                state.calls += 1
                return state.calls
            }
            try await send(#"{"id":\#(id),"method":"\#(method)","params":\#(parameters)}"#)
            while true {
                let message = try await receive()
                let object = try JSONSerialization.jsonObject(with: Data(message)) as? [String: Any] ?? [:]
                if object["id"] as? Int == id {
                    guard let result = object["result"] else {
                        throw Failure(text: String(decoding: message, as: UTF8.self))
                    }
                    return try JSONSerialization.data(withJSONObject: result)
                }
                let event = Event(
                    method: object["method"] as? String ?? "", text: String(decoding: message, as: UTF8.self))
                state.withLock { $0.events.append(event) }
            }
        }

        /// Runs `script` in the page, and awaits the promise that it may return; returns its value as a text.
        @discardableResult
        public func run(_ script: String) async throws -> String {
            let expression = String(decoding: try JSONEncoder().encode(script), as: UTF8.self)
            let data = try await call(
                "Runtime.evaluate",
                #"{"expression":\#(expression),"awaitPromise":true,"returnByValue":true,"userGesture":true}"#)
            let answer = try JSONSerialization.jsonObject(with: data) as? [String: Any] ?? [:]
            guard answer["exceptionDetails"] == nil else {
                throw Failure(text: String(decoding: data, as: UTF8.self))
            }
            let value = (answer["result"] as? [String: Any])?["value"]
            return value.map { "\($0)" } ?? ""
        }

        /// Returns when `condition` holds in the page.
        public func wait(for condition: String) async throws {
            let result = try await run(
                """
                new Promise(done => {
                    const end = Date.now() + 120000;
                    const look = () => {
                        if (\(condition)) done("yes");
                        else if (Date.now() > end) done(document.body?.innerText ?? "no page");
                        else setTimeout(look, 20);
                    };
                    look();
                })
                """)
            guard result == "yes" else { throw Failure(text: "never: \(condition)\n\(result)") }
        }

        /// Opens `url`.
        public func open(_ url: String) async throws { try await call("Page.navigate", #"{"url":"\#(url)"}"#) }

        /// Presses and releases a key, such as `Tab` or `Enter`.
        public func press(_ key: String) async throws {
            let (code, text) = Self.keys[key] ?? (0, "")
            let common = #""key":"\#(key)","code":"\#(key)","windowsVirtualKeyCode":\#(code)"#
            let typed = text.isEmpty ? "" : #","text":"\#(text)""#
            try await call("Input.dispatchKeyEvent", #"{"type":"keyDown",\#(common)\#(typed)}"#)
            try await call("Input.dispatchKeyEvent", #"{"type":"keyUp",\#(common)}"#)
        }

        private static let keys = ["Tab": (9, ""), "Enter": (13, #"\r"#), "Escape": (27, "")]

        // MARK: - Frames

        /// Sends a text in one frame (RFC 6455 §5.2), under a mask of zeros.
        private func send(_ text: String) async throws {
            let payload = Array(text.utf8)
            var frame: [UInt8] = [0x81]
            switch payload.count {
            case ..<126: frame.append(0x80 | UInt8(payload.count))
            case ...0xFFFF: frame += [0x80 | 126] + Self.bytes(of: payload.count, 2)
            default: frame += [0x80 | 127] + Self.bytes(of: payload.count, 8)
            }
            try await client.send(frame + [0, 0, 0, 0] + payload)
        }

        /// The next message, of one or several frames.
        private func receive() async throws -> [UInt8] {
            var message: [UInt8] = []
            while true {
                let head = try await client.body(2)
                var count = Int(head[1] & 0x7F)
                if count >= 126 {
                    count = try await client.body(count == 126 ? 2 : 8).reduce(0) { $0 << 8 | Int($1) }
                }
                let payload = try await client.body(count)
                guard head[0] & 0x0F != 8 else { throw Failure(text: "The browser closed the connection.") }
                // Other control frames need no answer here.
                guard head[0] & 0x08 == 0 else { continue }
                message += payload
                if head[0] & 0x80 != 0 { return message }
            }
        }

        private static func bytes(of number: Int, _ count: Int) -> [UInt8] {
            (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        }
    }
#endif
