import Reprise

/// How much of a file is stored, as a sentence.
struct StoredShare: CustomStringConvertible {
    let description: String

    /// Looks into the index of the cache in `options`, which is closed: what is recorded there the next run finds.
    init(_ key: CacheKey, name: String, in options: CacheOptions) {
        let entries = try? options.recordedInspector().entries()
        // Behind a line feed stands what tells the variants of one URL apart.
        let entry = entries?.first { $0.key == key || $0.key.text.prefix { $0 != "\n" } == key.text }
        guard let entry, entry.storedBytes > 0 else {
            description = "Nothing of \(name) is stored yet."
            return
        }
        let stored = ByteCount(entry.storedBytes)
        if let length = entry.information.completeLength, length > 0 {
            description =
                "\(entry.storedBytes * 100 / length) % of \(name) is stored (\(stored) of \(ByteCount(length)))."
        } else {
            description = "\(stored) of \(name) is stored."
        }
    }
}
