import Foundation
import Primitives
import Reprise
import TestLimits
import TestSupport
import Testing

@testable import RepriseProxy

/// Operations through the port, as programs and attackers have them done.
@Suite(.limit(minutes: 1)) struct OperationTests {
    /// Tells of its steps, then waits to be stopped, fails, or ends.
    private struct Count: ControlOperation {
        static let name = "count"

        let steps: Int
        let waits: Bool?
        let error: String?

        struct Progress: Codable, Sendable { let step: Int }
        struct Outcome: Codable, Sendable { let wasStopped: Bool }

        func run(in cache: MediaCache, progress: @escaping @Sendable (Progress) -> Void) async throws -> Outcome {
            for step in 0..<steps { progress(Progress(step: step)) }
            if let error { throw RepriseError(.init(error), "It failed.") }
            if waits == true {
                let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
                for await _ in stream {}
                withExtendedLifetime(continuation) {}
            }
            return Outcome(wasStopped: Task.isCancelled)
        }
    }

    /// Hands on pieces, each of as many bytes as its number says.
    private struct Pieces: ControlOperation {
        typealias Outcome = NoOutcome

        static let name = "pieces"

        let count: Int

        func run(in cache: MediaCache, progress: @escaping @Sendable (NoProgress) -> Void) async throws -> NoOutcome {
            NoOutcome()
        }

        func run(
            in cache: MediaCache, progress: @escaping @Sendable (NoProgress) -> Void,
            body: @escaping @Sendable ([UInt8]) async throws -> Void
        ) async throws -> NoOutcome {
            for number in 1...count { try await body(Array(repeating: UInt8(ascii: "a"), count: number)) }
            return NoOutcome()
        }
    }

    /// Has no members.
    private struct Rest: ControlOperation {
        typealias Outcome = NoOutcome

        static let name = "rest"

        func run(in cache: MediaCache, progress: @escaping @Sendable (NoProgress) -> Void) async throws -> NoOutcome {
            NoOutcome()
        }
    }

    @Test("an operation without members has an object as its body, too", arguments: ["[]", "1", "null", #""""#])
    func noObject(body: String) throws {
        #expect(throws: ControlFailure.self) { try Rest.parse(Array(body.utf8)) }
        _ = try Rest.parse(Array("{}".utf8))
    }

    private static func run(token: String? = nil, _ body: (ProxyBench) async throws -> Void) async throws {
        try await ProxyBench.run(
            configureProxy: { configuration in
                configuration.token = token
                configuration.controlOperations = [Count.self, Pieces.self]
            }, body)
    }

    private static let json = "Content-Type: application/json"

    /// The answer to a POST of `body`, in HTTP/1.0, so that it ends with the connection.
    private static func post(
        _ body: String, to target: String = "/-/api/count", _ fields: [String] = [json], at proxy: ProxyBench
    ) async throws -> (status: Int, lines: [String]) {
        let client = try RawClient(port: proxy.server.port)
        let head = ["POST \(target) HTTP/1.0", "Host: localhost", "Content-Length: \(body.utf8.count)"] + fields
        try await client.send(head.joined(separator: "\r\n") + "\r\n\r\n" + body)
        let status = try await client.head().status
        let text = String(decoding: try await client.upTo(1 << 20), as: UTF8.self)
        return (status, text.split(separator: "\n").map(String.init))
    }

    @Test("Bytes are lines in base64 (RFC 4648 §4), all of them and in order") func bytesAreLines() async throws {
        try await Self.run { proxy async throws in
            let (status, lines) = try await Self.post(#"{"count":100}"#, to: "/-/api/pieces", at: proxy)
            #expect(status == 200)
            #expect(
                lines.prefix(4) == [
                    #"{"body":"YQ=="}"#, #"{"body":"YWE="}"#, #"{"body":"YWFh"}"#, #"{"body":"YWFhYQ=="}"#,
                ])
            #expect(lines.count == 101 && lines.last == #"{"outcome":{}}"#)
        }
    }

    @Test func progressAndOutcomeAreLines() async throws {
        try await Self.run { proxy async throws in
            let (status, lines) = try await Self.post(#"{"steps":3}"#, at: proxy)
            #expect(status == 200)
            #expect(
                lines == [
                    #"{"progress":{"step":0}}"#, #"{"progress":{"step":1}}"#, #"{"progress":{"step":2}}"#,
                    #"{"outcome":{"wasStopped":false}}"#,
                ])
        }
    }

    @Test(
        "A failure before anything is told is a status",
        arguments: [
            ("invalidArgument", 400), ("notStored", 404), ("storageFull", 507), ("originTimedOut", 502), ("odd", 500),
        ]) func failures(code: String, status: Int) async throws
    {
        try await Self.run { proxy async throws in
            let line = #"{"code":"\#(code)","error":"It failed."}"#
            let early = try await Self.post(#"{"steps":0,"error":"\#(code)"}"#, at: proxy)
            #expect(early.status == status)
            #expect(early.lines == [line])
            let late = try await Self.post(#"{"steps":1,"error":"\#(code)"}"#, at: proxy)
            #expect(late.status == 200)
            #expect(late.lines == [#"{"progress":{"step":0}}"#, line])
        }
    }

    @Test("A client that closes its sending side ends the work, and is told how it ended") func halfClosing()
        async throws
    {
        try await Self.run { proxy async throws in
            let client = try RawClient(port: proxy.server.port)
            let body = #"{"steps":1,"waits":true}"#
            try await client.send(
                "POST /-/api/count HTTP/1.0\r\nHost: localhost\r\n\(Self.json)\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
                    + body)
            #expect(try await client.head().status == 200)
            let first = "{\"progress\":{\"step\":0}}\n"
            #expect(try await client.body(first.utf8.count).elementsEqual(first.utf8))
            client.finishSending()
            let rest = String(decoding: try await client.upTo(1 << 10), as: UTF8.self)
            #expect(rest == "{\"outcome\":{\"wasStopped\":true}}\n")
        }
    }

    @Test func aClientThatLeavesEndsTheWork() async throws {
        try await Self.run { proxy async throws in
            let client = try RawClient(port: proxy.server.port)
            let body = #"{"steps":1,"waits":true}"#
            try await client.send(
                "POST /-/api/count HTTP/1.1\r\nHost: localhost\r\n\(Self.json)\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
                    + body)
            #expect(try await client.head().status == 200)
            client.disconnect()
            await eventually { proxy.server.answersUnderWay == 0 }
        }
    }

    @Test(
        "What is not its JSON is refused, with words",
        arguments: [
            ("", "count"), ("{", "parsed"), ("[1]", "count"), (#"{"waits":false}"#, "steps"),
            (#"{"steps":"3"}"#, "steps"), (#"{"steps":1e99}"#, "count"), (#"{"steps":1,"step":2}"#, "\"step\""),
            (#"{"steps":1,"a\r\nX: y":2}"#, "member"),
        ]) func wrongBodies(body: String, word: String) async throws
    {
        try await Self.run { proxy async throws in
            let (status, lines) = try await Self.post(body, at: proxy)
            #expect(status == 400, "\(lines)")
            let failure = try JSONDecoder().decode(
                ControlFailure.Body.self, from: Data(try #require(lines.last).utf8))
            #expect(failure.error.contains(word), "\(failure.error)")
        }
    }

    @Test func otherMethodsTypesSizesAndPathsAreRefused() async throws {
        try await Self.run { proxy async throws in
            let port = proxy.server.port
            let get = try await RawClient.exchange(port: port, "/-/api/count")
            #expect(get.head.status == 405 && get.head.fields["allow"] == "POST")
            for type in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"] {
                #expect(try await Self.post(#"{"steps":0}"#, ["Content-Type: \(type)"], at: proxy).status == 415)
            }
            #expect(try await Self.post(#"{"steps":0}"#, [], at: proxy).status == 415)
            for type in [
                "application/json;charset=utf-8", "Application/JSON ;charset=utf-8", "application/json\t; a=b",
            ] {
                #expect(try await Self.post(#"{"steps":0}"#, ["Content-Type: \(type)"], at: proxy).status == 200)
            }
            let large = #"{"steps":0,"error":"\#(String(repeating: "x", count: 64 << 10))"}"#
            #expect(try await Self.post(large, at: proxy).status == 413)
            let other = try await Self.post("{}", to: "/-/api/other", at: proxy)
            #expect(other.status == 404 && other.lines.last?.contains(ControlFailure.unknownPath) == true)
            #expect(try await Self.post(#"{"steps":0}"#, to: "/-/api/count?steps=1", at: proxy).status == 400)
        }
    }

    @Test("A page of another site has nothing done", arguments: ["http://evil.example", "null", "http://localhost:1"])
    func foreignPages(page: String) async throws {
        for token in [nil, "secret"] {
            try await Self.run(token: token) { proxy async throws in
                let target = "/" + (token.map { $0 + "/" } ?? "") + "-/api/count"
                for site in [["Sec-Fetch-Site: cross-site"], ["Sec-Fetch-Site: same-site"], []] {
                    let fields = [Self.json, "Origin: \(page)"] + site
                    #expect(try await Self.post(#"{"steps":0}"#, to: target, fields, at: proxy).status == 403)
                }
                #expect(try await Self.post(#"{"steps":0}"#, to: target, at: proxy).status == 200)
            }
        }
    }

    @Test func theServerSaysWhichOperationsItHas() async throws {
        try await Self.run { proxy async throws in
            let answer = try await RawClient.exchange(port: proxy.server.port, "/-/server.json")
            let report = try JSONDecoder().decode(ServerReport.self, from: Data(answer.body))
            #expect(report.operations == ["count", "pieces"])
            // The port does not tell where its files are, nor what others need to use it.
            #expect(report.directory == nil && report.address == nil && report.needsToken == nil)
        }
    }
}
