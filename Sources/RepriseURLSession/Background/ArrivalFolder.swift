import Foundation
import Reprise

/// The folder in which responses lie that have come in the background, until the engine has stored them.
///
/// Beside each body lies its head, which is written first: a body without a head is none.
struct ArrivalFolder: Sendable {
    private let folder: URL

    private static let (headExtension, bodyExtension) = ("json", "body")

    /// Makes the folder, for this user only, as far as that is possible.
    init(_ folder: URL) {
        self.folder = folder
        var attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
        #if canImport(Darwin)
            // Transfers end while the device is locked.
            attributes[.protectionKey] = FileProtectionType.completeUntilFirstUserAuthentication
        #endif
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true, attributes: attributes)
    }

    /// Where the body of a transfer lies.
    func body(of record: TransferRecord) -> URL { file(record.id.uuidString, Self.bodyExtension) }

    private func head(of record: TransferRecord) -> URL { file(record.id.uuidString, Self.headExtension) }

    private func file(_ name: String, _ pathExtension: String) -> URL {
        folder.appendingPathComponent(name).appendingPathExtension(pathExtension)
    }

    /// Takes over `file`.
    ///
    /// Throws ``RepriseError`` with code `storageFull` or `storageUnavailable`, and then nothing of it is kept.
    func add(_ arrival: Arrival, from file: URL) throws(RepriseError) {
        do {
            try JSONEncoder().encode(arrival).write(to: head(of: arrival.record), options: .atomic)
            try FileManager.default.moveItem(at: file, to: body(of: arrival.record))
        } catch {
            remove(arrival.record)
            throw Failures.keeping(error)
        }
    }

    /// Drops a response.
    func remove(_ record: TransferRecord) {
        // The head last: a body without one is never found again.
        try? FileManager.default.removeItem(at: body(of: record))
        try? FileManager.default.removeItem(at: head(of: record))
    }

    /// What an earlier process has left, and the names of what cannot be read now, such as before the device is
    /// unlocked for the first time; drops what is not whole.
    ///
    /// Only before anything is added.
    func arrivals() -> (arrivals: [Arrival], unread: Set<String>) {
        let files = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
        let heads = files.filter { $0.pathExtension == Self.headExtension }
        let (arrivals, unread) = read(Set(heads.map(Self.name)))
        let names = unread.union(arrivals.map(\.record.id.uuidString))
        for file in files where !names.contains(Self.name(file)) { try? FileManager.default.removeItem(at: file) }
        return (arrivals, unread)
    }

    /// Those of these names that are whole, and the names of those that cannot be read now.
    func read(_ names: Set<String>) -> (arrivals: [Arrival], unread: Set<String>) {
        var (arrivals, unread): ([Arrival], Set<String>) = ([], [])
        for name in names {
            guard let data = try? Data(contentsOf: file(name, Self.headExtension)) else {
                unread.insert(name)
                continue
            }
            guard let arrival = try? JSONDecoder().decode(Arrival.self, from: data),
                Self.length(of: body(of: arrival.record)) == arrival.length
            else { continue }
            arrivals.append(arrival)
        }
        return (arrivals, unread)
    }

    private static func name(_ file: URL) -> String { file.deletingPathExtension().lastPathComponent }

    /// The length of a file; `nil` if there is none.
    static func length(of file: URL) -> Int64? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: file.path)
        return (attributes?[.size] as? NSNumber)?.int64Value
    }
}
