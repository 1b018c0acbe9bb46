import HTTPSemantics
import Playlists
import Reprise

/// Chooses HLS playlists and MPDs, so that every link in them leads back to the proxy.
///
/// A playlist is recognized by its media type, its extension, or its first bytes, whatever its type is. The first bytes
/// are not checked if the file has the extension of a media file. A class, because the filter runs for every request,
/// and copying its properties would cost more than the decision.
final class PlaylistFilter: BodyFilter {
    /// Called with a playlist that is sent as the origin sent it, because it exceeds a bound or is malformed.
    let onUneditable: @Sendable (ResourceURL, PlaylistError) -> Void
    private let limits: PlaylistLimits
    private let streams: StreamKnowledge
    private let notes: StreamNotes
    private let tracks: StoredTracks
    private let others = OtherFiles()
    private let exceeding = OtherFiles()
    private let turns = HostTurns()
    let texts = WrittenTexts()

    init(
        streams: StreamKnowledge, files: FileFinder, cast: CastScope? = nil, limits: PlaylistLimits = PlaylistLimits(),
        onUneditable: @escaping @Sendable (ResourceURL, PlaylistError) -> Void
    ) {
        self.streams = streams
        self.limits = limits
        tracks = StoredTracks(files: files, limits: limits)
        notes = StreamNotes(streams: streams, cast: cast)
        self.onUneditable = onUneditable
    }

    func editor(of information: ContentInformation, at url: ResourceURL) -> (any BodyEditor)? {
        let type = MediaType(information.mediaType)
        let isDeclared = PlaylistFormat.isDeclared(by: type?.essence, name: url.lastPathComponent)
        guard isDeclared || !url.namesMedia && !others.contains(information) else { return nil }
        if !isDeclared, type?.isDeclaredMedia == true, information.completeLength.map({ $0 > limits.size }) == true {
            return nil
        }
        return PlaylistRewriter(
            isDeclared: isDeclared, limits: limits, streams: streams, notes: notes, texts: texts, tracks: tracks,
            others: others, turns: turns, exceeding: exceeding, onUneditable: onUneditable)
    }

    func noteCoded(_ information: ContentInformation, at url: ResourceURL) {
        let type = MediaType(information.mediaType)?.essence
        guard PlaylistFormat.isDeclared(by: type, name: url.lastPathComponent) else { return }
        onUneditable(
            url, PlaylistError(.encoding, "The origin sent it in a content coding, although none was asked for."))
    }
}
