/// The one error type of Reprise; every public function throws this or `CancellationError`.
public struct RepriseError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure.
    ///
    /// New kinds may be added, so match with `==` and provide a default.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The name used in logs and JSON.
        public let description: String

        package init(_ name: String) { description = name }
    }

    /// The kind of failure.
    public let code: Code
    /// What happened and how to remedy it, for people.
    ///
    /// Contains no query string and no header value.
    public let message: String
    /// The underlying error, if there is one.
    public let cause: (any Error)?
    /// The requested bytes, half-open, if the error concerns a range.
    public let range: Range<Int64>?

    /// The origin's response, for code `originRefused`.
    public let refusal: OriginRefusal?

    /// The status of the origin's response, such as 404, for code `originRefused`; `nil` for other codes.
    public var statusCode: Int? { refusal?.head.status.code ?? reportedStatus }

    /// The status in an error that another process has reported.
    private var reportedStatus: Int?

    /// What prevents storing, for the codes `storageFull` and `notStored`, where that is known; the command says it in
    /// its own words.
    package internal(set) var obstacle: StorageObstacle?

    /// What may help, where the code does not tell; recorded with a download that failed.
    package internal(set) var remedy: Remedy?

    /// What may help against an error; its names are on disk.
    package enum Remedy: String, Sendable {
        /// The origin sent something else than it was asked for, as many do in place of a log-in.
        case logIn
    }

    /// Creates an error.
    public init(
        _ code: Code, _ message: String, cause: (any Error)? = nil, range: Range<Int64>? = nil,
        refusal: OriginRefusal? = nil
    ) {
        self.refusal = refusal
        self.code = code
        self.message = message
        self.cause = cause
        self.range = range
    }

    /// The error that another process has reported, with the status of the origin's response.
    package init(reported code: String, _ message: String, status: Int?) {
        self.init(Code(code), message)
        reportedStatus = status
    }

    /// One line: code, message, cause.
    public var description: String {
        let reason = cause.map { " (\($0))" } ?? ""
        return "\(code): \(message)\(reason)"
    }
}

extension RepriseError.Code {
    /// A URL that cannot be fetched: scheme, host, port or characters.
    public static let invalidURL = Self("invalidURL")
    /// An argument outside its documented domain.
    public static let invalidArgument = Self("invalidArgument")
    /// The origin's name could not be resolved.
    public static let originNotFound = Self("originNotFound")
    /// This device has no network that the request may use.
    ///
    /// Not retried: only a network change helps.
    public static let networkUnavailable = Self("networkUnavailable")
    /// No connection: refused, unreachable, reset before a response.
    public static let originUnreachable = Self("originUnreachable")
    /// TLS failed: the certificate is not trusted, or the protocol broke.
    public static let originNotTrusted = Self("originNotTrusted")
    /// The origin took longer than the configured time to connect, answer or go on.
    public static let originTimedOut = Self("originTimedOut")
    /// The connection ended before the declared end of the body.
    public static let originBodyTruncated = Self("originBodyTruncated")
    /// The origin's answer is not HTTP, or contradicts the request or itself.
    public static let originMisbehaved = Self("originMisbehaved")
    /// Too many redirects (more than twenty), a redirect loop, or a redirect to a URL that is not HTTP.
    public static let originRedirectRefused = Self("originRedirectRefused")
    /// Policy forbids the target: a private address, a host not on the list, or a proxy that refuses it or the log-in.
    public static let originForbidden = Self("originForbidden")
    /// The origin answered with an error status; ``RepriseError/refusal`` has the response.
    public static let originRefused = Self("originRefused")
    /// The representation changed at the origin while it was being read; RFC 9110 §8.8.
    public static let validatorChanged = Self("validatorChanged")
    /// The wanted range lies outside the representation; RFC 9110 §15.5.17.
    public static let rangeNotSatisfiable = Self("rangeNotSatisfiable")
    /// The origin sends the whole in place of a range (RFC 9110 §14.2), and the range alone was wanted.
    static let rangesUnsupported = Self("rangesUnsupported")
    /// The cache directory or its index cannot be opened or written.
    public static let storageUnavailable = Self("storageUnavailable")
    /// Another process uses the cache directory.
    public static let storageLocked = Self("storageLocked")
    /// The limit leaves no room for the bytes, even after eviction.
    public static let storageFull = Self("storageFull")
    /// The key of an encrypted cache cannot be obtained, or the cache needs one and none was given.
    public static let keyUnavailable = Self("keyUnavailable")
    /// Nothing is stored under that key.
    public static let notStored = Self("notStored")
    /// A stream that no download can keep: it goes on, is protected, or has nothing of what was selected; or something
    /// else came in place of its playlist.
    public static let notDownloadable = Self("notDownloadable")
    /// A download waits for the hours in which downloads may run.
    public static let deferred = Self("deferred")
    /// The cache was closed.
    public static let closed = Self("closed")
}
