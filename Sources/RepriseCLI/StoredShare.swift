import ByteRanges
import Reprise

/// How much of a file is stored, as a sentence.
struct StoredShare: CustomStringConvertible {
    let description: String

    init(_ resource: MediaResource, _ name: String) async {
        let progress = await resource.storedProgress()
        let bytes = progress.ranges.byteCount
        if bytes == 0 {
            description = "Nothing of \(name) is stored yet."
        } else if let length = progress.completeLength, length > 0 {
            description =
                "\(bytes * 100 / length) % of \(name) is stored (\(ByteCount(bytes)) of \(ByteCount(length)))."
        } else {
            description = "\(ByteCount(bytes)) of \(name) is stored."
        }
    }
}
