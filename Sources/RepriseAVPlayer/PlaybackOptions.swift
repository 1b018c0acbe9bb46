import HTTPTypes
public import Reprise

/// How one item is loaded; the defaults suit most.
public struct PlaybackOptions: Sendable, Hashable {
    /// How far beyond the player's requests the file is fetched.
    public enum ReadAhead: Sendable, Hashable {
        /// Not at all: the player's own way of streaming is unchanged.
        case asRequested
        /// This many bytes beyond the point at which the player stopped asking.
        case ahead(Int64)
        /// To the end, and then the missing bytes before: the whole file, once it has started to play.
        case toEnd
    }

    /// Header fields of every request for the item, such as `Authorization`; none by default.
    ///
    /// Names must be tokens (RFC 9110 §5.1); values must not contain line breaks or begin or end with white space
    /// (§5.5). Otherwise nothing is requested, and loading fails with `invalidArgument` under `NSURLErrorBadURL`. The
    /// fields are not part of the cache key, because credentials change by the hour. If one user must not see what
    /// another user may, set ``partition``. Of an HLS stream's files, those on the host of an item's own URL are
    /// requested with them, and those elsewhere without.
    public var headers: [String: String] = [:]
    /// The partition that the media belong to, such as an account's identifier; `nil`, the default, for none.
    ///
    /// Entries of one partition are never used for another. ``MediaCache/removeAll(partition:)`` removes them all, for
    /// example when a user signs out.
    public var partition: String?
    /// The key under which the item is stored; `nil`, the default, for the cache's key policy.
    ///
    /// Also overrides the partition. For an HLS stream it is the key of the playlist at the item's URL; the other files
    /// of the stream are in no partition.
    public var cacheKey: CacheKey?
    /// The type of the file, as a uniform type identifier (`public.mp3`) or a file name extension (`mp3`).
    ///
    /// Overrides everything that the server declares; `nil` by default. `m3u8` says that a URL without that extension
    /// is an HLS stream.
    public var fileType: String?
    /// How far beyond the player's requests the file is fetched; not at all by default.
    public var readAhead = ReadAhead.asRequested
    /// Whether played media are stored; true by default.
    public var isStored = true
    /// Which networks may be used; any by default.
    ///
    /// `setNetworkPolicy(_:for:)` of the cache changes it while an item plays. ``NetworkPolicy/never`` allows none:
    /// see ``storedOnly``.
    public var networkPolicy = NetworkPolicy.any
    /// Longest time without a byte before a request fails with `NSURLErrorTimedOut`; 60 s by default.
    ///
    /// Time in which the device sleeps does not count. After the app was suspended the whole time starts again.
    /// Bytes that are stored first, of a file of unknown length, count. AVFoundation itself gives up after 120 s, with
    /// an unhelpful error. For HLS streams its own, shorter timeouts apply.
    public var timeout = Duration.seconds(60)

    /// Creates options with these headers and this partition; everything else has its default.
    public init(headers: [String: String] = [:], partition: String? = nil) {
        self.headers = headers
        self.partition = partition
    }

    /// Options of an item that never uses the network: for thumbnails, waveforms and playback from disk.
    ///
    /// Stored bytes are read, however stale. The first byte that is not stored is an error, `notStored`, which
    /// AVFoundation reports as `NSURLErrorCannotOpenFile`.
    public static let storedOnly: PlaybackOptions = {
        var options = PlaybackOptions()
        options.networkPolicy = .never
        return options
    }()

    /// The partition of an item's entries: none if they have a key of their own, which overrides it.
    var partitionOfEntries: String? { cacheKey == nil ? partition : nil }

    /// ``headers`` as header fields.
    ///
    /// Throws `invalidArgument` for a field that cannot be sent; the message contains its name without its value.
    func fields() throws(RepriseError) -> HTTPFields {
        var fields = HTTPFields()
        for (name, value) in headers {
            guard let fieldName = HTTPField.Name(name) else {
                throw RepriseError(.invalidArgument, "\"\(name)\" is not a field name (RFC 9110 §5.1).")
            }
            guard HTTPField.isValidValue(value) else {
                throw RepriseError(
                    .invalidArgument, "The value of \(name) has line breaks, or white space at an end (RFC 9110 §5.5).")
            }
            fields[fieldName] = value
        }
        return fields
    }
}
