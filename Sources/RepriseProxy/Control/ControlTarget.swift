import Reprise

/// The part of a request target behind `/-/`: a path and the parameters of its query.
struct ControlTarget: Equatable, Sendable {
    /// Such as `status.json` or `entries`; `api/` before it is left out.
    let path: String
    /// Names and values in their order, decoded.
    let parameters: [Parameter]

    struct Parameter: Equatable, Sendable {
        let name: String
        let value: String
    }

    /// Most parameters of one request.
    static let mostParameters = 256

    /// What stands in a target before the paths of this proxy's own.
    static let prefix = "-/"

    /// Whether `target` begins with the prefix, behind the token if there is one.
    static func isMeant(by target: String, token: String?) -> Bool {
        guard target.utf8.starts(with: "/".utf8) else { return false }
        var rest = target.utf8.dropFirst()
        if let token {
            guard rest.starts(with: token.utf8) else { return false }
            rest = rest.dropFirst(token.utf8.count)
            guard rest.first == UInt8(ascii: "/") else { return false }
            rest = rest.dropFirst()
        }
        return rest.starts(with: prefix.utf8)
    }

    /// Parses what follows the prefix; throws for what is no query, and for too many parameters.
    init(_ text: Substring) throws(ControlFailure) {
        let path = text.prefix { $0 != "?" }
        self.path = String(path.hasPrefix("api/") ? path.dropFirst(4) : path)
        let query = text.dropFirst(path.count + 1)
        let parts = query.split(separator: "&", omittingEmptySubsequences: true)
        guard parts.count <= Self.mostParameters else {
            throw ControlFailure(400, "There are more than \(Self.mostParameters) parameters.")
        }
        var parameters: [Parameter] = []
        for part in parts {
            let name = part.prefix { $0 != "=" }
            let value = part.dropFirst(name.count + 1)
            guard let name = Self.decoded(name), let value = Self.decoded(value) else {
                throw ControlFailure(400, "The query has a % that two hexadecimal digits of UTF-8 do not follow.")
            }
            parameters.append(Parameter(name: name, value: value))
        }
        self.parameters = parameters
    }

    /// RFC 3986 §2.1, and a plus sign for a space, as forms write it.
    private static func decoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                let digits = rest.prefix(2)
                guard digits.count == 2, digits.allSatisfy(isHexadecimal),
                    let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
                else { return nil }
                bytes.append(value)
                rest = rest.dropFirst(2)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }
}
