import Foundation

/// What the app plays until another address is typed.
enum Samples {
    /// A file and an HLS stream, one on a line.
    static let lines = """
        https://media.w3.org/2010/05/sintel/trailer.mp4
        https://devstreaming-cdn.apple.com/videos/streaming/examples/img_bipbop_adv_example_fmp4/master.m3u8
        """

    /// The clips of the feed.
    static let clips = [
        "https://media.w3.org/2010/05/sintel/trailer.mp4", "https://media.w3.org/2010/05/bunny/trailer.mp4",
        "https://media.w3.org/2010/05/bunny/movie.mp4",
        "https://devstreaming-cdn.apple.com/videos/streaming/examples/img_bipbop_adv_example_fmp4/master.m3u8",
    ].compactMap { URL(string: $0) }
}
