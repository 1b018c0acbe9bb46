import Foundation
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseProxy

/// Control through the port, as programs, pages and attackers see it.
@Suite(.limit(minutes: 2)) struct ControlWireTests {
    private struct Status: Decodable {
        struct Counts: Decodable {
            let servedBytes, storeBytes, originBytes, fetchedBytes, savedBytes: Int64
            let reads: Int64
        }

        struct Store: Decodable {
            let storedBytes, limitBytes: Int64
            let isStoring: Bool
        }

        let sinceStart, overall: Counts
        let store: Store
        let connections: Int
    }

    /// Reads server-sent events (HTML §9.2.6), strictly.
    private struct EventReader {
        let client: RawClient

        /// The next event: its name and its data.
        func next() async throws -> (name: String, data: String) {
            // A chunk is one event.
            var size = ""
            while !size.hasSuffix("\r\n") { size += String(decoding: try await client.body(1), as: UTF8.self) }
            let count = try #require(Int(size.dropLast(1).trimmingCharacters(in: .whitespacesAndNewlines), radix: 16))
            let text = String(decoding: try await client.body(count + 2), as: UTF8.self)
            guard count > 0 else { return ("end", "") }
            let lines = text.components(separatedBy: "\n")
            try #require(lines.count == 4 && lines[0].hasPrefix("event: ") && lines[1].hasPrefix("data: "), "\(text)")
            return (String(lines[0].dropFirst(7)), String(lines[1].dropFirst(6)))
        }

        /// Waits for an event called `name`.
        func next(_ name: String) async throws -> String {
            while true {
                let event = try await next()
                if event.name == name { return event.data }
                try #require(event.name != "end")
            }
        }
    }

    @Test func theStatusSaysWhatWasServedAndStored() async throws {
        try await ProxyBench.run(configure: { $0.limit = 50_000_000 }) { proxy async throws in
            proxy.bench.publish("/a", length: 100_000)
            for _ in 0..<2 { #expect(try await proxy.get("/a").head.status == 200) }
            await proxy.becomeIdle()
            let answer = try await RawClient.exchange(port: proxy.server.port, "/-/status.json")
            #expect(answer.head.status == 200)
            #expect(answer.head.fields["content-type"] == "application/json")
            #expect(answer.head.fields["cache-control"] == "no-store")
            #expect(answer.head.fields["cross-origin-resource-policy"] == "same-origin")
            #expect(answer.head.fields["access-control-allow-origin"] == nil)
            let status = try JSONDecoder().decode(Status.self, from: Data(answer.body))
            #expect(status.sinceStart.servedBytes == 200_000)
            #expect(status.sinceStart.fetchedBytes == 100_000)
            #expect(status.sinceStart.savedBytes == 100_000)
            #expect(status.store.storedBytes == 100_000)
            #expect(status.store.limitBytes == 50_000_000)
            #expect(status.store.isStoring)
            let head = try await RawClient.exchange(port: proxy.server.port, "/-/api/status.json", method: "HEAD")
            #expect(head.head.status == 200)
        }
    }

    @Test func eventsArriveAsTheyHappen() async throws {
        try await ProxyBench.run { proxy async throws in
            proxy.bench.publish("/a?secret=1", length: 1000)
            let client = try RawClient(port: proxy.server.port)
            try await client.get("/-/events")
            let head = try await client.head()
            #expect(head.status == 200)
            #expect(head.fields["content-type"] == "text/event-stream")
            let events = EventReader(client: client)
            #expect(try await events.next().name == "status")
            #expect(try await proxy.get("/a?secret=1").head.status == 200)
            let data = try await events.next("readEnded")
            let event = try #require(try JSONSerialization.jsonObject(with: Data(data.utf8)) as? [String: Any])
            #expect(event["origin"] as? Int == 1000)
            #expect((event["url"] as? String)?.hasSuffix("/a") == true)
            #expect(!data.contains("secret"))
            client.disconnect()
            await eventually { proxy.server.listeners == 0 }
        }
    }

    @Test("of a thousand listeners 32 are served, and the others are told so") func listeners() async throws {
        try await ProxyBench.run { proxy async throws in
            var open: [RawClient] = []
            for number in 0..<1000 {
                let client = try RawClient(port: proxy.server.port)
                try await client.get("/-/events")
                let head = try await client.head()
                #expect(head.status == (number < 32 ? 200 : 503))
                if number < 32 { open.append(client) } else { #expect(head.fields["retry-after"] == "10") }
            }
            #expect(proxy.server.listeners == 32)
            for client in open { client.disconnect() }
            await eventually { proxy.server.listeners == 0 }
        }
    }

    @Test("an event listener that reads nothing is cut, with a note, and delays no other") func slowListener()
        async throws
    {
        let feed = EventFeed()
        let slow = try #require(feed.subscribe())
        let quick = try #require(feed.subscribe())
        var received = 0
        for number in 0..<1000 {
            try feed.pass(.evicted(CacheKey("http://a.example/\(number)"), bytes: 1), at: 0)
            for await _ in quick.events {
                received += 1
                break
            }
        }
        #expect(received == 1000)
        #expect(feed.listeners == 1)
        var waiting = 0
        for await _ in slow.events { waiting += 1 }
        #expect(waiting == 256)
        #expect(feed.unsubscribe(slow))
        #expect(!feed.unsubscribe(quick))
        #expect(feed.recent.count == 50)
        #expect(feed.recent.last?.url == "http://a.example/999")
    }

    @Test("a long URL is told by its beginning") func longURLs() async throws {
        try await ProxyBench.run { proxy async throws in
            let name = "/" + String(repeating: "x", count: 2000)
            proxy.bench.publish(name, length: 200_000)
            proxy.bench.origin.hold(name, at: 100_000)
            let client = try RawClient(port: proxy.server.port)
            try await client.get(proxy.target(name))
            #expect(try await client.head().status == 200)
            let answer = try await RawClient.exchange(port: proxy.server.port, "/-/status.json")
            proxy.bench.origin.release(name)
            struct Status: Decodable {
                struct Activity: Decodable { let url: String }
                let active: [Activity]
            }
            let url = try #require(JSONDecoder().decode(Status.self, from: Data(answer.body)).active.first?.url)
            #expect(url.count == 512 && url.hasSuffix("x…") && url.hasPrefix("http://127.0.0.1:"))
        }
    }

    @Test func wrongRequestsAreToldInJSON() async throws {
        try await ProxyBench.run { proxy async throws in
            for (method, target, status, allow) in [
                ("GET", "/-/nothing", 404, nil), ("GET", "/-/../x", 404, nil), ("GET", "/-/status.json?x=1", 400, nil),
                ("GET", "/-/status.json?%zz", 400, nil), ("DELETE", "/-/status.json", 405, "GET, HEAD"),
                ("GET", "/-/api/%2e%2e/status.json", 404, nil), ("GET", "/-/events?a=%0d%0aX:1", 400, nil),
            ] as [(String, String, Int, String?)] {
                let answer = try await RawClient.exchange(port: proxy.server.port, target, method: method)
                #expect(answer.head.status == status, "\(target)")
                #expect(answer.head.fields["allow"] == allow)
                let body = try JSONDecoder().decode(ControlFailure.Body.self, from: Data(answer.body))
                #expect(!body.error.isEmpty)
            }
            let large = String(repeating: "x", count: (64 << 10) + 1)
            let text = try await proxy.server.raw(
                [
                    "POST /-/status.json HTTP/1.1", "Host: localhost", "Content-Length: \(large.utf8.count)",
                    "Connection: close",
                ], body: large)
            #expect(text.hasPrefix("HTTP/1.1 413 "))
        }
    }

    @Test func pipelinedRequestsAreAnsweredInOrder() async throws {
        try await ProxyBench.run { proxy async throws in
            let client = try RawClient(port: proxy.server.port)
            let targets = ["/-/status.json", "/-/nothing", "/-/status.json", "/-/status.json?x"]
            try await client.send(targets.map { "GET \($0) HTTP/1.1\r\nHost: localhost\r\n\r\n" }.joined())
            for status in [200, 404, 200, 400] {
                let head = try await client.head()
                #expect(head.status == status)
                _ = try await client.body(try #require(head.length))
            }
        }
    }
}
