public import HTTPTypes

/// The directives of a Cache-Control field, of a request or of a response (RFC 9111 §5.2).
///
/// Times are delta-seconds, at most ``longestTime``. `nil` means that the directive is absent.
public struct CacheControl: Sendable, Hashable {
    /// Upper bound of delta-seconds, to which larger values are clamped: 2^31 (RFC 9111 §1.2.2).
    public static let longestTime: Int64 = 1 << 31

    /// How stale a response a request accepts (RFC 9111 §5.2.1.2).
    public enum MaxStale: Sendable, Hashable {
        /// Of any age.
        case any
        /// At most this many seconds beyond its lifetime.
        case seconds(Int64)
    }

    /// `max-age`: seconds from the response's generation during which it is fresh.
    public var maxAge: Int64?
    /// `s-maxage`: the same for shared caches, which also must not serve the response stale.
    public var sharedMaxAge: Int64?
    /// `stale-while-revalidate`: seconds beyond freshness in which it may be served while it is validated (RFC 5861
    /// §3).
    public var staleWhileRevalidate: Int64?
    /// `stale-if-error`: seconds beyond freshness in which it may be served if the origin fails (RFC 5861 §4).
    public var staleIfError: Int64?
    /// `max-stale` of a request.
    public var maxStale: MaxStale?
    /// `min-fresh` of a request: seconds for which the response must still be fresh.
    public var minFresh: Int64?

    /// `no-store`: store nothing of it.
    public var noStore = false
    /// `no-cache` without field names: validate before every use.
    public var noCache = false
    /// Field names of `no-cache="…"`, in lower case: only these need validation.
    public var noCacheFields: [String] = []
    /// `private` without field names: not for shared caches.
    public var isPrivate = false
    /// Field names of `private="…"`, in lower case: only these are kept from shared caches.
    public var privateFields: [String] = []
    /// `public`: may be stored where that would otherwise be forbidden.
    public var isPublic = false
    /// `must-revalidate`: never serve it stale, not even when disconnected.
    public var mustRevalidate = false
    /// `proxy-revalidate`: the same, for shared caches.
    public var proxyRevalidate = false
    /// `must-understand`: store it only if the status code's meaning is known.
    public var mustUnderstand = false
    /// `no-transform`: intermediaries leave the content as it is.
    public var noTransform = false
    /// `immutable`: does not change while it is fresh (RFC 8246).
    public var isImmutable = false
    /// `only-if-cached` of a request: a stored response or a 504.
    public var onlyIfCached = false

    /// No directives.
    public init() {}
}

extension CacheControl {
    /// Reads the Cache-Control fields of a message; without any, there are no directives.
    public init(_ fields: HTTPFields) {
        self.init(fields[.cacheControl] ?? "")
    }

    /// Parses a field value, ignoring anything that cannot be understood.
    ///
    /// Names are compared case-insensitively; arguments may be tokens or quoted strings. If a time is repeated, the
    /// first counts, and a time that is not delta-seconds counts as 0, that is, as stale (RFC 9111 §4.2.1). A value
    /// over 8 KiB counts as `no-store`, because its restrictions cannot be known.
    public init(_ value: String) {
        self.init()
        guard var scanner = FieldScanner(value) else {
            noStore = true
            return
        }
        while !scanner.isAtEnd {
            scanner.skipWhitespace()
            if let name = scanner.token() {
                let argument = Self.argument(&scanner)
                apply(name.lowercased(), argument: argument)
            }
            scanner.skip(to: UInt8(ascii: ","))
            _ = scanner.take()
        }
    }

    /// The argument after `=`: `nil` if there is none, empty if it is invalid.
    private static func argument(_ scanner: inout FieldScanner) -> String? {
        // White space around "=" is not in the grammar, but its meaning is unambiguous.
        var ahead = scanner
        ahead.skipWhitespace()
        guard ahead.skip("=") else { return nil }
        ahead.skipWhitespace()
        let argument = ahead.quotedString() ?? ahead.token() ?? ""
        ahead.skipWhitespace()
        scanner = ahead
        return ahead.isAtEnd || ahead.next == UInt8(ascii: ",") ? argument : ""
    }

