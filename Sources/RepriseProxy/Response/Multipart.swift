import HTTPSemantics
import Reprise

/// The delimiters between the parts of a multipart/byteranges body (RFC 9110 §14.6).
struct Multipart {
    let boundary: String
    /// Before each part.
    let heads: [String]
    let end: String
    /// Length of the whole body, in bytes.
    let contentLength: Int64

    init(_ ranges: [Range<Int64>], information: ContentInformation, completeLength: Int64) {
        // Random, so that content cannot be crafted to contain it.
        let boundary = "reprise-\(String(UInt64.random(in: 0 ... .max), radix: 36))"
        self.boundary = boundary
        let type = information.mediaType.map { "Content-Type: \($0)\r\n" } ?? ""
        heads = ranges.enumerated().map { index, range in
            let content = "Content-Range: bytes \(range.lowerBound)-\(range.upperBound - 1)/\(completeLength)\r\n\r\n"
            return "\(index == 0 ? "" : "\r\n")--\(boundary)\r\n\(type)\(content)"
        }
        end = "\r\n--\(boundary)--\r\n"
        contentLength =
            heads.reduce(Int64(end.utf8.count)) { $0 + Int64($1.utf8.count) }
            + ranges.reduce(0) { $0 + $1.upperBound - $1.lowerBound }
    }
}
