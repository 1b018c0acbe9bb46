/// A generation as the index has it.
struct RecordedGeneration: Sendable {
    let record: GenerationRecord
    let usage: Usage
    /// Its chunks, by block.
    let chunks: [Int64: [Chunk]]
}
