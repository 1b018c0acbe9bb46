import Foundation
import HTTPSemantics
import HTTPTypes
import Primitives
import Reprise

/// One remote file as an asset needs it: its information, and its bytes at any position, always of one representation.
final class AssetSource: Sendable {
    let cache: MediaCache
    let url: ResourceURL
    let options: PlaybackOptions
    private let fields: Result<HTTPFields, RepriseError>
    /// The life of the item; `nil` where nothing is played.
    private let play: Play?
    /// A type that overrides all others: the app's, or the one for which AVFoundation requests such a file.
    private let fileType: String?

    private struct State {
        /// The request that found out what the file is; kept because the player asks for the file's bytes next.
        var probe: MediaRead?
        var mustBeFetchedWhole = false
        var networkPolicy: NetworkPolicy
    }

    private let state: Mutex<State>

    /// Maximum wait for validating a partly stored file; after it, the stored bytes are played anyway.
    static let checkTimeout = Duration.seconds(5)
    /// How long the first request is kept for a player that has only read its first bytes.
    static let probeTime = Duration.seconds(1)
    /// Minimum size of a fetch for a small read: the player's next read follows immediately, and another request would
    /// cost more.
    static let window: Int64 = 64 << 10

    init(
        _ cache: MediaCache, url: ResourceURL, options: PlaybackOptions, fileType: String? = nil, play: Play? = nil
    ) {
        self.play = play
        state = Mutex(State(networkPolicy: options.networkPolicy))
        self.cache = options.isStored ? cache : cache.withoutStoring()
        self.url = url
        self.options = options
        self.fileType = options.fileType ?? fileType
        fields = Result { () throws(RepriseError) in try options.fields() }
    }

    /// The resource, looked up on each call, because it changes after an eviction or a change at the origin.
    ///
    /// Throws `invalidArgument` if the options contain a field that cannot be sent.
    func resource() throws(RepriseError) -> MediaResource {
        let fields = try fields.get()
        var resource =
            if let key = options.cacheKey {
                try cache.resource(for: url, key: key, fields: fields)
            } else {
                try cache.resource(for: url, fields: fields, partition: options.partition)
            }
        resource.networkPolicy = networkPolicy
        resource.play = play
        return resource
    }

    /// Which networks may be used now.
    var networkPolicy: NetworkPolicy { state.withLock { $0.networkPolicy } }

    /// The options, with the networks that may be used now.
    var currentOptions: PlaybackOptions {
        var options = options
        options.networkPolicy = networkPolicy
        return options
    }

    /// Changes which networks further reads may use.
    func setNetworkPolicy(_ policy: NetworkPolicy) { state.withLock { $0.networkPolicy = policy } }

    /// Whether the origin sends the file only from the beginning, so that bytes the player may skip have to be fetched
    /// too.
    ///
    /// Often this is unknown until the origin answers the player's first request for a later part.
    var mustBeFetchedWhole: Bool {
        if let proven = try? resource().storedInMemory()?.information.rangesSupported { return !proven }
        return state.withLock { $0.mustBeFetchedWhole }
    }

    private var pathExtension: String {
        let name = url.lastPathComponent
        return name.lastIndex(of: ".").map { String(name[name.index(after: $0)...]) } ?? ""
    }

    // MARK: - Information

    /// Determines the asset's information from the stored representation if it is still current, otherwise from the
    /// origin.
    ///
    /// `arrived` is called with each piece that has to come first.
    func discover(arrived: @Sendable () -> Void) async throws -> AssetInformation {
        let resource = try resource()
        if let stored = await resource.stored(), let representation = Representation(stored.information) {
            let found = try await information(stored, of: representation, resource: resource, arrived: arrived)
            // A playlist may change, and its URL did not reveal that it is one; its stored bytes must not be played.
            if let found, found.contentType?.isPlaylist != true { return found }
            guard networkPolicy != .never else { throw notStored(nil) }
            // Validated rather than removed: it may be a download.
            return try await probe(resource.readValidated(.from(0)), arrived: arrived)
        }
        guard networkPolicy != .never else { throw notStored(nil) }
        return try await probe(resource.read(.from(0)), arrived: arrived)
    }

    /// The information of the stored representation; `nil` if the origin has another file by now.
    private func information(
        _ stored: StoredContent, of representation: Representation, resource: MediaResource,
        arrived: @Sendable () -> Void
    ) async throws -> AssetInformation? {
        let known = stored.information
        // A complete file is read like any other: the engine asks the origin if it is stale, once for each item.
        if stored.isComplete, networkPolicy != .never {
            return try await probe(resource.read(.from(0)), arrived: arrived)
        }
        // An incomplete one must be unchanged, because the player cannot be given another length.
        if networkPolicy != .never {
            // In memory, the answer freshens it. An error shows again when the file is read.
            _ = try? await resource.loadStored()
            if await hasChanged(known, of: resource) { return nil }
        }
        noteRanges(known)
        return await information(known, of: representation, isComplete: stored.isComplete) { [self] in
            await firstBytes(try self.resource().read(.bounded(0..<Int64(ContentType.bytesNeeded))))
        }
    }

    /// Determines the asset's information from `read`, which begins at the file's first byte.
    private func probe(_ read: MediaRead, arrived: @Sendable () -> Void) async throws -> AssetInformation {
        var known = read.information
        if let head = read.passedThrough { known = try PassedResponse(head).describe(known) }
        guard !Self.isPage(known.mediaType) else {
            read.cancel()
            throw RepriseError(.originMisbehaved, "\(url.authority) sent a web page instead of media.")
        }
        if known.completeLength == nil {
            known = try await readToEnd(read, known: known, arrived: arrived)
        } else {
            keep(read)
        }
        guard let representation = Representation(known) else { throw Self.lengthUnknown(url) }
        noteRanges(known)
        let isComplete = await (try resource()).stored()?.isComplete ?? false
        return await information(known, of: representation, isComplete: isComplete) { [self] in
            await firstBytes(try resource().read(.bounded(0..<Int64(ContentType.bytesNeeded))))
        }
    }

