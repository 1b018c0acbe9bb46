import Crypto
import Foundation
import HTTPTypes

/// A layer that signs GET and HEAD requests with AWS Signature Version 4, for Amazon S3 and compatible servers.
///
///     let origin = SigningOrigin(NIOOrigin()) { url in
///         url.host == "media.s3.eu-central-1.amazonaws.com" ? credentials : nil
///     }
///
/// Every request on the wire gets a signature of its own, retries and redirects included, for the host that it is sent
/// to. Signatures are not part of cache keys, and a signed response is stored as an unsigned one would be. `Range` and
/// fields that begin with `x-amz-` are signed. URLs that are signed already (`X-Amz-Signature`) are left alone.
///
/// The wrapped client must send ``OriginRequest/authenticated()``, as `NIOOrigin` and `URLSessionOrigin` do; other
/// clients send no signature. A wrapped `URLSessionOrigin` does not transfer in the background.
public struct SigningOrigin: Origin {
    /// An access key and the region that it is used in.
    ///
    /// Its description shows neither the secret nor the session token.
    public struct Credentials: Sendable, Hashable, CustomStringConvertible {
        /// The access key ID, which is not a secret.
        public var accessKeyID: String
        /// The secret access key; it is never sent.
        public var secretAccessKey: String
        /// The token of temporary credentials; `nil` for permanent ones.
        public var sessionToken: String?
        /// The region of the bucket, such as `eu-central-1`.
        public var region: String

        /// Creates credentials, permanent ones by default.
        public init(accessKeyID: String, secretAccessKey: String, sessionToken: String? = nil, region: String) {
            (self.accessKeyID, self.secretAccessKey) = (accessKeyID, secretAccessKey)
            (self.sessionToken, self.region) = (sessionToken, region)
        }

        /// The access key ID and the region.
        public var description: String { "\(accessKeyID) (\(region))" }
    }

    private let next: any Origin
    private let clock: CacheClock
    private let credentials: @Sendable (ResourceURL) async -> Credentials?

    /// Creates a layer over `origin`.
    ///
    /// `credentials` returns those for the host of a URL, and `nil` if its requests are not signed. It is called before
    /// each request, also for hosts that other hosts redirect to, from any thread. Servers refuse a signature whose
    /// time, that of `clock`, is more than 15 minutes off.
    public init(
        _ origin: any Origin, clock: CacheClock = .system,
        credentials: @escaping @Sendable (ResourceURL) async -> Credentials?
    ) {
        (next, self.clock, self.credentials) = (origin, clock, credentials)
    }

    /// Sends `request` through the wrapped client, which has it signed once it knows where it goes.
    ///
    /// Throws what the client throws. A signature that is refused is a response like any other.
    public func send(_ request: OriginRequest) async throws -> OriginResponse {
        var request = request
        request.context.authenticate = { [self, outer = request.context.authenticate] request in
            await signed(outer?(request) ?? request)
        }
        return try await next.send(request)
    }

    private func signed(_ request: OriginRequest) async -> OriginRequest {
        guard !request.url.isPresigned, let credentials = await credentials(request.url) else { return request }
        var request = request
        let signature = SignatureV4(credentials, at: clock.wallClock())
        request.fields[.amzDate] = signature.time
        request.fields[.amzContentSHA256] = SignatureV4.emptyHash
        request.fields[.amzSecurityToken] = credentials.sessionToken
        let signedFields = request.fields.filter { $0.name == .range || $0.name.canonicalName.hasPrefix("x-amz-") }
        request.fields[.authorization] = signature.authorization(
            method: request.method, url: request.url, fields: signedFields)
        return request
    }
}

extension OriginRequest {
    /// The request with the fields that authenticate it at the host of its URL, such as those of ``SigningOrigin``.
    ///
    /// A client sends this in place of each request, also of those that follow redirects, so that no field reaches
    /// another host. Methods other than GET and HEAD are not authenticated, because permission to read need not be
    /// permission to write.
    public func authenticated() async -> OriginRequest {
        guard method == .get || method == .head, let authenticate = context.authenticate else { return self }
        return await authenticate(self)
    }
}

/// AWS Signature Version 4 of a request without a body.
///
/// As S3 requires, paths are percent-encoded once and not normalized.
struct SignatureV4 {
    private let credentials: SigningOrigin.Credentials
    private let service: String
    /// The time of the request, such as `20130524T000000Z`.
    let time: String

