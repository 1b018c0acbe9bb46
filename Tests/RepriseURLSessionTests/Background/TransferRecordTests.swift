import Foundation
import Reprise
import TestLimits
import Testing

@testable import RepriseURLSession

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("What a background transfer asks for", .limit(minutes: 1))
struct TransferRecordTests {
    private static let date = "Wed, 01 Jan 2025 00:00:00 GMT"

    /// The fields of the request for `range`, made of one for all that follows byte 100.
    private func fields(_ range: Range<Int64>?, validator: String) throws -> [String: String] {
        let ask = TransferAsk(title: "t", entry: "e", hole: range.map { _ in 100..<900 }, validator: validator)
        var request = URLRequest(url: try #require(URL(string: "https://media.example/film.mp4")))
        if range != nil {
            request.setValue("bytes=100-", forHTTPHeaderField: "Range")
            request.setValue(validator, forHTTPHeaderField: "If-Range")
        }
        request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        let made = TransferRecord(for: ask, range: range, begun: 0).request(from: request)
        return made.allHTTPHeaderFields ?? [:]
    }

    @Test("RFC 9110 §13.1.1: its part, if the file has not changed")
    func aPartIsOfOneRepresentation() throws {
        let tagged = try fields(200..<300, validator: "\"v1\"")
        #expect(tagged == ["Range": "bytes=200-299", "If-Match": "\"v1\"", "Accept-Encoding": "identity"])
    }

    @Test("RFC 9110 §13.1.4: the same with a date")
    func aPartIsOfTheRepresentationOfADate() throws {
        let dated = try fields(200..<300, validator: Self.date)
        #expect(
            dated == ["Range": "bytes=200-299", "If-Unmodified-Since": Self.date, "Accept-Encoding": "identity"])
    }

    @Test("a connection that has become silent is given up by the system, as no program runs that could do so")
    func aSilentTransferIsTriedAgain() throws {
        let request = OriginRequest(url: try ResourceURL("https://media.example/film.mp4"))
        var configuration = URLSessionOrigin.Configuration()
        #expect(configuration.longestSilence(of: request) == 60)
        // Of an origin that takes long to begin.
        configuration.responseTimeout = .seconds(120)
        #expect(configuration.longestSilence(of: request) == 120)
    }

    @Test func aWholeHasNoCondition() throws {
        let whole = try fields(nil, validator: "\"v1\"")
        #expect(whole == ["Accept-Encoding": "identity"])
    }
}
