import ByteRanges
import HTTPSemantics
import HTTPTypes

@testable import Reprise
@testable import RepriseProxy

/// Whole response heads: the decision about each, under every policy, with and without a stored response, and the
/// resulting positions of the body's bytes.
///
/// The input is up to three messages, separated by an empty line: fields of the request, a response without a stored
/// one, and a response checked against the first. The first line of a response is its status.
enum ResponseTargets {
    static func validate(_ text: String) {
        let messages = text.split(separator: "\n\n", maxSplits: 2, omittingEmptySubsequences: false)
            .map { message in message.split(separator: "\n", omittingEmptySubsequences: false)[...] }
        guard messages.count > 1 else { return }
        let asked = fields(messages[0])[.range].flatMap { RangeField($0)?.single }
        let first = response(messages[1])
        let second = messages.count > 2 ? response(messages[2]) : first
        for bits in 0..<32 {
            let request = FetchRequest(
                range: bits & 1 == 0 ? asked : nil, sentIfRange: bits & 2 == 0, sentCondition: bits & 2 == 0,
                expectsMedia: bits & 4 == 0)
            let storage = StoragePolicy(isShared: bits & 8 == 0, hasAuthorization: bits & 16 == 0)
            for policy in [GenerationPolicy.strict, .lengthAndDate, .immutable] {
                let action = HTTPSemantics.validate(
                    request, against: nil, policy: policy, response: first, finalHost: "a", storage: storage)
                guard let placement = checked(action) else { continue }
                let stored = GenerationIdentity(
                    validators: Validators(first.headerFields), completeLength: placement.completeLength,
                    mediaType: first.headerFields[.contentType], finalHost: "a")
                _ = checked(
                    HTTPSemantics.validate(
                        request, against: stored, policy: policy, response: second, finalHost: "a", storage: storage))
            }
        }
    }

    /// Where the body belongs, if it is used.
    private static func checked(_ action: ResponseAction) -> BodyPlacement? {
        switch action {
        case .fill(let placement), .newGeneration(let placement, _):
            check(placement)
            return placement
        case .unsatisfiable(let length):
            precondition((0...Int64.largestPosition).contains(length ?? 0))
            return nil
        default: return nil
        }
    }

    private static func check(_ placement: BodyPlacement) {
        let end = placement.end ?? placement.start
        precondition(0 <= placement.start && placement.start <= end)
        precondition(end <= placement.completeLength ?? .largestPosition)
        precondition(placement.completeLength ?? 0 <= .largestPosition)
        var cursor = BodyCursor(start: placement.start, end: placement.end)
        for count in [1, 65_536, 1 << 20, Int(Int64.largestPosition), .max] {
            guard let range = try? cursor.advance(by: count) else { break }
            precondition(range.upperBound <= placement.end ?? .largestPosition)
            // The code behind it: chunks, blocks and extents.
            _ = Allocation([range]).usage
        }
    }

    /// A complete length in the first line, a Range field in the second.
    static func multipart(_ text: String) {
        let lines = text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
        guard lines.count == 2, let length = contentLength(String(lines[0])), let field = RangeField(String(lines[1]))
        else { return }
        let ranges = field.specs.compactMap { $0.resolve(completeLength: length) }
        let information = ContentInformation(
            response: HTTPResponse(status: .ok), completeLength: length, rangesSupported: true)
        let multipart = Multipart(ranges, information: information, completeLength: length)
        precondition(multipart.heads.count == ranges.count)
        let between = multipart.heads.reduce(multipart.end.utf8.count) { $0 + $1.utf8.count }
        let content = ranges.reduce(UInt64(between)) { $0 + UInt64($1.upperBound - $1.lowerBound) }
        precondition(UInt64(multipart.contentLength) == content)
    }

    private static func response(_ lines: ArraySlice<Substring>) -> HTTPResponse {
        // The type takes three digits only.
        let code = lines.first.flatMap { Int($0) }.map { min(max($0, 0), 999) } ?? 200
        return HTTPResponse(status: .init(code: code), headerFields: fields(lines.dropFirst()))
    }

    private static func fields(_ lines: ArraySlice<Substring>) -> HTTPFields {
        var fields = HTTPFields()
        for line in lines {
            let name = line.prefix { $0 != ":" }
            guard name.count < line.count, let fieldName = HTTPField.Name(String(name)) else { continue }
            fields.append(HTTPField(name: fieldName, value: String(line.dropFirst(name.count + 1))))
        }
        return fields
    }
}