    /// The hash of no bytes.
    static let emptyHash = hexadecimal(SHA256.hash(data: Data()))

    init(_ credentials: SigningOrigin.Credentials, service: String = "s3", at date: Date) {
        (self.credentials, self.service) = (credentials, service)
        time = date.formatted(Date.ISO8601FormatStyle(dateSeparator: .omitted, timeSeparator: .omitted))
    }

    /// The value of `Authorization`; `Host` and all of `fields` are signed.
    func authorization(method: HTTPRequest.Method, url: ResourceURL, fields: HTTPFields) -> String {
        var values = ["host": [url.authority]]
        for field in fields { values[field.name.canonicalName, default: []].append(field.value) }
        let names = values.keys.sorted()
        let headers = names.map { name in
            let list = values[name, default: []].map { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
            return "\(name):\(list.joined(separator: ","))\n"
        }
        let path = Self.encoded(url.target.prefix { $0 != "?" }, keeping: UInt8(ascii: "/"))
        let query = url.queryItems.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
        let signedHeaders = names.joined(separator: ";")
        let canonicalRequest =
            "\(method.rawValue)\n\(path)\n\(query)\n\(headers.joined())\n\(signedHeaders)\n\(Self.emptyHash)"
        let scope = [String(time.prefix(8)), credentials.region, service, "aws4_request"]
        var key = SymmetricKey(data: Data("AWS4\(credentials.secretAccessKey)".utf8))
        for part in scope { key = SymmetricKey(data: Self.code(part, key)) }
        let scopeText = scope.joined(separator: "/")
        let requestHash = hexadecimal(SHA256.hash(data: Data(canonicalRequest.utf8)))
        let signature = Self.code("AWS4-HMAC-SHA256\n\(time)\n\(scopeText)\n\(requestHash)", key)
        return "AWS4-HMAC-SHA256 Credential=\(credentials.accessKeyID)/\(scopeText), "
            + "SignedHeaders=\(signedHeaders), Signature=\(hexadecimal(signature))"
    }

    private static func code(_ text: String, _ key: SymmetricKey) -> HMAC<SHA256>.MAC {
        HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: key)
    }

    /// `text` with every byte percent-encoded except unreserved characters (RFC 3986 §2.3) and `kept`.
    ///
    /// Percent-encoded bytes are decoded first: a server computes the signature from what it has decoded.
    fileprivate static func encoded(_ text: some StringProtocol, keeping kept: UInt8? = nil) -> String {
        var rest = Array(text.utf8)[...]
        var encoded = ""
        while var byte = rest.popFirst() {
            let digits = rest.prefix(2)
            if byte == UInt8(ascii: "%"), digits.count == 2,
                digits.allSatisfy({ UnicodeScalar($0).properties.isASCIIHexDigit }),
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            {
                byte = value
                rest.removeFirst(2)
            }
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"), kept:
                encoded.unicodeScalars.append(UnicodeScalar(byte))
            default: encoded += "%" + hexadecimal([byte]).uppercased()
            }
        }
        return encoded
    }
}

extension ResourceURL {
    /// Whether the query has a signature: of version 4, or `AWSAccessKeyId` for version 2.
    fileprivate var isPresigned: Bool {
        queryItems.contains { ["X-Amz-Signature", "AWSAccessKeyId"].contains($0.name) }
    }

    /// The query items, encoded and sorted as ``SignatureV4`` requires; a plus sign stands for a space.
    fileprivate var queryItems: [(name: String, value: String)] {
        guard let question = target.firstIndex(of: "?") else { return [] }
        return target[target.index(after: question)...].split(separator: "&").map { item in
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                .map { SignatureV4.encoded($0.replacing("+", with: " ")) }
            return (parts[0], parts.count > 1 ? parts[1] : "")
        }
        .sorted { ($0.name, $0.value) < ($1.name, $1.value) }
    }
}

extension HTTPField.Name {
    // These names are valid.
    fileprivate static let amzDate = Self("x-amz-date") ?? .date
    fileprivate static let amzContentSHA256 = Self("x-amz-content-sha256") ?? .date
    fileprivate static let amzSecurityToken = Self("x-amz-security-token") ?? .date
}
