import HTTPTypes
public import Reprise

/// How one item is loaded; the defaults suit most.
public struct PlaybackOptions: Sendable {
    /// How far beyond what the player asks the file is fetched.
    public enum ReadAhead: Sendable, Hashable {
        /// Not at all: the player's own way of streaming stays as it is.
        case asRequested
        /// So many bytes after the point at which the player stopped asking.
        case ahead(Int64)
        /// To the end, and then what is missing before: the whole file, once it has begun to play.
        case toEnd
    }

    /// Fields of every request for the item, such as `Authorization`; none by default.
    ///
    /// Names must be tokens (RFC 9110 §5.1), values must hold no line breaks and no white space at their ends (§5.5).
    /// Where one does not, nothing is requested: loading fails with `invalidArgument` under `NSURLErrorBadURL`. They are
    /// not part of the cache key: credentials change by the hour. Users do not: set ``partition`` where what one user may
    /// see is not for the next one.
    public var headers: [String: String] = [:]
    /// Whose media these are, such as an account's identifier; `nil`, the default, for everybody's.
    ///
    /// What is stored in one partition is never used for another one. ``MediaCache/removeAll(partition:)`` removes it as a
    /// whole, as when a user signs out.
    public var partition: String?
    /// The key under which the item is stored; `nil`, the default, for the cache's key policy.
    ///
    /// It takes the place of the partition as well.
    public var cacheKey: CacheKey?
    /// What the file is, as a uniform type identifier (`public.mp3`) or a file name extension (`mp3`).
    ///
    /// Wins over everything that the server says; `nil` by default.
    public var fileType: String?
    /// How far beyond what the player asks the file is fetched; not at all by default.
    public var readAhead = ReadAhead.asRequested
    /// Whether what is played is stored; true by default.
    public var isStored = true
    /// Which networks may be used; any by default.
    public var networkPolicy = NetworkPolicy.any
    /// Longest time without a byte before a request fails with `NSURLErrorTimedOut`; 60 s by default.
    ///
    /// Time in which the device sleeps does not count. After the app was suspended the whole time begins again.
    /// AVFoundation itself gives up after 120 s, with an error that tells nothing.
    public var timeout = Duration.seconds(60)

    /// The defaults.
    public init() {}

    /// ``headers`` as they are sent.
    ///
    /// Throws `invalidArgument` for one that cannot be; the message names it, without its value.
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
