internal import HTTPTypes

extension HTTPField.Name {
    /// `Icy-MetaData`: a client that sends 1 requests metadata in the stream.
    static let icyMetadata = wellKnown("Icy-MetaData")
    /// `icy-metaint`: the number of bytes between two blocks of metadata.
    static let icyMetadataInterval = wellKnown("icy-metaint")

    private static func wellKnown(_ name: String) -> HTTPField.Name {
        guard let name = HTTPField.Name(name) else { preconditionFailure("\(name) is no field name.") }
        return name
    }
}
