import Primitives
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

    /// The paths of the list of titles for players, and of those of its lines that hide an address.
    static let browsed = ["titles.m3u", "play"]

    /// The path of the metrics, which monitors expect without the prefix, too.
    static let metrics = "metrics"

    /// Whether `text`, what follows the prefix, asks for the metrics.
    static func isMetrics(_ text: Substring) -> Bool { text.prefix { $0 != "?" } == metrics }

    /// What follows the prefix in `target`, behind the token if there is one; `nil` for the target of a file.
    ///
    /// The metrics need no prefix.
    static func text(in target: String, token: String?) -> Substring? {
        guard target.utf8.first == UInt8(ascii: "/") else { return nil }
        var rest = target.utf8.dropFirst()
        if let token {
            let segment = rest.prefix { $0 != UInt8(ascii: "/") }
            rest = rest.dropFirst(segment.count + 1)
            guard let text = text(behindToken: rest), Route.constantTimeEqual(segment, token.utf8) else { return nil }
            return text
        }
        return text(behindToken: rest)
    }

    private static func text(behindToken rest: Substring.UTF8View) -> Substring? {
        switch rest.first {
        case UInt8(ascii: "-"): rest.starts(with: prefix.utf8) ? Substring(rest.dropFirst(prefix.utf8.count)) : nil
        case UInt8(ascii: "m"): isMetrics(Substring(rest)) ? Substring(rest) : nil
        default: nil
        }
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

    /// The value of the parameter `name`; `nil` if there is none.
    ///
    /// Throws for several.
    func value(_ name: String) throws(ControlFailure) -> String? {
        let values = parameters.filter { $0.name == name }
        guard values.count <= 1 else { throw ControlFailure(400, "There is more than one \"\(name)\".") }
        return values.first?.value
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
        return String(utf8: bytes)
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
