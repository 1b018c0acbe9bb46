/// How much of a playlist is read; beyond it the parsers throw, and the list can be passed on unedited.
package struct PlaylistLimits: Hashable, Sendable {
    /// Maximum size of the text, in bytes; 8 MiB by default.
    package var size = 8 << 20
    /// Maximum number of lines of an HLS playlist; 200,000 by default.
    package var lines = 200_000
    /// Maximum length of a line, or of a tag or text in XML, in bytes; 1 MiB by default.
    package var lineLength = 1 << 20
    /// Maximum number of links; 200,000 by default.
    package var links = 200_000
    /// Maximum depth of XML elements; 64 by default.
    package var depth = 64
    /// Maximum number of XML elements; 1,000,000 by default.
    package var elements = 1_000_000
    /// Maximum length of a link after its variables are expanded, in bytes; 64 KiB by default, as for a request line.
    package var linkLength = 64 << 10
    /// Maximum number of keys that hold at once, each of another format; 16 by default.
    package var keyFormats = 16
    /// Maximum number of kept ``HLSPlaylist/problems``; 32 by default.
    package var problems = 32

    /// Steps that reading, resolving and editing a playlist may take, besides two for each of its bytes; 1,000,000 by
    /// default.
    package var steps = 1_000_000
    /// Bytes that may be made of a playlist, such as links, besides eight for each of its bytes; 64 MiB by default.
    package var madeBytes = 64 << 20

    /// Creates the default limits.
    package init() {}

    /// Limits for a first attempt to parse a text of `count` bytes; `nil` for a large text.
    ///
    /// Nearly every playlist of this size stays within them. For the rest, the attempt fails quickly.
    package func quick(forInput count: Int) -> PlaylistLimits? {
        guard count <= 256 << 10 else { return nil }
        var quick = self
        (quick.steps, quick.madeBytes) = (min(steps, 50_000), min(madeBytes, 4 << 20))
        return quick
    }

    /// Maximum size of the edited text and of everything that variables expand to: twice the input and 1 MiB.
    package func output(forInput count: Int) -> Int {
        let (double, overflowed) = count.multipliedReportingOverflow(by: 2)
        let (sum, carried) = double.addingReportingOverflow(1 << 20)
        return overflowed || carried ? .max : sum
    }

    /// Throws when a text of `count` bytes is too large.
    func check(size count: Int) throws(PlaylistError) {
        guard count <= size else {
            throw PlaylistError(.tooLarge, "The playlist is longer than \(size) bytes.")
        }
    }
}
