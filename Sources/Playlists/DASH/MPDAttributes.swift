/// The attributes of one element, read by name.
struct MPDAttributes {
    private let bytes: [UInt8]
    let all: [XMLTag.Attribute]

    init(_ tag: XMLTag, in bytes: [UInt8]) throws(PlaylistError) {
        self.bytes = bytes
        all = try tag.allAttributes(bytes)
    }

    /// The attribute of this name, which has no prefix.
    func attribute(_ name: StaticString) -> XMLTag.Attribute? {
        all.first { bytes.matches($0.name, text: name) }
    }

    /// Where the attribute of this name is, with its name and its quotation marks.
    func place(_ name: StaticString) -> Range<Int>? {
        attribute(name).map { $0.name.lowerBound..<$0.value.upperBound + 1 }
    }

    /// The value with its references decoded.
    func string(_ name: StaticString) -> String? {
        attribute(name).map { attribute in
            bytes[attribute.value].contains(UInt8(ascii: "&"))
                ? String(decoding: XMLText(bytes, at: attribute.value).value, as: UTF8.self)
                : bytes.text(attribute.value)
        }
    }

    /// A number from 0 to 2^53.
    func integer(_ name: StaticString) -> Int64? {
        attribute(name).flatMap { Number.integer(bytes, at: bytes.trimmed($0.value)) }
    }

    /// A number from −2^53 to 2^53.
    func signedInteger(_ name: StaticString) -> Int64? {
        guard let place = attribute(name).map({ bytes.trimmed($0.value) }), !place.isEmpty else { return nil }
        guard bytes[place.lowerBound] == UInt8(ascii: "-") else { return Number.integer(bytes, at: place) }
        return Number.integer(bytes, at: place.lowerBound + 1..<place.upperBound).map { -$0 }
    }

    /// A duration in seconds.
    func seconds(_ name: StaticString) -> Double? {
        attribute(name).flatMap { XMLDuration.seconds(bytes, at: bytes.trimmed($0.value)) }
    }

    /// `first-last`, both inclusive (ISO/IEC 23009-1 §5.3.9.2.2); `first-` reaches to the end.
    func extent(_ name: StaticString) -> ByteExtent? {
        guard let place = attribute(name).map({ bytes.trimmed($0.value) }),
            let dash = bytes[place].firstIndex(of: UInt8(ascii: "-")),
            let first = Number.integer(bytes, at: place.lowerBound..<dash)
        else { return nil }
        if dash + 1 == place.upperBound { return .from(first) }
        guard let last = Number.integer(bytes, at: dash + 1..<place.upperBound), last >= first else { return nil }
        return .bytes(count: last - first + 1, at: first)
    }

    /// `xlink:href`, whatever prefix stands for the namespace.
    var remote: XMLTag.Attribute? {
        all.first { attribute in
            let local = XMLTag.localName(bytes, at: attribute.name)
            return local.lowerBound > attribute.name.lowerBound && bytes.matches(local, text: "href")
        }
    }
}
