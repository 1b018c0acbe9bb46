import Foundation
import Playlists
import Reprise

/// Passes on what a playlist says: to its own stored response, and to those of the files that it lists.
struct StreamNotes {
    let streams: StreamKnowledge
    /// What other devices may have, in a proxy for them.
    let cast: CastScope?

    /// Notes `playlist`, which was read from `body`, in `part`.
    ///
    /// Throws `budgetExceeded`, or `canceled`; then nothing is noted of what it lists.
    func note(
        _ playlist: Playlist, of body: GatheredBody, in part: StreamKnowledge.Part
    ) throws(PlaylistError) {
        let information = body.information
        var role = playlist.role(of: information)
        defer { body.resource.assign(role, to: information) }
        guard !isNoted(body, in: part) else { return }
        let document = URIReference(body.base.description)
        cast?.note(playlist, at: body.url, document: document)
        if case .hls(let list) = playlist { part.liveEdge.note(list, of: body.url, from: document) }
        let name = name(body)
        var listed = [body.url.withoutDirectives]
        let former = part.listed.listing(named: name)
        let formerRole = information.formerRole ?? information.role
        var listing = Listing(
            playlist, named: name, generation: information.generation, document: document,
            in: titles(of: playlist, from: body, in: part),
            wasLive: former?.isNumbered ?? formerRole?.isLive ?? false, urls: &listed)
        listing.restart = former?.restart ?? formerRole?.run
        if former?.isSameVersion(as: listing) != true,
            hasRestarted(listing, after: former, information: information)
        {
            // The same names may refer to different bytes now. Files stored before this time are validated before use.
            let arrival = information.responseTime.map { Int64($0.timeIntervalSince1970) }
            listing.restart = arrival ?? streams.now
            streams.keys.drop(keys(of: playlist, in: document))
        }
        role.run = listing.restart
        if case .dash(let mpd) = playlist, !mpd.isDynamic { listed += mpd.files(from: document) }
        try playlist.budget.check()
        _ = part.listed.note(listing)
        noteMembers(listed, of: listing, after: former, from: body)
    }

    private func keys(of playlist: Playlist, in document: URIReference) -> Set<ResourceURL> {
        let targets = playlist.targets(in: document).filter { [.key, .sessionKey].contains($0.link.kind) }
        return Set(targets.compactMap { try? ResourceURL($0.target.withoutFragment.text) })
    }

    /// The titles of the playlists that name this one; without such, it begins a title of its own if it is a stream's.
    private func titles(
        of playlist: Playlist, from body: GatheredBody, in part: StreamKnowledge.Part
    ) -> [TitleReference] {
        let outer = streams.view(in: part).find(body.url.withoutDirectives).titles
        if !outer.isEmpty { return outer }
        return playlist.isOfStream ? [body.resource.title(at: body.url.withoutDirectives)] : []
    }

    /// Records which of the listed files belong to the listing's titles; those that an earlier version listed in the
    /// same titles were noted then.
    private func noteMembers(
        _ listed: [ResourceURL], of listing: Listing, after former: Listing?, from body: GatheredBody
    ) {
        var new = listed
        if let former, former.titles == listing.titles {
            new.removeAll { former.names($0) }
        }
        body.resource.note(new, in: listing.titles, asOf: body.removedTitleCount)
    }

    /// Whether the playlist in `body` was noted before, for all titles that name it.
    func isNoted(_ body: GatheredBody, in part: StreamKnowledge.Part) -> Bool {
        part.listed.knows(
            name(body), generation: body.information.generation,
            in: streams.view(in: part).find(body.url.withoutDirectives).titles)
    }

    private func name(_ body: GatheredBody) -> String { body.resource.key(for: body.url.withoutDirectives).text }

    /// Whether the stream was started again, so that its names may come again: its numbers fell, which they otherwise
    /// never do, a period was replaced, or a list that had ended has become another one, not the same with new tokens.
    private func hasRestarted(_ listing: Listing, after former: Listing?, information: ContentInformation) -> Bool {
        if information.replacesEndedPlaylist {
            return former.map { !listing.differsInQueriesOnly(from: $0) } ?? true
        }
        if let former, listing.hasOtherPeriods(than: former) { return true }
        guard let sequence = listing.sequence else { return false }
        let earlier = [former?.sequence, information.formerRole?.sequence].compactMap { $0 }.max()
        guard let earlier else { return false }
        if sequence < earlier { return true }
        guard sequence == former?.sequence, let next = listing.nextSequence, let end = former?.nextSequence else {
            return false
        }
        return next < end
    }
}