    /// AVFoundation cannot play a file of unknown length, so it is stored first; its end determines the length.
    private func readToEnd(
        _ read: MediaRead, known: ContentInformation, arrived: @Sendable () -> Void
    ) async throws -> ContentInformation {
        guard read.disposition != .bypass else {
            read.cancel()
            throw Self.lengthUnknown(url)
        }
        while try await read.next() != nil { arrived() }
        return try resource().storedInMemory()?.information ?? known
    }

    private static func lengthUnknown(_ url: ResourceURL) -> RepriseError {
        RepriseError(
            .originMisbehaved,
            "\(url.authority) does not say how long the file is, and it cannot be stored; AVPlayer cannot play it.")
    }

    private static func isPage(_ mediaType: String?) -> Bool {
        mediaType?.lowercased().hasPrefix("text/html") == true
    }

    private func information(
        _ known: ContentInformation, of representation: Representation, isComplete: Bool,
        firstBytes: () async throws -> [UInt8]
    ) async -> AssetInformation {
        var bytes: [UInt8] = []
        if ContentType.needsBytes(override: fileType, mediaType: known.mediaType, pathExtension: pathExtension) {
            // A file of unknown type may still play; a file that cannot be read fails when its bytes are requested.
            bytes = (try? await firstBytes()) ?? []
        }
        return AssetInformation(
            completeLength: representation.completeLength,
            contentType: ContentType.decide(
                override: fileType, mediaType: known.mediaType, pathExtension: pathExtension, firstBytes: bytes),
            isEntirelyStored: isComplete, representation: representation)
    }

    private func firstBytes(_ read: MediaRead) async -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < ContentType.bytesNeeded, let more = try? await read.nextBytes() {
            bytes += more
        }
        read.cancel()
        return bytes
    }

    private func noteRanges(_ known: ContentInformation) {
        state.withLock { $0.mustBeFetchedWhole = known.rangesSupported == false && !known.generation.isEmpty }
    }

    /// Asks whether the origin has another representation now; without an answer, assumes not.
    private func hasChanged(_ known: ContentInformation, of resource: MediaResource) async -> Bool {
        let head = await withTaskGroup(of: HTTPResponse?.self) { [cache] group in
            var condition = HTTPFields()
            condition[.ifNoneMatch] = known.validators.etag?.description
            group.addTask { [condition] in try? await resource.head(fields: condition) }
            group.addTask {
                try? await cache.clock.sleepWhileRunning(Self.checkTimeout)
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
        guard let head, head.status.kind == .successful, let representation = Representation(known) else {
            return false
        }
        return representation.isContradicted(by: head)
    }

    // MARK: - Bytes

    /// Opens the bytes of `range`, which must exist; throws if they belong to another representation by now.
    ///
    /// `skipped` is called with each piece that has to come before them.
    func open(
        _ range: Range<Int64>, of information: AssetInformation, skipped: @escaping @Sendable () -> Void
    ) async throws -> AssetBytes {
        let resource = try resource()
        if resource.networkPolicy == .never { return try await openStored(range, of: information, resource: resource) }
        let length = information.completeLength
        let isSmall = range.upperBound - range.lowerBound < Self.window
        var wanted = range
        if isSmall, await resource.stored()?.ranges.contains(range) != true {
            wanted = range.lowerBound..<min(max(range.upperBound, range.lowerBound + Self.window), length)
        }
        let read = try await resource.read(wanted.upperBound == length ? .from(wanted.lowerBound) : .bounded(wanted))
        if !isSmall { drop() }
        var start = read.start
        var known = read.information
        if let head = read.passedThrough {
            let response = try PassedResponse(head)
            start = response.start
            known = response.describe(known)
        }
        guard information.representation.isSame(as: known), start <= range.lowerBound else {
            read.cancel()
            throw RepriseError(.validatorChanged, "The file changed at the origin while it was being played.")
        }
        return AssetBytes(read, skipping: range.lowerBound - start, skipped: skipped)
    }

    /// Opens the stored bytes from the beginning of `range` on, as far as they reach without a hole.
    private func openStored(
        _ range: Range<Int64>, of information: AssetInformation, resource: MediaResource
    ) async throws -> AssetBytes {
        let content = await resource.stored()
        guard let content, information.representation.isSame(as: content.information) else { throw notStored(range) }
        let prefix = content.ranges.storedPrefix(from: range.lowerBound)
        guard !prefix.isEmpty else { throw notStored(range) }
        let read = try await resource.read(.bounded(range.lowerBound..<min(prefix.upperBound, range.upperBound)))
        return AssetBytes(read, skipping: range.lowerBound - read.start) {}
    }

    private func notStored(_ range: Range<Int64>?) -> RepriseError {
        let what = range.map { "Byte \($0.lowerBound) of \(url.redacted)" } ?? url.redacted
        return RepriseError(
            .notStored, "\(what) is not stored, and this item may use no network; download it first, or allow one.",
            range: range)
    }

    private func keep(_ read: MediaRead) {
        state.withLock { $0.probe = read }
        Task(priority: .userInitiated) { [cache, weak self] in
            try? await cache.clock.sleep(Self.probeTime)
            self?.drop()
        }
    }

    /// Releases the first request: another read has taken over, or none followed.
    func drop() {
        let probe = state.withLock { state in
            defer { state.probe = nil }
            return state.probe
        }
        probe?.cancel()
    }
}
