public import Foundation
import HTTPSemantics

/// What a program asks of a file that it would otherwise load with `URLSession`.
extension MediaResource {
    /// Begins a read of `range`, half-open, in bytes: `read(0..<1000)`.
    ///
    /// See ``read(_:fields:directives:demand:onInterim:)``.
    public func read(_ range: Range<Int64>) async throws -> MediaRead { try await read(.bounded(range)) }

    /// Begins a read of `range`, in bytes: `read(0...999)`.
    ///
    /// See ``read(_:fields:directives:demand:onInterim:)``.
    public func read(_ range: ClosedRange<Int64>) async throws -> MediaRead {
        guard range.upperBound < .max else { return try await read(range.lowerBound...) }
        return try await read(.bounded(Range(range)))
    }

    /// Begins a read from `range`'s first byte to the end: `read(1000...)`.
    ///
    /// See ``read(_:fields:directives:demand:onInterim:)``.
    public func read(_ range: PartialRangeFrom<Int64>) async throws -> MediaRead {
        try await read(.from(range.lowerBound))
    }

    /// The bytes of `range`, or of the whole file, in memory.
    ///
    /// For artwork, manifests and the like: a film does not fit. ``read(_:fields:directives:demand:onInterim:)`` gives
    /// pieces of at most 1 MiB instead. Throws what that throws.
    public func data(_ range: RangeSpec? = nil) async throws -> Data {
        let read = try await read(range)
        var data = Data()
        if let count = read.count { data.reserveCapacity(Int(clamping: min(count, Self.largestReservation))) }
        while let bytes = try await read.nextBytes() { data.append(contentsOf: bytes) }
        return data
    }

    /// The origin may name any length: memory beyond this is taken as bytes arrive.
    private static let largestReservation: Int64 = 16 << 20

    /// Whether every byte is on disk; looks into the index, never at the network.
    public var isCached: Bool {
        get async { await storedProgress().isComplete }
    }

    /// The data file, if every byte is on disk and the cache is not encrypted; `nil` otherwise.
    ///
    /// For programs that take files only. The file has no extension, must not be changed, and goes when the entry is
    /// evicted or removed: pin it (``MediaCache/retain(_:as:)``) as long as the file is in use. Its bytes are not
    /// compared with their checksums, and its use is not noted: ``export(to:)-(String)`` does both.
    public func fileURL() async -> URL? {
        guard let store = core.engine.store, let generation = try? await core.current().stored(for: originRequest),
            generation.sealer == nil, generation.isStored(nil)
        else { return nil }
        return URL(fileURLWithPath: store.path(generation.record))
    }

    /// Writes the whole file to `file`; see ``export(to:)-(String)``.
    ///
    /// Throws ``RepriseError``, `invalidArgument` for what is no file URL among it, or `CancellationError`.
    public func export(to file: URL) async throws {
        guard file.isFileURL else {
            throw RepriseError(.invalidArgument, "Only a file URL can be written to.")
        }
        try await export(to: file.path)
    }
}
