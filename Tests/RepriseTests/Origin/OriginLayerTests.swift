import Foundation
import HTTPSemantics
import HTTPTypes
import Primitives
import RepriseTesting
import Testing

@testable import Reprise

/// The layers between the cache and its client, each by itself.
@Suite struct OriginLayerTests {
    /// Answers with the statuses of a list, and keeps the requests that it gets.
    private final class Client: Origin {
        private let statuses: Mutex<[Int]>
        private let fields: HTTPFields
        private let received = Mutex<[OriginRequest]>([])

        init(_ statuses: Int..., fields: HTTPFields = [:]) { (self.statuses, self.fields) = (Mutex(statuses), fields) }

        var requests: [OriginRequest] { received.withLock { $0 } }

        func send(_ request: OriginRequest) async throws -> OriginResponse {
            received.withLock { $0.append(request) }
            guard let status = statuses.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else {
                throw RepriseError(.originUnreachable, "Nothing answers.")
            }
            return OriginResponse(
                head: HTTPResponse(status: HTTPResponse.Status(code: status), headerFields: fields), url: request.url,
                body: EmptyBody())
        }
    }

    private final class EmptyBody: OriginBody {
        func next() async throws -> (any ByteChunk)? { nil }
        func cancel() {}
    }

    private static func request(_ demand: Demand = .playing) throws -> OriginRequest {
        var request = OriginRequest(url: try ResourceURL("http://a.example/film.mp4"))
        request.demand = demand
        request.context.key = CacheKey("film")
        return request
    }

    private static func failure(of layer: any Origin, _ request: OriginRequest) async -> RepriseError? {
        do {
            _ = try await layer.send(request)
            return nil
        } catch { return error as? RepriseError }
    }

    @Test func aRequestForAPartHasItsFields() throws {
        let validators = Validators(etag: EntityTag("\"1\""), lastModified: nil)
        var asked = try Self.request(.download)
        asked.fields[.ifNoneMatch] = "\"of the client\""
        let part = asked.asking(for: .bounded(5..<10), ifRange: "\"1\"")
        #expect(part.fields[.range] == "bytes=5-9" && part.fields[.ifRange] == "\"1\"")
        #expect(part.fields[.ifNoneMatch] == nil && part.fields[.acceptEncoding] == "identity")
        #expect(asked.asking(for: nil, unless: validators).fields[.ifNoneMatch] == "\"1\"")
        asked.method = .put
        #expect(asked.asking(for: nil).fields[.ifNoneMatch] == "\"of the client\"")
    }

    @Test func offlineNothingIsSent() async throws {
        let client = Client(200, 200)
        let refusal = await Self.failure(of: OfflineOrigin(next: client, isOffline: true), try Self.request())
        #expect(refusal?.code == .notStored && refusal?.obstacle == .offline)
        var forbidden = try Self.request()
        forbidden.networkPolicy = .never
        let withoutNetwork = await Self.failure(of: OfflineOrigin(next: client, isOffline: false), forbidden)
        #expect(withoutNetwork?.code == .notStored && withoutNetwork?.obstacle == nil)
        #expect(client.requests.isEmpty)
        _ = try await OfflineOrigin(next: client, isOffline: false).send(try Self.request())
        #expect(client.requests.count == 1)
    }

    @Test func anImportedFileIsReadInPlaceOfTheOrigin() async throws {
        let path = NSTemporaryDirectory() + "import-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data("film".utf8).write(to: URL(fileURLWithPath: path))
        let client = Client(200)
        let layers = ImportingOrigin(next: OfflineOrigin(next: client, isOffline: true), clock: .system)
        var request = try Self.request()
        request.context.source = try FileOrigin(URL(fileURLWithPath: path), fields: [:])
        let response = try await layers.send(request)
        #expect(response.head.status == .ok && response.requestTime > 0 && client.requests.isEmpty)
    }