    private mutating func apply(_ name: String, argument: String?) {
        switch name {
        case "max-age": maxAge = maxAge ?? Self.deltaSeconds(argument)
        case "s-maxage": sharedMaxAge = sharedMaxAge ?? Self.deltaSeconds(argument)
        case "stale-while-revalidate": staleWhileRevalidate = staleWhileRevalidate ?? Self.deltaSeconds(argument)
        case "stale-if-error": staleIfError = staleIfError ?? Self.deltaSeconds(argument)
        case "min-fresh": minFresh = minFresh ?? Self.deltaSeconds(argument)
        case "max-stale": maxStale = maxStale ?? argument.map { .seconds(Self.deltaSeconds($0)) } ?? .any
        case "no-cache": Self.qualify(&noCache, fields: &noCacheFields, argument: argument)
        case "private": Self.qualify(&isPrivate, fields: &privateFields, argument: argument)
        case "no-store": noStore = true
        case "public": isPublic = true
        case "must-revalidate": mustRevalidate = true
        case "proxy-revalidate": proxyRevalidate = true
        case "must-understand": mustUnderstand = true
        case "no-transform": noTransform = true
        case "immutable": isImmutable = true
        case "only-if-cached": onlyIfCached = true
        default: break
        }
    }

    /// Delta-seconds (RFC 9111 §1.2.2), at most ``longestTime``; `nil` for anything else.
    package static func seconds(_ value: String) -> Int64? {
        guard var scanner = FieldScanner(value), let number = Decimal(scanning: &scanner), scanner.isAtEnd else {
            return nil
        }
        return number.clamped(to: longestTime)
    }

    private static func deltaSeconds(_ argument: String?) -> Int64 {
        argument.flatMap { seconds($0) } ?? 0
    }

    /// With field names the directive applies to these fields only; with no valid name, to the whole response.
    private static func qualify(_ flag: inout Bool, fields: inout [String], argument: String?) {
        var names: [String] = []
        if let argument, var scanner = FieldScanner(argument) {
            let isValid = scanner.list { scanner in
                guard let name = scanner.token() else { return false }
                names.append(name.lowercased())
                return true
            }
            if !isValid { names = [] }
        }
        if names.isEmpty { flag = true }
        for name in names where !fields.contains(name) { fields.append(name) }
    }
}

extension CacheControl: CustomStringConvertible {
    /// The field value, empty without directives.
    public var description: String {
        var parts: [String] = []
        func time(_ name: String, seconds: Int64?) {
            if let seconds { parts.append("\(name)=\(seconds)") }
        }
        func flag(_ name: String, isSet: Bool, fields: [String] = []) {
            if isSet { parts.append(name) }
            if !fields.isEmpty { parts.append("\(name)=\"\(fields.joined(separator: ", "))\"") }
        }
        flag("no-store", isSet: noStore)
        flag("no-cache", isSet: noCache, fields: noCacheFields)
        flag("private", isSet: isPrivate, fields: privateFields)
        flag("public", isSet: isPublic)
        time("max-age", seconds: maxAge)
        time("s-maxage", seconds: sharedMaxAge)
        flag("must-revalidate", isSet: mustRevalidate)
        flag("proxy-revalidate", isSet: proxyRevalidate)
        flag("must-understand", isSet: mustUnderstand)
        flag("no-transform", isSet: noTransform)
        flag("immutable", isSet: isImmutable)
        time("stale-while-revalidate", seconds: staleWhileRevalidate)
        time("stale-if-error", seconds: staleIfError)
        switch maxStale {
        case .any?: parts.append("max-stale")
        case .seconds(let seconds)?: time("max-stale", seconds: seconds)
        case nil: break
        }
        time("min-fresh", seconds: minFresh)
        flag("only-if-cached", isSet: onlyIfCached)
        return parts.joined(separator: ", ")
    }
}
