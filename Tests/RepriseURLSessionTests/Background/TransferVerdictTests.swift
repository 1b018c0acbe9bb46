import HTTPTypes
import Reprise
import TestLimits
import Testing

@testable import RepriseURLSession

@Suite("What the response of a background transfer is", .limit(minutes: 1))
struct TransferVerdictTests {
    private static let url = "https://media.example/film.mp4?token=secret"

    private func judge(
        _ status: Int, _ fields: HTTPFields, length: Int64 = 100, asked: Range<Int64>? = 100..<200,
        validator: String = "\"v1\"", leavesTLS: Bool = false
    ) throws -> TransferVerdict {
        let ask = TransferAsk(title: "t", entry: "e", hole: asked, validator: validator)
        return try TransferVerdict.judge(
            TransferRecord(for: ask, range: asked, begun: 0),
            HTTPResponse(status: .init(code: status), headerFields: fields), length: length,
            from: ResourceURL(Self.url), leavesTLS: leavesTLS)
    }

    private func code(_ judgment: () throws -> TransferVerdict) -> RepriseError.Code? {
        do {
            _ = try judgment()
            return nil
        } catch {
            let text = "\(error)"
            #expect(!text.contains("secret"))
            return (error as? RepriseError)?.code
        }
    }

    @Test("RFC 9110 §15.3.7: the part that was asked for, with the same validator")
    func thePartIsAPart() throws {
        let verdict = try judge(206, [.contentRange: "bytes 100-199/1000", .eTag: "\"v1\"", .contentLength: "100"])
        #expect(verdict == .part(100..<200, completeLength: 1000))
        let dated = try judge(
            206, [.contentRange: "bytes 100-199/1000", .lastModified: "Wed, 01 Jan 2025 00:00:00 GMT"],
            validator: "Wed, 01 Jan 2025 00:00:00 GMT")
        #expect(dated == .part(100..<200, completeLength: 1000))
    }

    @Test func aShorterPartIsItsBeginning() throws {
        let verdict = try judge(206, [.contentRange: "bytes 100-149/150", .eTag: "\"v1\""], length: 50)
        #expect(verdict == .part(100..<150, completeLength: 150))
    }

    @Test("RFC 9110 §13.1.5: the whole, because the file has changed or there are no ranges")
    func aWholeIsAWhole() throws {
        let changed = try judge(200, [.eTag: "\"v2\""], length: 900)
        let asked = try judge(200, [:], length: 900, asked: nil)
        #expect(changed == .whole(length: 900))
        #expect(asked == .whole(length: 900))
    }

    @Test("RFC 9110 §13.1.1: the condition is not met, because the file has changed")
    func aConditionThatIsNotMetIsAChange() throws {
        let part = try judge(412, [.eTag: "\"v2\""])
        #expect(part == .changed)
        let whole = try TransferVerdict.judge(
            TransferRecord(for: TransferAsk(title: "t", entry: "e"), range: nil, begun: 0),
            HTTPResponse(status: .preconditionFailed), length: 0, from: ResourceURL(Self.url))
        #expect(whole == .refusal)
    }

    @Test("a whole that ends before what was asked for, as the same representation, would be asked for for ever")
    func aWholeThatIsShorterThanBeforeIsAnError() throws {
        let shorter = code { try judge(200, [.eTag: "\"v1\""], length: 100) }
        #expect(shorter == .originMisbehaved)
        let other = try judge(200, [.eTag: "\"v2\""], length: 100)
        #expect(other == .whole(length: 100))
        let longer = try judge(200, [.eTag: "\"v1\""], length: 101)
        #expect(longer == .whole(length: 101))
    }

    @Test(
        "a part of another representation, which an origin sends that ignores If-Range",
        arguments: ["\"v2\"", "W/\"v1\""])
    func anotherValidatorIsAChange(tag: String) throws {
        let verdict = try judge(206, [.contentRange: "bytes 100-199/1000", .eTag: tag])
        #expect(verdict == .changed)
    }

    @Test(arguments: [304, 401, 404, 416, 503]) func otherStatusesAreRefusals(status: Int) throws {
        let verdict = try judge(status, [:])
        #expect(verdict == .refusal)
    }

    @Test func whatCannotBeUsedIsAnError() {
        let range: HTTPFields = [.contentRange: "bytes 100-199/1000", .eTag: "\"v1\""]
        func with(_ name: HTTPField.Name, _ value: String?) -> HTTPFields {
            var fields = range
            fields[name] = value
            return fields
        }
        let misplaced = code { try judge(206, with(.contentRange, "bytes 101-200/1000")) }
        let longer = code { try judge(206, with(.contentRange, "bytes 100-200/1000"), length: 101) }
        let unplaced = code { try judge(206, with(.contentRange, nil)) }
        let unasked = code { try judge(206, range, asked: nil) }
        let unnamed = code { try judge(206, with(.eTag, nil)) }
        for code in [misplaced, longer, unplaced, unasked, unnamed] { #expect(code == .originMisbehaved) }
        let short = code { try judge(206, range, length: 99) }
        let declared = code { try judge(200, [.contentLength: "101"], asked: nil) }
        for code in [short, declared] { #expect(code == .originBodyTruncated) }
        let open = code { try judge(206, range, leavesTLS: true) }
        #expect(open == .originRedirectRefused)
    }
}
