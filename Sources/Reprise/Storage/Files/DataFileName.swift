/// The name of a data file: the hash of its key, a hyphen, and the number of its generation.
///
/// Files with other names are not the cache's, whatever directory it was given: it never removes them.
struct DataFileName: Equatable {
    let hash: String
    let generation: Int64

    private static let hashDigits = 64

    init(hash: String, generation: Int64) {
        self.hash = hash
        self.generation = generation
    }

    /// Parses the name of a file in `folder` of the media; `nil` for a file that no cache makes.
    init?(_ name: String, in folder: String) {
        let parts = name.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, name.hasPrefix(folder), Self.isFolder(folder), parts[0].utf8.count == Self.hashDigits,
            parts.allSatisfy({ $0.utf8.allSatisfy(Self.isDigit) }), !parts[1].isEmpty,
            let number = UInt64(parts[1], radix: 16)
        else { return nil }
        hash = String(parts[0])
        generation = Int64(bitPattern: number)
    }

    /// The path of the file in the cache's directory.
    ///
    /// No part of a URL appears in it.
    func path(in directory: String) -> String {
        "\(directory)/media/\(hash.prefix(2))/\(hash)-\(String(UInt64(bitPattern: generation), radix: 16))"
    }

    /// Whether `name` is that of a folder of data files: the first two digits of their hashes.
    static func isFolder(_ name: String) -> Bool { name.utf8.count == 2 && name.utf8.allSatisfy(isDigit) }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte) }
}
