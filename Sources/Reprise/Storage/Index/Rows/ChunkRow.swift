import Foundation
import GRDB

/// A row of `chunk`: the chunks in one block of a generation.
struct ChunkRow: IndexRow {
    let block: Int64
    /// The chunks, packed.
    let chunks: Data

    init?(_ row: Row) {
        guard let block: Int64 = row.value("block"), let chunks: Data = row.value("chunks") else { return nil }
        (self.block, self.chunks) = (block, chunks)
    }

    init(block: Int64, chunks: [Chunk]) { (self.block, self.chunks) = (block, Data(chunks.packed)) }

    /// Adds or replaces the row of `generation`.
    func save(for generation: Int64, in database: Database) throws {
        try database.execute(
            sql: "INSERT OR REPLACE INTO chunk (generation, block, chunks) VALUES (?, ?, ?)",
            arguments: [generation, block, chunks])
    }
}

/// A row of `chunk`, including its generation.
struct GenerationChunkRow: IndexRow {
    let generation: Int64
    let chunk: ChunkRow

    init?(_ row: Row) {
        guard let generation: Int64 = row.value("generation"), let chunk = ChunkRow(row) else { return nil }
        (self.generation, self.chunk) = (generation, chunk)
    }
}
