/// A variable whose value stands in the query of the playlist's URL: `EXT-X-DEFINE` with `QUERYPARAM`.
package struct QueryVariable: Hashable, Sendable {
    /// The attribute, from its name to its closing quotation mark.
    let place: Range<Int>
    let name: [UInt8]
    let value: [UInt8]

    /// The attributes that say the same without the query; `nil` for a value that no quoted string can hold.
    var definition: String? {
        guard value.allSatisfy({ !$0.isControl && $0 != UInt8(ascii: "\"") }) else { return nil }
        return "NAME=\"\(String(decoding: name, as: UTF8.self))\",VALUE=\"\(String(decoding: value, as: UTF8.self))\""
    }
}
