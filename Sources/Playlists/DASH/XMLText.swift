/// Text or an attribute of XML with its references decoded (XML 1.0 §4.1, §4.6).
struct XMLText {
    /// The bytes that the references stand for.
    private(set) var value: [UInt8] = []
    /// For each byte of ``value``, where what it was read from begins.
    private(set) var origins: [Int] = []

    /// Decodes `bytes[place]`; a reference that is not known stays as written.
    init(_ bytes: [UInt8], at place: Range<Int>) {
        var index = place.lowerBound
        while index < place.upperBound {
            if bytes[index] == UInt8(ascii: "&"),
                let (character, end) = Self.reference(bytes, at: index..<place.upperBound)
            {
                for byte in character { append(byte, from: index) }
                index = end
            } else {
                append(bytes[index], from: index)
                index += 1
            }
        }
    }

    /// The content of an element that has CDATA sections, comments or instructions, without white space at both ends
    /// (XML 1.0 §2.5, §2.7).
    static func content(_ bytes: [UInt8], at place: Range<Int>) -> [UInt8] {
        var content: [UInt8] = []
        var index = place.lowerBound
        while index < place.upperBound {
            if let (inner, end) = section(bytes, at: index..<place.upperBound) {
                content += bytes[inner]
                index = end
            } else {
                let next = bytes[(index + 1)..<place.upperBound].firstIndex(of: UInt8(ascii: "<")) ?? place.upperBound
                content += XMLText(bytes, at: index..<next).value
                index = next
            }
        }
        return Array(content.trimmingPrefix(while: \.isSpace).reversed().trimmingPrefix(while: \.isSpace).reversed())
    }

    /// What the section or comment at the start of `place` contributes, and where it ends.
    private static func section(_ bytes: [UInt8], at place: Range<Int>) -> (inner: Range<Int>, end: Int)? {
        if bytes.hasPrefix("<![CDATA[", at: place.lowerBound) {
            let end = bytes.firstPlace(of: "]]>", in: place.lowerBound + 9..<place.upperBound) ?? place.upperBound
            return (place.lowerBound + 9..<end, min(end + 3, place.upperBound))
        }
        for (start, close) in [("<!--", "-->"), ("<?", "?>")] as [(StaticString, StaticString)]
        where bytes.hasPrefix(start, at: place.lowerBound) {
            let inside = place.lowerBound + start.utf8CodeUnitCount..<place.upperBound
            let end = bytes.firstPlace(of: close, in: inside) ?? place.upperBound
            return (end..<end, min(end + close.utf8CodeUnitCount, place.upperBound))
        }
        return nil
    }

    private mutating func append(_ byte: UInt8, from origin: Int) {
        value.append(byte)
        origins.append(origin)
    }

    /// Longest reference, delimiters included: `&#x0010FFFF;`.
    private static let longestReference = 12

    /// What the reference at the start of `place` stands for, and where it ends.
    private static func reference(_ bytes: [UInt8], at place: Range<Int>) -> (character: [UInt8], end: Int)? {
        let limit = min(place.upperBound, place.lowerBound + longestReference)
        guard let semicolon = bytes[place.lowerBound..<limit].firstIndex(of: UInt8(ascii: ";")) else { return nil }
        let name = place.lowerBound + 1..<semicolon
        for (known, character) in predefined where bytes.matches(name, text: known) {
            return ([character], semicolon + 1)
        }
        guard name.count > 1, bytes[name.lowerBound] == UInt8(ascii: "#") else { return nil }
        let isHexadecimal = bytes[name.lowerBound + 1] == UInt8(ascii: "x")
        let digits = name.lowerBound + (isHexadecimal ? 2 : 1)..<name.upperBound
        guard !digits.isEmpty else { return nil }
        var code: UInt32 = 0
        for index in digits {
            guard let digit = bytes[index].hexadecimalValue, isHexadecimal || digit < 10 else { return nil }
            // At most nine digits: below 2^36 in theory, so that the check comes before the next step.
            guard code <= 0x10FFFF else { return nil }
            code = code * (isHexadecimal ? 16 : 10) + UInt32(digit)
        }
        guard let scalar = Unicode.Scalar(code), code != 0 else { return nil }
        return (Array(String(Character(scalar)).utf8), semicolon + 1)
    }

    private static let predefined: [(StaticString, UInt8)] = [
        ("amp", UInt8(ascii: "&")), ("lt", UInt8(ascii: "<")), ("gt", UInt8(ascii: ">")),
        ("quot", UInt8(ascii: "\"")), ("apos", UInt8(ascii: "'")),
    ]
}

/// Keeps a URI whole in a text or an attribute of XML (XML 1.0 §2.4).
enum XMLEscape {
    /// Writes markup as references, and percent-encodes control characters, which XML cannot hold.
    static func escaped(_ uri: ArraySlice<UInt8>, quote: UInt8?) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(uri.count)
        for byte in uri {
            switch byte {
            case UInt8(ascii: "&"): result += "&amp;".utf8
            case UInt8(ascii: "<"): result += "&lt;".utf8
            case UInt8(ascii: ">"): result += "&gt;".utf8
            case UInt8(ascii: "\"") where quote == byte: result += "&quot;".utf8
            case UInt8(ascii: "'") where quote == byte: result += "&apos;".utf8
            case _ where byte.isControl: result.appendEscape(of: byte)
            default: result.append(byte)
            }
        }
        return result
    }
}

/// Reads durations of XML: `PT1H2M3.5S` (XML Schema 2 §3.2.6).
enum XMLDuration {
    /// The duration in seconds; `nil` if it is malformed or negative.
    ///
    /// A year counts 365 days, a month 30.
    static func seconds(_ bytes: [UInt8], at place: Range<Int>) -> Double? {
        var index = place.lowerBound
        guard index < place.upperBound, bytes[index] == UInt8(ascii: "P") else { return nil }
        index += 1
        var isTime = false
        var total = 0.0
        var hasPart = false
        while index < place.upperBound {
            if bytes[index] == UInt8(ascii: "T"), !isTime {
                isTime = true
                index += 1
                continue
            }
            let start = index
            while index < place.upperBound, bytes[index].isDigit || bytes[index] == UInt8(ascii: ".") { index += 1 }
            guard index < place.upperBound, let number = Number.decimal(bytes, at: start..<index),
                let unit = unit(bytes[index], isTime: isTime)
            else { return nil }
            total += number * unit
            hasPart = true
            index += 1
        }
        return hasPart && total <= Double(Number.largest) ? total : nil
    }

    private static func unit(_ byte: UInt8, isTime: Bool) -> Double? {
        switch (byte, isTime) {
        case (UInt8(ascii: "Y"), false): 31_536_000
        case (UInt8(ascii: "M"), false): 2_592_000
        case (UInt8(ascii: "D"), false): 86_400
        case (UInt8(ascii: "H"), true): 3_600
        case (UInt8(ascii: "M"), true): 60
        case (UInt8(ascii: "S"), true): 1
        default: nil
        }
    }
}
