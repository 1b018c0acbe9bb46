import Foundation

/// Checks a complete multipart/byteranges body: its parts must be the requested ones, all of one version.
struct PartsCheck {
    /// The problem; `nil` if there is none.
    private(set) var problem: String?

    init(_ body: [UInt8], boundary: String, of candidates: [Representation], to ask: Ask) {
        guard case .several(let wanted) = ask.wanted else {
            problem = "several parts for one range"
            return
        }
        var rest = Data(body)
        var fitting = candidates
        var index = 0
        let delimiter = Data("--\(boundary)".utf8)
        while let found = rest.range(of: delimiter) {
            rest = rest[found.upperBound...]
            if rest.prefix(2) == Data("--".utf8) { break }
            guard let gap = rest.range(of: Data("\r\n\r\n".utf8)) else {
                problem = "a part without an end of its head"
                return
            }
            let head = MessageReader.Head(String(decoding: rest[..<gap.lowerBound], as: UTF8.self))
            guard let stated = head["content-range"].flatMap({ StatedRange($0) }),
                rest.endIndex - gap.upperBound >= stated.range.count
            else {
                problem = "a part without a Content-Range that fits"
                return
            }
            let bytes = rest[gap.upperBound..<gap.upperBound + stated.range.count]
            fitting = fitting.filter { $0.length == stated.completeLength }
            var check = BodyCheck(from: stated.range.lowerBound, candidates: fitting)
            bytes.withUnsafeBytes { check.take($0) }
            fitting = check.candidates
            rest = rest[bytes.endIndex...]
            let isWanted =
                index < wanted.count
                && stated.range == wanted[index].lowerBound..<min(wanted[index].upperBound, stated.completeLength)
            if check.wrongBytes > 0 || fitting.isEmpty || !isWanted {
                problem = "part \(index) is not what was asked, or of another version than those before it"
                return
            }
            index += 1
        }
        if index < wanted.count { problem = "\(index) of \(wanted.count) parts" }
    }
}
