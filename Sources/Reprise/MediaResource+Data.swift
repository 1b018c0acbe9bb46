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

    /// Begins a read of the bytes before `range`'s upper bound: `read(..<1000)`.
    ///
    /// See ``read(_:fields:directives:demand:onInterim:)``.
    public func read(_ range: PartialRangeUpTo<Int64>) async throws -> MediaRead {
        guard range.upperBound > 0 else {
            throw RepriseError(.invalidArgument, "A range has at least one byte; ..<\(range.upperBound) does not.")
        }
        return try await read(0..<range.upperBound)
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

    /// The bytes of `range`, half-open, in memory: `data(0..<1000)`.
    ///
    /// See ``data(_:)-(RangeSpec?)``.
    public func data(_ range: Range<Int64>) async throws -> Data { try await data(.bounded(range)) }

    /// The origin may name any length: memory beyond this is taken as bytes arrive.
    private static let largestReservation: Int64 = 16 << 20

    /// Writes the whole representation to the file at `path`; missing bytes are fetched and stored along the way.
    ///
    /// The file appears under its name when it is complete, and replaces an existing one. A symbolic link is preserved,
    /// and a pipe or device is written in place. Throws the errors of ``read(_:fields:directives:demand:onInterim:)``,
    /// and `storageUnavailable` when the file cannot be written.
    public func export(to path: String) async throws {
        let read = try await self.read()
        do {
            let file = try await DiskQueue.shared.run { try OutputFile(path: path, existing: .replaced) }
            while let bytes = try await read.nextBytes() { try await DiskQueue.shared.run { try file.write(bytes) } }
            try await DiskQueue.shared.run { try file.finish() }
        } catch let failure as OutputFile.Failure {
            throw RepriseError(.storageUnavailable, failure.message)
        }
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
