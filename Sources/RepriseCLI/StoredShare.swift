import Reprise
import RepriseStreams

/// How much of a file or a stream is stored, as a sentence.
struct StoredShare: CustomStringConvertible {
    let description: String

    /// Looks into the index of the cache in `options`, which is closed: what is recorded there the next run finds.
    init(of transfer: StopSignals.StoppedTransfer, in options: CacheOptions) async {
        await self.init(of: transfer, in: try? options.recordedInspector())
    }

    /// What `inspector` sees; nothing if there is none.
    init(of transfer: StopSignals.StoppedTransfer, in inspector: CacheInspector?) async {
        let name = transfer.name
        guard let inspector else {
            description = Self.nothing(of: name)
            return
        }
        // Of a stream, the file under its name is only the playlist.
        if let stream = await Self.stream(transfer, in: inspector) {
            description = stream
            return
        }
        let entry = try? inspector.entries(of: transfer.key).first
        let bytes = max(entry?.storedBytes ?? 0, transfer.storedBytes ?? 0)
        guard bytes > 0 else {
            description = Self.nothing(of: name)
            return
        }
        let stored = ByteCount(bytes)
        if let length = entry?.information.completeLength, length > 0 {
            description =
                "\(bytes * 100 / length) % of \(name) is stored (\(stored) of \(ByteCount(length)))."
        } else {
            description = "\(stored) of \(name) is stored."
        }
    }

    private static func nothing(of name: String) -> String { "Nothing of \(name) is stored yet." }

    /// The sentence for a stream; `nil` if it is none, as far as is stored.
    private static func stream(
        _ transfer: StopSignals.StoppedTransfer, in inspector: CacheInspector
    ) async -> String? {
        let downloads = try? await Download.all(inspector, policy: transfer.policy, of: transfer.key)
        if let download = downloads?.first, let files = download.files {
            let share = files.stored == files.all ? "All \(files.all)" : "\(files.stored) of \(files.all)"
            return "\(share) files of \(transfer.name) are stored (\(ByteCount(download.storedBytes)))."
        }
        guard let title = try? inspector.title(of: transfer.key), title.isStream else { return nil }
        return "\(ByteCount(title.storedBytes)) of \(transfer.name) and its files are stored."
    }
}
