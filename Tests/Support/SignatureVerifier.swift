import Crypto
public import Foundation
import HTTPTypes
public import RepriseTesting

/// Verifies AWS Signature Version 4 as a server of S3 does, from the bytes that it received.
public struct SignatureVerifier: Sendable {
    /// The access key ID that it knows.
    public var accessKeyID = "AKIAIOSFODNN7EXAMPLE"
    /// The secret of that key.
    public var secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
    /// The token that belongs to the key; `nil` for a permanent key.
    public var sessionToken: String?
    /// The region of the server.
    public var region = "eu-central-1"
    /// The time of the server.
    public var now: @Sendable () -> Date = { Date() }

    /// A verifier of the key in AWS's documentation.
    public init() {}

    /// `resource`, which answers 403 to requests without a valid signature.
    public func guarding(_ resource: TestOrigin.Resource) -> TestOrigin.Resource {
        var guarded = resource
        guarded.override = { request, attempt in
            guard let objection = objection(to: request) else {
                return resource.override?(request, attempt) ?? resource.personality
            }
            return TestOrigin.Personality {
                $0.status = 403
                $0.statusBody = Array(objection.utf8)
            }
        }
        return guarded
    }

    /// Why `request` is refused; `nil` if its signature is valid.
    public func objection(to request: HTTPRequestSummary) -> String? {
        func values(_ name: String) -> [String] {
            request.fields.filter { $0.name.canonicalName == name }
                .map { $0.value.trimmingCharacters(in: .whitespaces) }
        }
        guard let authorization = values("authorization").first else { return "AccessDenied: not signed" }
        let form =
            /AWS4-HMAC-SHA256 Credential=([^\/]+)\/(\d{8})\/([^\/]+)\/s3\/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})/
        guard values("authorization").count == 1, let parts = authorization.wholeMatch(of: form)?.output else {
            return "AuthorizationHeaderMalformed"
        }
        let time = values("x-amz-date").first ?? ""
        guard parts.1 == accessKeyID else { return "InvalidAccessKeyId" }
        guard parts.3 == region, time.hasPrefix(parts.2) else { return "AuthorizationHeaderMalformed: scope" }
        guard let date = Self.date(time), abs(date.timeIntervalSince(now())) < 900 else {
            return "RequestTimeTooSkewed"
        }
        guard values("x-amz-security-token") == (sessionToken.map { [$0] } ?? []) else { return "InvalidToken" }
        let names = parts.4.split(separator: ";").map(String.init)
        let needed = request.fields.map(\.name.canonicalName).filter { $0.hasPrefix("x-amz-") } + ["host"]
        guard Set(needed).isSubset(of: names) else { return "AccessDenied: headers present which were not signed" }
        guard let hash = values("x-amz-content-sha256").first else { return "MissingSecurityHeader" }
        let target = request.target.split(separator: "?", maxSplits: 1).map(String.init)
        let canonical =
            ([request.method, Self.encoded(target[0], also: "/"), Self.query(target.count > 1 ? target[1] : "")]
            + names.map { "\($0):\(values($0).joined(separator: ","))" } + ["", String(parts.4), hash])
            .joined(separator: "\n")
        let scope = "\(parts.2)/\(region)/s3/aws4_request"
        let text = "AWS4-HMAC-SHA256\n\(time)\n\(scope)\n\(Self.hex(SHA256.hash(data: Data(canonical.utf8))))"
        let key = ["\(parts.2)", region, "s3", "aws4_request", text].reduce(Data("AWS4\(secret)".utf8)) { key, part in
            Data(HMAC<SHA256>.authenticationCode(for: Data(part.utf8), using: SymmetricKey(data: key)))
        }
        return Self.hex(key) == parts.5 ? nil : "SignatureDoesNotMatch"
    }

    private static func date(_ text: String) -> Date? {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "UTC")
        formatter.dateFormat = "yyyyMMdd'T'HHmmss'Z'"
        return formatter.date(from: text)
    }

    private static func query(_ text: String) -> String {
        var items: [(String, String)] = []
        for item in text.components(separatedBy: "&") where !item.isEmpty {
            let parts = item.replacingOccurrences(of: "+", with: "%20").components(separatedBy: "=")
            items.append((encoded(parts[0]), encoded(parts.dropFirst().joined(separator: "="))))
        }
        return items.sorted { $0 < $1 }.map { "\($0.0)=\($0.1)" }.joined(separator: "&")
    }

    private static func encoded(_ text: String, also: String = "") -> String {
        let unreserved = CharacterSet(
            charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~\(also)")
        let decoded = text.removingPercentEncoding ?? text
        return decoded.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }

    private static func hex(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }
}
