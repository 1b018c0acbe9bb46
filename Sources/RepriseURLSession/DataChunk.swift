public import Foundation
public import Reprise

/// A piece of a response body as URLSession delivered it: a `Data` or a slice of one.
///
/// The system's `Data` may consist of several regions; ``withUnsafeBytes(_:)`` then joins them, which copies.
/// Every chunk of a ``URLSessionOrigin`` body has this type.
public struct DataChunk: ByteChunk {
    /// The bytes; its indices need not begin at 0.
    public let data: Data

    /// Wraps `data`.
    public init(_ data: Data) {
        self.data = data
    }

    /// Number of bytes.
    public var count: Int { data.count }

    /// Calls `body` with the bytes; the pointer is valid only during the call.
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try data.withUnsafeBytes(body)
    }
}

extension Data: BodyPiece {
    package var byteCount: Int { count }

    package func copied(capacity: Int) -> Data {
        var copy = Data(capacity: Swift.max(capacity, count))
        copy.append(contentsOf: self)
        return copy
    }

    package mutating func removeFirst(_ count: Int) -> Data {
        defer { self = dropFirst(count) }
        return prefix(count)
    }
}
