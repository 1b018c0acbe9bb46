import Foundation
import HTTPSemantics
import HTTPTypes
import Primitives
import Reprise

/// The bytes of one loading request, in order, each piece at most 1 MiB.
final class AssetBytes: Sendable {
    private let read: MediaRead
    private let skip: Skip
    private let skipped: @Sendable () -> Void

    /// The read starts `skipping` bytes before the wanted range, because an origin that ignores ranges begins at offset
    /// 0; `skipped` is called with each piece that is skipped.
    init(_ read: MediaRead, skipping: Int64, skipped: @escaping @Sendable () -> Void) {
        self.read = read
        self.skipped = skipped
        skip = Skip(skipping)
    }

    /// The next bytes; `nil` at the end.
    ///
    /// Must not be called concurrently.
    func next() async throws -> Data? {
        while let bytes = try await read.nextBytes() {
            let dropped = skip.take(bytes.count)
            if dropped == bytes.count {
                skipped()
                continue
            }
            return dropped == 0 ? Data(bytes) : Data(bytes.dropFirst(dropped))
        }
        return nil
    }

    func cancel() { read.cancel() }
}

/// The number of bytes still to skip.
private final class Skip: Sendable {
    private let left: Mutex<Int64>

    init(_ count: Int64) { left = Mutex(count) }

    /// Returns how many of the next `count` bytes to skip.
    func take(_ count: Int) -> Int {
        left.withLock { left in
            let dropped = min(left, Int64(count))
            left -= dropped
            return Int(dropped)
        }
    }
}

/// A response that bypasses the store unchanged, for example because of `no-store`.
struct PassedResponse {
    /// Offset of its first byte in the representation.
    let start: Int64
    private let completeLength: Int64?

    /// Throws `originMisbehaved` for a response whose bytes are not the file's: a content coding, or an unexpected
    /// range.
    init(_ head: HTTPResponse) throws(RepriseError) {
        if head.headerFields.contentCoding != nil {
            throw RepriseError(
                .originMisbehaved, "The origin compresses the file, so that no part of it can be asked for.")
        }
        guard head.status == .partialContent else {
            start = 0
            completeLength = head.headerFields[.contentLength].flatMap { contentLength($0) }
            return
        }
        guard let field = head.headerFields[.contentRange], let range = ContentRange(field),
            case .satisfied(let bytes, let length) = range
        else {
            throw RepriseError(.originMisbehaved, "The origin's 206 does not say which bytes it holds.")
        }
        start = bytes.lowerBound
        completeLength = length
    }

    /// Returns `information` with the length from the response.
    func describe(_ information: ContentInformation) -> ContentInformation {
        var information = information
        information.completeLength = completeLength
        return information
    }
}
