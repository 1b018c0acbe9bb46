extension String {
    /// The text in `bytes`; `nil` unless they are well-formed UTF-8.
    package init?(utf8 bytes: some Collection<UInt8>) {
        // Decoding only replaces malformed bytes.
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.utf8.elementsEqual(bytes) else { return nil }
        self = text
    }
}