    @Test func aRequestThatNothingWantsIsNotSent() async throws {
        let client = Client(200)
        let layer = PrioritizedOrigin(next: client, precedence: Precedence(clock: .system))
        var unwanted = try Self.request()
        let interest = RequestInterest(.playing)
        _ = interest.take(as: nil)
        unwanted.context.interest = interest
        do {
            _ = try await layer.send(unwanted)
            Issue.record("It was sent.")
        } catch { #expect(error is CancellationError) }
        #expect(client.requests.isEmpty)
        // It is sent in the class in which it is wanted by then.
        let raised = RequestInterest(.preload)
        _ = raised.take(as: .playing)
        var request = try Self.request(.preload)
        request.context.interest = raised
        _ = try await layer.send(request)
        #expect(client.requests.map(\.demand) == [.playing])
    }

    @Test func aRefusedRequestIsSentAgainWithItsAuthorization() async throws {
        let client = Client(401, 200, 200)
        let authorizer = Authorizer { _ in Authorization(fields: [.authorization: "Bearer t"]) }
        let layer = AuthorizedOrigin(next: client, authorizer: authorizer)
        #expect(try await layer.send(try Self.request()).head.status == .ok)
        #expect(try await layer.send(try Self.request()).head.status == .ok)
        #expect(client.requests.map { $0.fields[.authorization] } == [nil, "Bearer t", "Bearer t"])
        let refusing = AuthorizedOrigin(next: Client(401, 401, 401), authorizer: Authorizer { _ in nil })
        #expect(try await refusing.send(try Self.request()).head.status == .unauthorized)
    }

    @Test func requestsAreCountedToTheHostThatWasAskedFirst() async throws {
        let (reporter, clock) = (Reporter(), CacheClock(ManualClock()) { Date(timeIntervalSince1970: 1_800_000_000) })
        let client = Client(200, fields: [.contentRange: "bytes 0-9/10"])
        let away = AwayHosts(clock: clock)
        var configuration = MediaCache.Configuration()
        configuration.clock = clock
        let layer = MeteredOrigin(
            client, meters: .init(reporter: reporter, timings: OriginTimings(), awayHosts: away, silentHosts: away),
            configuration: configuration)
        var request = try Self.request().asking(for: .bounded(0..<5))
        request.context.account = "first.example"
        let response = try await layer.send(request)
        #expect(response.requestTime == 1_800_000_000)
        #expect(response.asked?.url == request.url && response.head.headerFields[.date] != nil)
        client.requests.last?.context.onOddity?("Line 2 has no colon.")
        let failure = await Self.failure(of: layer, request)
        #expect(failure?.code == .originUnreachable)
        #expect(reporter.current.originRequests == 2)
        #expect(Array(reporter.tally.origins.named.keys) == ["first.example"])
        #expect(reporter.hostRemarks.map(\.host) == ["first.example"])
    }

    @Test func aRequestCountsToTheHostOfItsOwnURLWhateverItsAuthorization() async throws {
        let (reporter, client) = (Reporter(), Client(401, 200))
        let signed = try ResourceURL("http://cdn.example/film.mp4?sig=1")
        var configuration = MediaCache.Configuration()
        configuration.clock = CacheClock(ManualClock()) { Date(timeIntervalSince1970: 1_800_000_000) }
        let layers = OriginLayers.stack(
            on: client, configuration: configuration, precedence: Precedence(clock: configuration.clock),
            authorizer: Authorizer { _ in Authorization(url: signed) },
            meters: .init(
                reporter: reporter, timings: OriginTimings(), awayHosts: AwayHosts(clock: configuration.clock),
                silentHosts: AwayHosts(clock: configuration.clock)))
        _ = try await layers.send(try Self.request().asking(for: nil))
        #expect(client.requests.map(\.url.host) == ["a.example", "cdn.example"])
        #expect(Array(reporter.tally.origins.named.keys) == ["a.example"])
    }
}
