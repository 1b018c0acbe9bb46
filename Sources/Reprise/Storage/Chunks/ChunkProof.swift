/// Checks stored chunks against their records.
struct ChunkProof: Sendable {
    private let sealer: ChunkSealer?

    init(_ record: GenerationRecord, in index: Index) {
        sealer = index.database.codec.vault.map { vault in
            vault.sealer(name: index.name(of: record.key), generation: record.id, salt: record.salt)
        }
    }

    /// The plain bytes of `chunk`; `nil` unless they match its record.
    func bytes(of chunk: Chunk, in file: DataFile) -> [UInt8]? {
        guard let bytes = try? file.read(at: chunk.start, count: Int(chunk.length)), bytes.count == Int(chunk.length)
        else { return nil }
        if let sealer { return sealer.open(bytes, of: chunk).map { [UInt8]($0) } }
        return bytes.withUnsafeBytes { XXHash64.checksum(of: $0) } == chunk.checksum ? bytes : nil
    }
}
